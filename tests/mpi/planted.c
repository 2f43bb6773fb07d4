/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Two ranks and one disturbance of known size: planted WHAT MILLISECONDS. In one of ROUNDS rounds rank 1 sleeps so long
 *	collective	before an Allreduce that rank 0 is in
 *	sender		before a send that rank 0 receives
 *	waitall		the same, where rank 0 waits for a receive and a send together
 *	receiver	before it receives what rank 0 sends, which does not end without that (Ssend)
 *	nothing		never
 * Each rank notes when the call that may wait began in each round, so that how long rank 0 waited for rank 1 is known.
 */
#include <time.h>

#include "expect.h"

#define PROG "planted"
#define ROUNDS 40
#define DISTURBED 23

static unsigned long long begin_ns[ROUNDS]; /* of the call that may wait */
static int rank;

static unsigned long long now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static void compute(void)
{
	unsigned long long until = now_ns() + 1000000;

	while (now_ns() < until)
		;
}

/* One message, from rank 1. */
static void send_or_receive(char *buf, int together, int n)
{
	MPI_Request reqs[2];

	if (rank) {
		CALL(MPI_Send, 0, 8, 0, buf, 8, MPI_CHAR, 0, 5, MPI_COMM_WORLD);
		if (together)
			CALL(MPI_Recv, 0, 0, 8, buf, 8, MPI_CHAR, 0, 6, MPI_COMM_WORLD,
			     MPI_STATUS_IGNORE);
	} else if (together) {
		CALL(MPI_Irecv, 1, 0, 8, buf, 8, MPI_CHAR, 1, 5, MPI_COMM_WORLD, &reqs[0]);
		CALL(MPI_Isend, 1, 8, 0, buf + 8, 8, MPI_CHAR, 1, 6, MPI_COMM_WORLD, &reqs[1]);
		begin_ns[n] = now_ns();
		DO(MPI_Waitall, 2, reqs, MPI_STATUSES_IGNORE);
	} else {
		CALL(MPI_Recv, 1, 0, 8, buf, 8, MPI_CHAR, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
}

/* One message, to rank 1. */
static void receive_or_send(char *buf)
{
	if (rank)
		CALL(MPI_Recv, 0, 0, 8, buf, 8, MPI_CHAR, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	else
		CALL(MPI_Ssend, 1, 8, 0, buf, 8, MPI_CHAR, 1, 5, MPI_COMM_WORLD);
}

static void round_do(const char *what, double ms, int n)
{
	char buf[16] = "";
	int in = 1, out;

	compute();
	if (n == DISTURBED && rank && strcmp(what, "nothing"))
		usleep((unsigned int)(ms * 1000));
	begin_ns[n] = now_ns();
	if (!strcmp(what, "collective"))
		MOVE(MPI_Allreduce, 4, 4, &in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	else if (!strcmp(what, "receiver"))
		receive_or_send(buf);
	else
		send_or_receive(buf, !strcmp(what, "waitall"), n);
}

static void begins_write(void)
{
	FILE *f = expect_open("planted-begins", rank);

	for (int n = 0; n < ROUNDS; n++)
		fprintf(f, "%d %d %llu\n", rank, n, begin_ns[n]);
	if (f != stdout)
		fclose(f);
}

int main(int argc, char **argv)
{
	DO(MPI_Init, &argc, &argv);
	DO(MPI_Comm_rank, MPI_COMM_WORLD, &rank);
	MUST(argc == 3);
	for (int i = 0; i < ROUNDS; i++)
		round_do(argv[1], atof(argv[2]), i);
	DO(MPI_Finalize);
	begins_write();
	expect_write(PROG, rank);
	return 0;
}
