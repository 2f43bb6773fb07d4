/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Calls that do not wait for others, as fast as they come for so long, and then, for so long, a hundred rounds a second. A round sends a
 * message to its own rank and tests for both ends until they are there; every thousandth ends with a call that waits for others as far
 * as its kind goes, an MPI_Allreduce of this rank alone. Rank 0 tells on stdout when the storm was over: CLOCK_MONOTONIC, ns.
 *
 * Usage: storm SECONDS [CALM_SECONDS]
 */
#include "expect.h"

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

static void round_make(void)
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

static void rounds_make(double seconds, unsigned int pause_us)
{
	unsigned long long until = now_ns() + (unsigned long long)(seconds * 1e9);

	while (now_ns() < until) {
		round_make();
		if (pause_us)
			usleep(pause_us);
	}
}

int main(int argc, char **argv)
{
	MUST(argc > 1);
	expect_init(&argc, &argv);
	DO(MPI_Barrier, MPI_COMM_WORLD);
	rounds_make(atof(argv[1]), 0);
	if (!rank)
		printf("storm over %llu\n", now_ns());
	fflush(stdout);
	rounds_make(argc > 2 ? atof(argv[2]) : 0, 10000);
	expect_add("MPI_Irecv", rank, rounds, 0, rounds * MESSAGE_BYTES, 0);
	expect_add("MPI_Isend", rank, rounds, rounds * MESSAGE_BYTES, 0, 0);
	expect_add("MPI_Test", NO_PEER, tests, 0, 0, empty);
	if (waits)
		expect_add("MPI_Allreduce", NO_PEER, waits, 0, 0, 0);
	DO(MPI_Barrier, MPI_COMM_WORLD);
	expect_finish();
	return 0;
}
