/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * first_call THREADS	starts that many threads, one after the other, that call MPI twice each.
 *			Prints the ns of each thread's first and second call, one line per thread
 * first_call pause	initialises MPI and does nothing until it is killed
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static unsigned long long now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (unsigned long long)t.tv_sec * 1000000000u + (unsigned long long)t.tv_nsec;
}

static void poll_once(void)
{
	int flag;

	MPI_Iprobe(0, 5, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
}

static void *calls(void *unused)
{
	unsigned long long begin, first, second;

	(void)unused;
	begin = now_ns();
	poll_once();
	first = now_ns();
	poll_once();
	second = now_ns();
	printf("%llu %llu\n", first - begin, second - first);
	return NULL;
}

int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 1, got;
	pthread_t t;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &got);
	if (argc > 1 && !strcmp(argv[1], "pause"))
		pause();
	poll_once();
	for (int i = 0; i < threads; i++) {
		pthread_create(&t, NULL, calls, NULL);
		pthread_join(t, NULL);
	}
	MPI_Finalize();
	return 0;
}
