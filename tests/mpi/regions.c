/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Functions to record as regions, entered and left in all possible ways. Each counts its own calls,
 * which are printed at the end: rank, function, calls, and of these nested, unwound, open. The last
 * rank ends within a region.
 * Usage: regions LIBRARY (build/mpi/plain/region_library.so)
 */
#include <dlfcn.h>
#include <setjmp.h>

#include "regions.h"

#define EXCHANGES 11
#define HIDDEN 13
#define HIDDEN_BY_THREAD 5
#define JUMPS 17
#define FAR 19
#define TAILS 23
#define DEEP 7
#define DEEP_TIMES 3
#define BOTTOMLESS 101 /* the kernel follows 64 returns of a thread */

static jmp_buf back;

/* The only region that exchanges messages. */
REGION void region_exchange(int n)
{
	int got = 0;

	called(__func__);
	MPI_Sendrecv(&n, 1, MPI_INT, (rank + 1) % size, 0, &got, 1, MPI_INT,
		     (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	sink = got;
}

/* Only in .symtab. */
REGION static void region_hidden(int n)
{
	called(__func__);
	sink = n;
}

REGION void region_leap(int leaves)
{
	called(__func__)->unwound += leaves != 0;
	if (leaves)
		longjmp(back, 1);
	sink = leaves;
}

#define RECURSIVE(name)                            \
	REGION int name(int n)                     \
	{                                          \
		int below = 0;                     \
                                                   \
		called(__func__)->nested += n > 1; \
		if (n > 1)                         \
			below = name(n - 1);       \
		sink = n;                          \
		return below + sink;               \
	}
RECURSIVE(region_deep)
RECURSIVE(region_bottomless)

REGION void region_landing(int n)
{
	called(__func__);
	sink = n;
}

/* Ends with a jump to the other region: both return at once, with one stack pointer. */
REGION void region_tail(int n)
{
	called(__func__);
	region_landing(n + 1);
}

REGION void region_last(void)
{
	struct region *r = called(__func__);

	if (rank != size - 1)
		return;
	r->open = regions[0].open = 1;
	regions_print();
	exit(0);
}

static void *thread_run(void *arg)
{
	for (int i = 0; i < HIDDEN_BY_THREAD; i++)
		region_hidden(i);
	return arg;
}

static void leaps_make(void)
{
	for (volatile int i = 0; i < JUMPS; i++)
		if (!setjmp(back))
			region_leap(i % 3 == 0);
}

static void far_call(const char *library)
{
	void *lib = dlopen(library, RTLD_NOW);
	int (*far)(int) = lib ? (int (*)(int))dlsym(lib, "region_far") : NULL;

	MUST(far);
	for (int i = 0; i < FAR; i++) {
		called("region_far");
		sink = far(i);
	}
}

int main(int argc, char **argv)
{
	called(__func__);
	expect_init(&argc, &argv);
	MUST(argc == 2);
	threads_run(1, thread_run, 0); /* not meanwhile, because the counts have no locks */
	for (int i = 0; i < HIDDEN; i++)
		region_hidden(i);
	for (int i = 0; i < EXCHANGES; i++)
		region_exchange(i);
	leaps_make();
	for (int i = 0; i < DEEP_TIMES; i++)
		sink = region_deep(DEEP);
	sink = region_bottomless(BOTTOMLESS);
	for (int i = 0; i < TAILS; i++)
		region_tail(i);
	far_call(argv[1]);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	region_last();
	regions_print();
	return 0;
}
