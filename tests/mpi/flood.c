/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Calls as fast as they come. Each round sends a message to itself and receives it (three calls that
 * must be recorded one by one) and polls for one that never comes. At the end each rank prints on
 * stdout: rank, calls made, ns taken. Usage: flood [ROUNDS]
 */
#include "expect.h"

int main(int argc, char **argv)
{
	unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 333331;
	unsigned long long begin;
	char out[64] = "", in[64];
	MPI_Request req;
	int flag;

	expect_init(&argc, &argv);
	DO(MPI_Barrier, MPI_COMM_WORLD);
	begin = now_ns();
	for (unsigned long i = 0; i < rounds;
	     i++) { /* counted below: the books must not slow it down */
		MPI_Isend(out, 61, MPI_CHAR, rank, 3, MPI_COMM_WORLD, &req);
		MPI_Recv(in, 61, MPI_CHAR, rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Wait(&req, MPI_STATUS_IGNORE);
		MPI_Iprobe(rank, 5, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
		MUST(!flag);
	}
	printf("flood %d %lu %llu\n", rank, 4 * rounds, now_ns() - begin);
	expect_add("MPI_Isend", rank, rounds, rounds * 61, 0, 0);
	expect_add("MPI_Recv", rank, rounds, 0, rounds * 61, 0);
	expect_add("MPI_Wait", NO_PEER, rounds, 0, 0, 0);
	expect_add("MPI_Iprobe", NO_PEER, rounds, 0, 0, rounds);
	DO(MPI_Barrier, MPI_COMM_WORLD);
	expect_finish();
	return 0;
}
