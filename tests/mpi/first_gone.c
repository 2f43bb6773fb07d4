/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A rank whose first thread ends while another one goes on. The other thread makes its first MPI
 * call only after that. Usage: first_gone WHEN [PID]
 *
 *	early	before MPI begins
 *	late	after MPI_Init_thread
 *	exec	after MPI_Init_thread, by executing this program again, which then does "late"
 *
 * With PID, it also waits until that process has ended, and time for a tracer to notice.
 */
#include "expect.h"

#define CALLS 53
#define NOTICED_US 300000

static int other;

static void *exec_thread(void *unused)
{
	int one = 1, sum;

	(void)unused;
	REPEAT(CALLS, MOVE(MPI_Allreduce, 4, 4, &one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
	expect_finish();
	execl("/proc/self/exe", "executed", "late", NULL); /* its books have this name */
	return NULL;
}

static void *other_thread(void *early)
{
	int one = 1, sum;

	first_thread_await_end();
	if (other) {
		thread_await_end("/proc", other);
		usleep(NOTICED_US);
	}
	if (early)
		expect_init_thread(NULL, NULL, MPI_THREAD_MULTIPLE);
	REPEAT(CALLS, MOVE(MPI_Allreduce, 4, 4, &one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
	printf("sum %d\n", sum);
	expect_finish();
	exit(0);
}

int main(int argc, char **argv)
{
	int early = argc > 1 && !strcmp(argv[1], "early");
	pthread_t t;

	if (argc > 2)
		other = atoi(argv[2]);
	if (!early)
		expect_init_thread(&argc, &argv, MPI_THREAD_MULTIPLE);
	if (argc > 1 && !strcmp(argv[1], "exec")) {
		MUST(!pthread_create(&t, NULL, exec_thread, NULL));
		pthread_join(t, NULL);
		return 1;
	}
	MUST(!pthread_create(&t, NULL, other_thread, early ? "early" : NULL));
	pthread_exit(NULL);
}
