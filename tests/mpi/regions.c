/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Functions to be recorded as regions, called and left in all ways that there are. Each counts its own calls, which are printed at the end:
 * rank, function, calls, of these nested, unwound, open. The last rank ends within a region.
 * Usage: regions LIBRARY (build/mpi/plain/region_library.so)
 */
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#define EXCHANGES 11
#define HIDDEN 13
#define HIDDEN_BY_THREAD 5
#define JUMPS 17
#define FAR 19
#define TAILS 23
#define DEEP 7
#define DEEP_TIMES 3
#define BOTTOMLESS 101 /* the kernel follows 64 returns of a thread */

enum {
	MAIN,
	EXCHANGE,
	HIDDEN_FN,
	LEAP,
	DEEP_FN,
	BOTTOMLESS_FN,
	FAR_FN,
	TAIL,
	LANDING,
	LAST,
	FUNCS
};

static struct books {
	const char *name;
	unsigned int calls, nested, unwound, open;
} books[FUNCS] = {
	[MAIN] = {"main", .calls = 1},	 [EXCHANGE] = {"region_exchange"},
	[HIDDEN_FN] = {"region_hidden"}, [LEAP] = {"region_leap"},
	[DEEP_FN] = {"region_deep"},	 [BOTTOMLESS_FN] = {"region_bottomless"},
	[FAR_FN] = {"region_far"},	 [TAIL] = {"region_tail"},
	[LANDING] = {"region_landing"},	 [LAST] = {"region_last"},
};
static int rank, size;
static jmp_buf back;
static volatile int sink;

/* The only one that exchanges messages. */
__attribute__((noinline)) void region_exchange(int n)
{
	int got = 0;

	books[EXCHANGE].calls++;
	MPI_Sendrecv(&n, 1, MPI_INT, (rank + 1) % size, 0, &got, 1, MPI_INT,
		     (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	sink = got;
}

/* Found in .symtab alone. */
__attribute__((noinline)) static void region_hidden(int n)
{
	books[HIDDEN_FN].calls++;
	sink = n;
}

__attribute__((noinline)) void region_leap(int leaves)
{
	books[LEAP].calls++;
	books[LEAP].unwound += leaves != 0;
	if (leaves)
		longjmp(back, 1);
	sink = leaves;
}

#define RECURSIVE(name, row)                      \
	__attribute__((noinline)) int name(int n) \
	{                                         \
		int below = 0;                    \
                                                  \
		books[row].calls++;               \
		if (n > 1) {                      \
			books[row].nested++;      \
			below = name(n - 1);      \
		}                                 \
		sink = n;                         \
		return below + sink;              \
	}
RECURSIVE(region_deep, DEEP_FN)
RECURSIVE(region_bottomless, BOTTOMLESS_FN)

__attribute__((noinline)) void region_landing(int n)
{
	books[LANDING].calls++;
	sink = n;
}

/* Ends by a jump to the other one: both return at once, with one stack pointer. */
__attribute__((noinline)) void region_tail(int n)
{
	books[TAIL].calls++;
	region_landing(n + 1);
}

static void books_print(void)
{
	for (int i = 0; i < FUNCS; i++)
		printf("%d %s %u %u %u %u\n", rank, books[i].name, books[i].calls, books[i].nested,
		       books[i].unwound, books[i].open);
	fflush(stdout);
}

__attribute__((noinline)) void region_last(void)
{
	books[LAST].calls++;
	if (rank != size - 1)
		return;
	books[LAST].open = books[MAIN].open = 1;
	books_print();
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

	if (!far) {
		fprintf(stderr, "regions: %s\n", dlerror());
		exit(1);
	}
	for (int i = 0; i < FAR; i++, books[FAR_FN].calls++)
		sink = far(i);
}

int main(int argc, char **argv)
{
	pthread_t thread;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (argc < 2 || pthread_create(&thread, NULL, thread_run, NULL))
		return 1;
	pthread_join(thread, NULL); /* one after the other: the books have no locks */
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
	books_print();
	return 0;
}
