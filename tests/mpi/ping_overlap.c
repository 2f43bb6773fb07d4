/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A small program with the habits of a real one, for `make demo`: ranks in a ring compute while
 * messages of several sizes travel, poll for late ones, and meet in collectives. It measures nothing
 * itself; what it did is to be seen in the trace. About two seconds; any number of ranks from two up.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 4
#define STEPS 12
#define COMPUTE_S 0.004
#define SIZE_CNT 4

static const int sizes[SIZE_CNT] = {64, 4096, 131072, 4194304};

enum { TAG_OVERLAP = 1, TAG_LATE = 2 };

/* Computes for a while. The result is used, so that it is computed. */
static double compute(double seconds)
{
	double end = MPI_Wtime() + seconds, x = 0.5;
	int i;

	do {
		for (i = 0; i < 2000; i++)
			x = 3.7 * x * (1 - x);
	} while (MPI_Wtime() < end);
	return x;
}

static void check_bytes(const unsigned char *buf, int bytes, int expected)
{
	if (buf[0] != (unsigned char)expected || buf[bytes - 1] != (unsigned char)expected) {
		fprintf(stderr, "ping_overlap: wrong data in a message of %d bytes\n", bytes);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
}

/* Sends to the next rank, receives from the one before, and computes meanwhile. */
static double overlap_step(int rank, int ranks, int bytes, unsigned char *in, unsigned char *out)
{
	int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
	MPI_Request request[2];
	double x;

	memset(out, rank + 1, (size_t)bytes);
	MPI_Irecv(in, bytes, MPI_BYTE, before, TAG_OVERLAP, MPI_COMM_WORLD, &request[0]);
	MPI_Isend(out, bytes, MPI_BYTE, next, TAG_OVERLAP, MPI_COMM_WORLD, &request[1]);
	x = compute(COMPUTE_S);
	MPI_Wait(&request[0], MPI_STATUS_IGNORE);
	MPI_Wait(&request[1], MPI_STATUS_IGNORE);
	check_bytes(in, bytes, before + 1);
	return x;
}

/* Rank 0 is late with its messages; the others ask for them again and again. */
static void polling_phase(int rank, int ranks)
{
	int value = 42, flag = 0, i;
	MPI_Status status;

	if (rank == 0) {
		compute(10 * COMPUTE_S);
		for (i = 1; i < ranks; i++)
			MPI_Send(&value, 1, MPI_INT, i, TAG_LATE, MPI_COMM_WORLD);
		return;
	}
	while (!flag)
		MPI_Iprobe(0, TAG_LATE, MPI_COMM_WORLD, &flag, &status);
	MPI_Recv(&value, 1, MPI_INT, status.MPI_SOURCE, TAG_LATE, MPI_COMM_WORLD,
		 MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
	unsigned char *in, *out;
	double x = 0, sum = 0, start;
	int rank, ranks, round, step, s, parameters[16] = {0};

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (ranks < 2) {
		fprintf(stderr, "ping_overlap: needs at least 2 ranks\n");
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	in = malloc((size_t)sizes[SIZE_CNT - 1]);
	out = malloc((size_t)sizes[SIZE_CNT - 1]);
	if (!in || !out)
		MPI_Abort(MPI_COMM_WORLD, 1);
	start = MPI_Wtime();
	for (round = 0; round < ROUNDS; round++) {
		parameters[0] = round;
		MPI_Bcast(parameters, 16, MPI_INT, 0, MPI_COMM_WORLD);
		for (s = 0; s < SIZE_CNT; s++) {
			for (step = 0; step < STEPS; step++)
				x += overlap_step(rank, ranks, sizes[s], in, out);
		}
		polling_phase(rank, ranks);
		/* The last rank has more to do: the others wait for it in the Allreduce. */
		if (rank == ranks - 1)
			x += compute(5 * COMPUTE_S);
		MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		printf("ping_overlap: %d ranks, %d rounds, %.2f s, checksum %.3f\n", ranks, ROUNDS,
		       MPI_Wtime() - start, sum);
	free(in);
	free(out);
	MPI_Finalize();
	return 0;
}
