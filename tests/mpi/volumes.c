/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * volumes BYTES ROUNDS: an all-to-all exchange, a broadcast, a halo exchange on a ring, and a shift along it by nonblocking operations, each
 * ROUNDS times in a phase of its own. Volumes follow from arithmetic: rank 0 prints for each phase its name, the function that moves
 * the data, and the bytes that have to go from rank to rank. Before, all pairs have met, so that connections are made outside the
 * phases.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../bpf/abi/mark.h"

static int rank, size, bytes, rounds;
static char *from, *to;

static void begin(const char *name)
{
	uint64_t w[POV_MARK_WORDS] = {0};

	MPI_Barrier(MPI_COMM_WORLD);
	memcpy(w, name, strlen(name));
	MPI_Pcontrol(POV_MARK_BEGIN, w[0], w[1], w[2], w[3]);
}

static void end(const char *phase, const char *function, long volume)
{
	MPI_Pcontrol(POV_MARK_END);
	MPI_Barrier(MPI_COMM_WORLD);
	if (!rank)
		printf("%s %s %ld\n", phase, function, volume * rounds);
}

static void halo(void)
{
	int right = (rank + 1) % size, left = (rank + size - 1) % size;

	MPI_Sendrecv(from, bytes, MPI_CHAR, right, 1, to, bytes, MPI_CHAR, left, 1, MPI_COMM_WORLD,
		     MPI_STATUS_IGNORE);
	MPI_Sendrecv(from, bytes, MPI_CHAR, left, 2, to, bytes, MPI_CHAR, right, 2, MPI_COMM_WORLD,
		     MPI_STATUS_IGNORE);
}

static void shift(void)
{
	int right = (rank + 1) % size, left = (rank + size - 1) % size;
	MPI_Request req[2];
	MPI_Status status[2];

	MPI_Irecv(to, bytes, MPI_CHAR, left, 3, MPI_COMM_WORLD, &req[0]);
	MPI_Isend(from, bytes, MPI_CHAR, right, 3, MPI_COMM_WORLD, &req[1]);
	MPI_Waitall(2, req, status);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	bytes = atoi(argv[1]);
	rounds = atoi(argv[2]);
	from = calloc((size_t)size, (size_t)bytes);
	to = calloc((size_t)size, (size_t)bytes);
	MPI_Alltoall(from, bytes, MPI_CHAR, to, bytes, MPI_CHAR, MPI_COMM_WORLD);
	begin("alltoall");
	for (int i = 0; i < rounds; i++)
		MPI_Alltoall(from, bytes, MPI_CHAR, to, bytes, MPI_CHAR, MPI_COMM_WORLD);
	end("alltoall", "MPI_Alltoall", (long)size * (size - 1) * bytes);
	begin("bcast");
	for (int i = 0; i < rounds; i++)
		MPI_Bcast(from, bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
	end("bcast", "MPI_Bcast", (long)(size - 1) * bytes);
	begin("halo");
	for (int i = 0; i < rounds; i++)
		halo();
	end("halo", "MPI_Sendrecv", 2L * size * bytes);
	begin("shift");
	for (int i = 0; i < rounds; i++)
		shift();
	end("shift", "MPI_Isend", (long)size * bytes);
	free(from);
	free(to);
	MPI_Finalize();
	return 0;
}
