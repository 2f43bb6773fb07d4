/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A host without MPI that loads plug-ins (tests/mpi/plugin/module.c), each with its own MPI, as an
 * interpreter does. Each word of its command line is a step for all open plug-ins:
 *
 *   local:FILE   opens another one in a local scope; global:FILE, deep:FILE (RTLD_DEEPBIND),
 *                new:FILE (dlmopen)
 *   found:FILE   uses the MPI library that is in memory, if there is one, or else opens FILE
 *                for all
 *   keep:FILE    opens a library that is not a plug-in, and never closes it
 *   begin        begins MPI
 *   run:N        calls MPI N times
 *   threads:N    same, each plug-in in a separate thread, at the same time
 *   leave        writes the books
 *   end          ends MPI and writes the books
 *   close        closes all
 *   hole         closes all, and occupies the address of the first one's MPI library
 *   alone        ends the first thread; another one does the rest
 *   lock         locks all memory, also what is mapped later
 *   size         tells whether the process has had more than 256 MiB of memory
 */
#define EXPECT_WITHOUT_MPI
#include "../expect.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/resource.h>

#define MODULES_MAX 8

static struct module {
	void *lib, *mpi;
	int (*begin)(void);
	void (*run)(int times);
	void (*books)(const char *name);
	void (*end)(void);
	int times;
} modules[MODULES_MAX];
static int module_cnt, books_cnt;

static void *module_symbol(const struct module *m, const char *name)
{
	void *fn = dlsym(m->lib, name);

	MUST(fn);
	return fn;
}

static void *library_open(const char *how, const char *path)
{
	void *lib = !strcmp(how, "new")	   ? dlmopen(LM_ID_NEWLM, path, RTLD_NOW) :
		    !strcmp(how, "deep")   ? dlopen(path, RTLD_NOW | RTLD_DEEPBIND) :
		    !strcmp(how, "global") ? dlopen(path, RTLD_NOW | RTLD_GLOBAL) :
					     dlopen(path, RTLD_NOW);

	if (!lib) {
		printf("%s\n", dlerror());
		exit(3);
	}
	return lib;
}

/* Like programs that support every MPI: a library that is already loaded is the job's. */
static void library_find(const char *path)
{
	void *fn = dlsym(RTLD_DEFAULT, "MPI_Initialized");
	Dl_info info;

	if (fn && dladdr(fn, &info)) {
		printf("in memory: %s\n", info.dli_fname);
		path = info.dli_fname;
	}
	library_open("global", path);
}

static void module_open(const char *how, const char *path)
{
	struct module *m = &modules[module_cnt++];

	MUST(module_cnt <= MODULES_MAX);
	m->lib = library_open(how, path);
	*(void **)&m->begin = module_symbol(m, "module_begin");
	*(void **)&m->run = module_symbol(m, "module_run");
	*(void **)&m->books = module_symbol(m, "module_books");
	*(void **)&m->end = module_symbol(m, "module_end");
	m->mpi = module_symbol(m, "MPI_Barrier");
}

static void module_write(struct module *m)
{
	char name[32];

	snprintf(name, sizeof(name), "module%d", books_cnt++);
	m->books(name);
}

static void module_end(struct module *m)
{
	m->end();
	module_write(m);
}

static void module_begin(struct module *m)
{
	printf("module %d: rank %d\n", (int)(m - modules), m->begin());
}

static void module_run(struct module *m)
{
	m->run(m->times);
}

static void *module_run_thread(void *arg)
{
	module_run(&modules[(long)arg]);
	return NULL;
}

static void module_close(struct module *m)
{
	dlclose(m->lib);
}

static void for_each(void (*step)(struct module *m))
{
	for (int i = 0; i < module_cnt; i++)
		step(&modules[i]);
}

static void set_times(int times)
{
	for (int i = 0; i < module_cnt; i++)
		modules[i].times = times + 2 * i;
}

/* If the page is still mapped, the library was not unloaded, which is fine as well. */
static void take_place(void)
{
	void *page = (void *)((unsigned long)modules[0].mpi & ~4095ul);

	for_each(module_close);
	mmap(page, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	module_cnt = 0;
}

static void size_tell(void)
{
	struct rusage u;

	MUST(!getrusage(RUSAGE_SELF, &u));
	puts(u.ru_maxrss > 256 << 10 ? "large" : "small");
}

static void step(const char *word, const char *value)
{
	if (!strcmp(word, "found")) {
		library_find(value);
	} else if (!strcmp(word, "keep")) {
		library_open("local", value);
	} else if (!strcmp(word, "begin")) {
		for_each(module_begin);
	} else if (!strcmp(word, "run")) {
		set_times(atoi(value));
		for_each(module_run);
	} else if (!strcmp(word, "threads")) {
		set_times(atoi(value));
		threads_run(module_cnt, module_run_thread, 0);
	} else if (!strcmp(word, "leave")) {
		for_each(module_write);
	} else if (!strcmp(word, "end")) {
		for_each(module_end);
	} else if (!strcmp(word, "close")) {
		for_each(module_close);
		module_cnt = 0;
	} else if (!strcmp(word, "hole")) {
		take_place();
	} else if (!strcmp(word, "lock")) {
		MUST(!mlockall(MCL_CURRENT | MCL_FUTURE));
	} else if (!strcmp(word, "size")) {
		size_tell();
	} else {
		module_open(word, value);
	}
}

static void *steps_run(void *words);

static void *steps_run_alone(void *words)
{
	first_thread_await_end();
	return steps_run(words);
}

static void *steps_run(void *words)
{
	char **word = words, *value;
	pthread_t t;

	for (; *word; word++) {
		value = strchr(*word, ':');
		if (value)
			*value++ = '\0';
		if (!strcmp(*word, "alone")) {
			MUST(!pthread_create(&t, NULL, steps_run_alone, word + 1));
			pthread_exit(NULL);
		}
		step(*word, value ? value : "");
	}
	puts("done");
	exit(0);
}

int main(int argc, char **argv)
{
	(void)argc;
	return steps_run(argv + 1) != NULL;
}
