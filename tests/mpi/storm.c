/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Calls that do not wait for others, as fast as they come for so long, and then, for so long, a hundred rounds a second. A round sends a
 * message to its own rank and tests for both ends until they are there; every thousandth ends with a call that waits for others as far
 * as its kind goes, an MPI_Allreduce of this rank alone. Rank 0 tells on stdout when the storm was over: CLOCK_MONOTONIC, ns.
 *
 * Usage: storm SECONDS [CALM_SECONDS]
 */
#include <time.h>

#include "expect.h"

#define PROG "storm"
#define MESSAGE_BYTES 61
#define WAIT_EVERY 1000

static unsigned long rounds, tests, empty, waits;

static void request_finish(MPI_Request *req)
{
	int flag;

	do {
		MPI_Test(req, &flag, MPI_STATUS_IGNORE);
		tests++;
		empty += !flag;
	} while (!flag);
}

static void round_make(int rank)
{
	static char out[MESSAGE_BYTES], in[MESSAGE_BYTES];
	MPI_Request req[2];
	int one = 1, sum;

	MPI_Irecv(in, MESSAGE_BYTES, MPI_CHAR, rank, 3, MPI_COMM_WORLD, &req[0]);
	MPI_Isend(out, MESSAGE_BYTES, MPI_CHAR, rank, 3, MPI_COMM_WORLD, &req[1]);
	request_finish(&req[0]);
	request_finish(&req[1]);
	if (++rounds % WAIT_EVERY)
		return;
	MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
	waits++;
}

int main(int argc, char **argv)
{
	double storm_s = argc > 1 ? atof(argv[1]) : 1, calm_s = argc > 2 ? atof(argv[2]) : 0;
	const struct timespec pause = {.tv_nsec = 10000000};
	double until_s;
	int rank, size;

	expect_init(&argc, &argv, &rank, &size);
	DO(MPI_Barrier, MPI_COMM_WORLD);
	for (until_s = now_s() + storm_s; now_s() < until_s;)
		round_make(rank);
	if (!rank)
		printf("storm over %.0f\n", now_s() * 1e9);
	fflush(stdout);
	for (until_s = now_s() + calm_s; now_s() < until_s;) {
		round_make(rank);
		nanosleep(&pause, NULL);
	}
	expect_add("MPI_Irecv", rank, rounds, 0, rounds * MESSAGE_BYTES, 0);
	expect_add("MPI_Isend", rank, rounds, rounds * MESSAGE_BYTES, 0, 0);
	expect_add("MPI_Test", NO_PEER, tests, 0, 0, empty);
	if (waits)
		expect_add("MPI_Allreduce", NO_PEER, waits, 0, 0, 0);
	DO(MPI_Barrier, MPI_COMM_WORLD);
	expect_finish(PROG, rank);
	return 0;
}
