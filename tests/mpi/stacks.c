/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Rank 0 computes in one function, grind(), on different kinds of stacks: called directly, in a
 * recursion, by a library, below an aligned stack frame, below a frame too large for any copy of
 * the stack, and in a thread. Each takes 0.15 s of CPU time. The other ranks wait. After its last
 * call, each function has another instruction, so that the compiler does not make the call a jump.
 */
#include <search.h>

#include "expect.h"

#define NS 150000000ull
#define KEPT __attribute__((noinline, noclone))
#define ENDS() __asm__ volatile("" ::: "memory")

static volatile double sum;

static inline unsigned long long cpu_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

KEPT static void grind(void)
{
	for (unsigned long long until = cpu_ns() + NS; cpu_ns() < until;)
		for (int i = 0; i < 1000000; i++)
			sum += i;
	ENDS();
}

KEPT static void direct(void)
{
	grind();
	ENDS();
}

KEPT static void recursive(int depth)
{
	if (depth)
		recursive(depth - 1);
	else
		grind();
	ENDS();
}

KEPT static int is_equal(const void *a, const void *b)
{
	grind();
	ENDS();
	return *(const int *)a == *(const int *)b;
}

KEPT static void by_library(void)
{
	const int key = 1, base[1] = {1};
	size_t n = 1;

	lfind(&key, base, &n, sizeof(int), is_equal);
	ENDS();
}

KEPT static void aligned(int n)
{
	_Alignas(64) volatile char room[64];
	volatile char more[n];

	more[0] = room[0] = 1;
	grind();
	room[0] = more[0];
	ENDS();
}

KEPT static void wide(void)
{
	volatile char room[40000];

	room[0] = room[sizeof(room) - 1] = 1;
	grind();
	ENDS();
}

KEPT static void *in_thread(void *unused)
{
	grind();
	ENDS();
	return unused;
}

int main(int argc, char **argv)
{
	expect_init(&argc, &argv);
	if (!rank) {
		direct();
		recursive(3);
		by_library();
		aligned(argc);
		wide();
		threads_run(1, in_thread, 0);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}
