/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * How threads end: each rank has one that ends early, one that computes and one that sleeps until the process ends
 * below them. Prints "leave PID" before that.
 */
#include <time.h>

#include "expect.h"

#define PROG "leave"
#define EARLY_NS 50000000
#define RUN_NS 300000000

static void *early(void *arg)
{
	nanosleep(&(struct timespec){.tv_nsec = EARLY_NS}, NULL);
	return arg;
}

static void *compute(void *arg)
{
	volatile double x = 1;

	for (;;)
		x = x * 1.0000001 + 1e-9;
	return arg;
}

static void *doze(void *arg)
{
	for (;;)
		pause();
	return arg;
}

int main(int argc, char **argv)
{
	static void *(*const bodies[])(void *) = {early, compute, doze};
	int rank, size, got;
	pthread_t t;

	DO(MPI_Init_thread, &argc, &argv, MPI_THREAD_FUNNELED, &got);
	DO(MPI_Comm_rank, MPI_COMM_WORLD, &rank);
	DO(MPI_Comm_size, MPI_COMM_WORLD, &size);
	for (int i = 0; i < 3; i++)
		MUST(!pthread_create(&t, NULL, bodies[i], NULL));
	nanosleep(&(struct timespec){.tv_nsec = RUN_NS}, NULL);
	DO(MPI_Barrier, MPI_COMM_WORLD);
	expect_finish(PROG, rank);
	return 0;
}
