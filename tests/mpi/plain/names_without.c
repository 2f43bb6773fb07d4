/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A program that is not linked with MPI sees nothing of it: no weak reference is resolved, and no
 * name from standard input is found in any scope. It prints what it finds nevertheless. With the
 * name of an MPI library it then opens that library, and begins and ends MPI, which its own weak
 * references cannot do. Usage: names_without [LIBRARY]
 */
#define EXPECT_WITHOUT_MPI
#include "../expect.h"

#include <dlfcn.h>

extern int MPI_Init(int *argc, char ***argv) __attribute__((weak));
extern int PMPI_Comm_rank(void) __attribute__((weak));
extern int MPI_Pcontrol(int level, ...) __attribute__((weak));
extern int MPI_Initialized(int *flag) __attribute__((weak));

static int found(void *scope, const char *text, const char *name)
{
	void *fn = dlsym(scope, name);
	Dl_info info;

	if (fn && dladdr(fn, &info))
		printf("%s: %s in %s\n", text, name, info.dli_fname);
	return fn != NULL;
}

static int names_find(void)
{
	void *self = dlopen(NULL, RTLD_NOW);
	char name[128];
	int cnt = 0;

	while (scanf("%127s", name) == 1)
		cnt += found(RTLD_DEFAULT, "default", name) + found(RTLD_NEXT, "next", name) +
		       found(self, "self", name);
	return cnt;
}

static int library_use(const char *path)
{
	void *lib = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
	int (*init)(int *, char ***), (*initialized)(int *), (*finalize)(void), flag = -1;

	if (!lib) {
		puts(dlerror());
		return 3;
	}
	*(void **)&init = dlsym(RTLD_DEFAULT, "MPI_Init");
	*(void **)&initialized = dlsym(RTLD_DEFAULT, "MPI_Initialized");
	*(void **)&finalize = dlsym(lib, "PMPI_Finalize");
	initialized(&flag);
	printf("before: %d\n", flag);
	init(NULL, NULL);
	initialized(&flag);
	printf("begun: %d\n", flag);
	expect_add("MPI_Init", NO_PEER, 1, 0, 0, 0);
	expect_add("MPI_Initialized", NO_PEER, 2, 0, 0, 0);
	expect_add("MPI_Finalize", NO_PEER, 1, 0, 0, 0);
	finalize();
	expect_write("names_without", 0);
	return 0;
}

int main(int argc, char **argv)
{
	printf("weak references: %d\n",
	       !!MPI_Init + !!PMPI_Comm_rank + !!MPI_Pcontrol + !!MPI_Initialized);
	printf("names found: %d\n", names_find());
	return argc > 1 ? library_use(argv[1]) : 0;
}
