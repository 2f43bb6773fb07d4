/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Ranks and one disturbance of known size: planted WHAT MILLISECONDS [compute]. In one of ROUNDS rounds rank 1 sleeps so long, or
 * computes (uses so much CPU time),
 *	collective	before an Allreduce that rank 0 is in
 *	sender		before a send that rank 0 receives
 *	waitall		the same, where rank 0 waits for a receive and a send together
 *	receiver	before it receives what rank 0 sends, which does not end without that (Ssend)
 *	nothing		never
 * Two ranks do that; of three with
 *	chain		rank 0 sends to rank 1, that to rank 2, and rank 0 is the one that is late
 * Each rank notes when the call that may wait began in each round, so that how long rank 0 waited for rank 1 (rank 2 for rank 1, and
 * rank 1 for rank 0) is known, and how long it was without a core by then, by the kernel's account (schedstat).
 */
#include <time.h>

#include "expect.h"

#define PROG "planted"
#define ROUNDS 40
#define DISTURBED 23

static unsigned long long begin_ns[ROUNDS],
	coreless_ns[ROUNDS]; /* of the call that may wait, and then */
static int rank, computes;

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

static unsigned long long without_core_ns(void)
{
	unsigned long long ran, waited = 0;
	FILE *f = fopen("/proc/thread-self/schedstat", "r");

	if (f && fscanf(f, "%llu %llu", &ran, &waited) != 2)
		waited = 0;
	if (f)
		fclose(f);
	return waited;
}

static unsigned long long cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static void disturb(double ms)
{
	unsigned long long until = cpu_ns() + (unsigned long long)(ms * 1e6);

	if (!computes)
		usleep((unsigned int)(ms * 1000));
	while (computes && cpu_ns() < until)
		;
}

/* From rank 0 to rank 1 to rank 2. */
static void hand_on(char *buf)
{
	if (rank)
		CALL(MPI_Recv, rank - 1, 0, 8, buf, 8, MPI_CHAR, rank - 1, 5, MPI_COMM_WORLD,
		     MPI_STATUS_IGNORE);
	if (rank < 2)
		CALL(MPI_Send, rank + 1, 8, 0, buf, 8, MPI_CHAR, rank + 1, 5, MPI_COMM_WORLD);
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
	int in = 1, out, late_rank = strcmp(what, "chain") ? 1 : 0;

	compute();
	if (n == DISTURBED && rank == late_rank && strcmp(what, "nothing"))
		disturb(ms);
	coreless_ns[n] = without_core_ns();
	begin_ns[n] = now_ns();
	if (!strcmp(what, "collective"))
		MOVE(MPI_Allreduce, 4, 4, &in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	else if (!strcmp(what, "receiver"))
		receive_or_send(buf);
	else if (!strcmp(what, "chain"))
		hand_on(buf);
	else
		send_or_receive(buf, !strcmp(what, "waitall"), n);
}

static void begins_write(void)
{
	FILE *f = expect_open("planted-begins", rank);

	for (int n = 0; n < ROUNDS; n++)
		fprintf(f, "%d %d %llu %llu\n", rank, n, begin_ns[n], coreless_ns[n]);
	if (f != stdout)
		fclose(f);
}

int main(int argc, char **argv)
{
	DO(MPI_Init, &argc, &argv);
	DO(MPI_Comm_rank, MPI_COMM_WORLD, &rank);
	MUST(argc == 3 || argc == 4);
	computes = argc == 4;
	for (int i = 0; i < ROUNDS; i++)
		round_do(argv[1], atof(argv[2]), i);
	DO(MPI_Finalize);
	begins_write();
	expect_write(PROG, rank);
	return 0;
}
