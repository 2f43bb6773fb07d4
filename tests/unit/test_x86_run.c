/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Functions that answer a question, compiled with and without optimisation, loaded into this
 * process and interpreted with its memory. The answer must equal that of a call.
 */
#include <dlfcn.h>
#include <link.h>

#include "unit/test.h"
#include "target/elf/elf_file.h"
#include "target/x86/x86_run.h"
#include "unit/elf_fixture.h"

#if defined(__x86_64__)

/* As in MPI libraries: checks, objects found by the bits of a handle, members behind pointers. */
static const char source[] =
	"struct object { int handle, refs; char pad[64]; int rank; struct object *group; short low; signed char small; };\n"
	"static struct object builtin[3] = {{1, 1, \"\", 7, &builtin[1], -300, -9}, {2, 1, \"\", 41, builtin, 5, 3}};\n"
	"struct object *objects = builtin;\n"
	"int state = 2, strict = 1;\n"
	"int error(void) { return 5; }\n"
	"int (*report)(void) = error;\n"
	"int rank(int h, int *out)\n"
	"{\n"
	"	struct object *o;\n"
	"	if (!state) return report();\n"
	"	if (h == 0x4000000 || (h >> 26 & 15) != 1 || !((unsigned)h >> 30)) return report();\n"
	"	switch ((unsigned)h >> 30) {\n"
	"	case 1: if ((h & 0x3ffffff) > 2) return report(); o = objects + (h & 0x3ffffff); break;\n"
	"	default: return report();\n"
	"	}\n"
	"	if (strict && o->refs <= 0) return report();\n"
	"	if (!out) return report();\n"
	"	*out = o->rank;\n"
	"	return 0;\n"
	"}\n"
	"int size(struct object *o, int *out) { *out = o->group->rank; return 0; }\n"
	"int sums(long v, int *out)\n"
	"{\n"
	"	int a = (int)v, b = (int)(v >> 32), n = 0;\n"
	"	unsigned u = (unsigned)v;\n"
	"	for (int i = 0; i < 5; i++) n += a * i - (b >> i) + (u > 77u * i ? 3 : -1) + (a < b ? i : -i) + (v == i);\n"
	"	n ^= builtin[0].low + builtin[0].small + (unsigned short)builtin[0].low;\n"
	"	*out = n;\n"
	"	return 0;\n"
	"}\n"
	"static __attribute__((noinline)) int rank_of(struct object *o, int *out) { *out = o->rank; return 0; }\n"
	"int asking(int h, int *out)\n"
	"{\n"
	"	if (!state || rank_of(objects + (h & 1), out)) return report();\n"
	"	return 0;\n"
	"}\n"
	"int failing(int h, int *out) { *out = 1; return h; }\n"
	"int silent(int h, int *out) { return 0; }\n"
	"int writing(int h, int *out) { state = 3; *out = 1; return 0; }\n"
	"int endless(int h, int *out) { for (;;) if (h == *(volatile int *)&state + 99) *out = 1; }\n"
	"int floating(int h, int *out) { volatile double d = h; *out = (int)(d * 2); return 0; }\n";

struct loaded {
	void *handle;
	struct elf_file *f;
	struct x86_memory memory;
	uint64_t cut_addr; /* an unreadable address */
};

static int memory_read(void *ctx, uint64_t addr, void *to, size_t bytes)
{
	const struct loaded *l = ctx;

	if (addr < 4096 || addr == l->cut_addr)
		return -EFAULT;
	memcpy(to, (const void *)addr, bytes);
	return 0;
}

static void load(struct loaded *l, const char *flags)
{
	char *path = fixture_build("question.c", source, flags);
	struct link_map *map;

	memset(l, 0, sizeof(*l));
	l->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	assert_non_null(l->handle);
	assert_int_equal(dlinfo(l->handle, RTLD_DI_LINKMAP, &map), 0);
	assert_int_equal(elf_file_open(path, &l->f), 0);
	l->memory = (struct x86_memory){memory_read, l, map->l_addr};
	free(path);
}

static void unload(struct loaded *l)
{
	elf_file_close(l->f);
	dlclose(l->handle);
}

static int run(const struct loaded *l, const char *function, uint64_t first, int32_t *number)
{
	return x86_run_question(l->f, &l->memory, elf_file_find(l->f, function)->addr, first,
				number);
}

/* Asserts the same result as a call. */
static void agrees(const struct loaded *l, const char *function, uint64_t first)
{
	int (*call)(uint64_t, int *) = (int (*)(uint64_t, int *))dlsym(l->handle, function);
	int32_t number = -77;
	int wanted = -77;

	assert_int_equal(call(first, &wanted), 0);
	assert_int_equal(run(l, function, first, &number), 0);
	assert_int_equal(number, wanted);
}

static void questions(const char *flags)
{
	static const uint64_t values[] = {0,	      1,	  4,	      76,	    78,
					  0x7fffffff, 0x80000000, 0xffffffff, 0x1200000034, ~0ull,
					  1ull << 63};
	struct loaded l;
	struct object **objects;
	int32_t number = -77;
	int *state;

	load(&l, flags);
	agrees(&l, "rank", 0x44000000);
	agrees(&l, "rank", 0x44000001);
	agrees(&l, "asking", 0);
	agrees(&l, "asking", 1);
	objects = dlsym(l.handle, "objects");
	agrees(&l, "size", (uint64_t)*objects);
	for (size_t i = 0; i < COUNT(values); i++)
		agrees(&l, "sums", values[i]);

	/*
	 * Errors end in a call that reports them: the library is not initialised, or the handle is
	 * invalid.
	 */
	assert_int_equal(run(&l, "rank", 0x04000000, &number), -ECANCELED);
	assert_int_equal(run(&l, "rank", 0x44000003, &number), -ECANCELED);
	assert_int_equal(run(&l, "rank", 0x84000000, &number), -ECANCELED);
	state = dlsym(l.handle, "state");
	*state = 0;
	assert_int_equal(run(&l, "rank", 0x44000000, &number), -ECANCELED);
	assert_int_equal(run(&l, "asking", 1, &number), -ECANCELED);
	*state = 2;
	assert_int_equal(run(&l, "failing", 5, &number), -ECANCELED);
	assert_int_equal(run(&l, "silent", 5, &number), -ECANCELED);
	assert_int_equal(run(&l, "writing", 5, &number), -ENOTSUP);
	assert_int_equal(*state, 2);
	assert_int_equal(run(&l, "endless", 5, &number), -ENOTSUP);
	assert_int_equal(run(&l, "floating", 5, &number), -ENOTSUP);
	assert_int_equal(run(&l, "size", 0, &number), -EFAULT);
	l.cut_addr = (uint64_t)objects;
	assert_int_equal(run(&l, "rank", 0x44000000, &number), -EFAULT);
	assert_int_equal(number, -77);
	unload(&l);
}

#define FLAGS "-shared -fPIC -fno-tree-vectorize "

TEST(optimised)
{
	questions(FLAGS "-O2");
}

TEST(plain)
{
	questions(FLAGS "-O0");
}

TEST(small)
{
	questions(FLAGS "-Os -fcf-protection=full");
}

TEST(guarded)
{
	questions(FLAGS "-O1 -fstack-protector-all");
}

#endif
