/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * How threads end: each rank has one that ends early, one that computes and one that sleeps until the process ends
 * below them. Prints "leave PID" before that.
 */
#include "planted.h"

static void *early(void *arg)
{
	sleep_ms(50);
	return arg;
}

static void *compute(void *arg)
{
	for (;;)
		work();
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
	pthread_t t;

	expect_init_thread(&argc, &argv, MPI_THREAD_FUNNELED);
	for (int i = 0; i < 3; i++)
		MUST(!pthread_create(&t, NULL, bodies[i], NULL));
	sleep_ms(300);
	DO(MPI_Barrier, MPI_COMM_WORLD);
	expect_finish();
	return 0;
}
