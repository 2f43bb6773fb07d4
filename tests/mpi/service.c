/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A job that is already running when the recorder attaches. Each rank sends itself messages at
 * about 1 kHz for ever. On SIGUSR1 it also calls MPI_Allreduce on its own, until SIGUSR2. These
 * calls lie between two marks and their number is known. A second thread calls MPI_Sendrecv_replace
 * between the marks. SIGTERM ends the job normally.
 *
 * Prints "service RANK PID" on stdout when it has started, and the books at the end. The books only
 * have the calls between the marks.
 */
#include <signal.h>

#include "expect.h"

#define MARKED_MIN 101

static volatile sig_atomic_t marked, over;
static volatile int second_cnt, second_rests;

static void on_signal(int sig)
{
	if (sig == SIGUSR1)
		marked = 1;
	else if (sig == SIGUSR2)
		marked = 0;
	else
		over = 1;
}

static void *second(void *arg)
{
	char buf[64] = "";

	while (!over) {
		second_rests = !marked;
		if (!second_rests) {
			CALL(MPI_Sendrecv_replace, 0, 43, 43, buf, 43, MPI_CHAR, 0, 5, 0, 5,
			     MPI_COMM_SELF, MPI_STATUS_IGNORE);
			second_cnt++;
		}
		usleep(1500);
	}
	return arg;
}

static void say(const char *what)
{
	printf("%s %d\n", what, rank);
	fflush(stdout);
}

static void serve(void)
{
	char out[128] = "", in[128];
	double a = 1, b;
	int cnt = 0, busy = 0;

	while (!over) {
		MPI_Sendrecv(out, 101, MPI_CHAR, rank, 3, in, 101, MPI_CHAR, rank, 3,
			     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (marked) {
			MOVE(MPI_Allreduce, 8, 8, &a, &b, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
			if (++cnt >= MARKED_MIN && second_cnt >= MARKED_MIN && !busy) {
				busy = 1;
				say("busy");
			}
		} else if (busy && second_rests) {
			busy = cnt = second_cnt = 0;
			say("rests");
		}
		usleep(900);
	}
}

int main(int argc, char **argv)
{
	struct sigaction sa = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	pthread_t t;
	int got;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &got);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	sigaction(SIGUSR1, &sa, NULL);
	sigaction(SIGUSR2, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	MUST(!pthread_create(&t, NULL, second, NULL));
	MPI_Barrier(MPI_COMM_WORLD);
	printf("service %d %d\n", rank, (int)getpid());
	fflush(stdout);
	serve();
	pthread_join(t, NULL);
	expect_write("service", rank);
	MPI_Finalize();
	return 0;
}
