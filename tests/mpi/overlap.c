/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Two ranks that exchange messages of BYTES: overlap WHAT MICROSECONDS BYTES. First some round trips by blocking calls, then ROUNDS rounds
 *	waitall		Irecv, Isend, a computation of MICROSECONDS, Waitall
 *	persistent	the same, by Startall
 *	blocking	the computation, Sendrecv
 * Each rank notes of each round when it began to start the operations, when it had, when it began to wait and when that was over.
 */
#include <time.h>

#include "expect.h"

#define PROG "overlap"
#define TRIPS 13
#define ROUNDS 23

static unsigned long long noted_ns[ROUNDS][4];
static char *out, *in;
static int rank, bytes;

static unsigned long long now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static void compute(double us)
{
	unsigned long long until = now_ns() + (unsigned long long)(us * 1000);

	while (now_ns() < until)
		;
}

static void there(void)
{
	CALL(MPI_Send, !rank, bytes, 0, out, bytes, MPI_CHAR, !rank, 3, MPI_COMM_WORLD);
}

static void back(void)
{
	CALL(MPI_Recv, !rank, 0, bytes, in, bytes, MPI_CHAR, !rank, 3, MPI_COMM_WORLD,
	     MPI_STATUS_IGNORE);
}

static void trip(void)
{
	if (rank) {
		back();
		there();
	} else {
		there();
		back();
	}
}

static void start(MPI_Request *reqs, int persistent)
{
	if (persistent) {
		DO(MPI_Startall, 2, reqs);
		return;
	}
	CALL(MPI_Irecv, !rank, 0, bytes, in, bytes, MPI_CHAR, !rank, 5, MPI_COMM_WORLD, &reqs[0]);
	CALL(MPI_Isend, !rank, bytes, 0, out, bytes, MPI_CHAR, !rank, 5, MPI_COMM_WORLD, &reqs[1]);
}

static void round_do(const char *what, double us, MPI_Request *reqs, unsigned long long *noted)
{
	int blocking = !strcmp(what, "blocking");

	DO(MPI_Barrier, MPI_COMM_WORLD);
	noted[0] = now_ns();
	if (!blocking)
		start(reqs, !strcmp(what, "persistent"));
	noted[1] = now_ns();
	compute(us);
	noted[2] = now_ns();
	if (blocking)
		DO(MPI_Sendrecv, out, bytes, MPI_CHAR, !rank, 5, in, bytes, MPI_CHAR, !rank, 5,
		   MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	else
		DO(MPI_Waitall, 2, reqs, MPI_STATUSES_IGNORE);
	noted[3] = now_ns();
}

static void notes_write(void)
{
	FILE *f = expect_open("overlap-times", rank);

	for (int n = 0; n < ROUNDS; n++)
		fprintf(f, "%d %d %llu %llu %llu %llu\n", rank, n, noted_ns[n][0], noted_ns[n][1],
			noted_ns[n][2], noted_ns[n][3]);
	if (f != stdout)
		fclose(f);
}

int main(int argc, char **argv)
{
	int persistent;
	MPI_Request reqs[2];

	DO(MPI_Init, &argc, &argv);
	DO(MPI_Comm_rank, MPI_COMM_WORLD, &rank);
	MUST(argc == 4);
	persistent = !strcmp(argv[1], "persistent");
	bytes = atoi(argv[3]);
	out = calloc(2, (size_t)bytes);
	in = out + bytes;
	if (persistent) {
		DO(MPI_Recv_init, in, bytes, MPI_CHAR, !rank, 5, MPI_COMM_WORLD, &reqs[0]);
		DO(MPI_Send_init, out, bytes, MPI_CHAR, !rank, 5, MPI_COMM_WORLD, &reqs[1]);
	}
	for (int n = 0; n < TRIPS; n++)
		trip();
	for (int n = 0; n < ROUNDS; n++)
		round_do(argv[1], atof(argv[2]), reqs, noted_ns[n]);
	for (int n = 0; persistent && n < 2; n++)
		DO(MPI_Request_free, &reqs[n]);
	DO(MPI_Finalize);
	free(out);
	notes_write();
	expect_write(PROG, rank);
	return 0;
}
