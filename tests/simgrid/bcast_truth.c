/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * How long one broadcast takes, for the tests: all ranks sleep until the network is quiet, do one, and the latest
 * end counts. Only a simulator has the common clock that this takes. It shares no code with povbench.
 *
 *   bcast_truth BYTES     one line for each algorithm and 2, 4, 8 … ranks: "algorithm ranks ns"
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void chain(void *buf, int bytes, int step, MPI_Comm comm)
{
	int rank, ranks, left;

	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &ranks);
	/* How many hops are left after this rank. */
	left = step > 0 ? ranks - 1 - rank : (rank ? rank - 1 : ranks - 1);
	if (rank)
		MPI_Recv(buf, bytes, MPI_BYTE, (rank - step) % ranks, 0, comm, MPI_STATUS_IGNORE);
	if (left)
		MPI_Send(buf, bytes, MPI_BYTE, (rank + step + ranks) % ranks, 0, comm);
}

/* Halves the range that a rank serves until it is alone. */
static void tree(void *buf, int bytes, MPI_Comm comm)
{
	int rank, ranks, first = 0, width = 1;

	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &ranks);
	while (width < ranks)
		width *= 2;
	for (width /= 2; width; width /= 2) {
		int other = first + width;

		if (rank == first && other < ranks)
			MPI_Send(buf, bytes, MPI_BYTE, other, 0, comm);
		if (rank == other)
			MPI_Recv(buf, bytes, MPI_BYTE, first, 0, comm, MPI_STATUS_IGNORE);
		if (rank >= other)
			first = other;
	}
}

static void broadcast(const char *algorithm, void *buf, int bytes, MPI_Comm comm)
{
	if (!strcmp(algorithm, "linear"))
		chain(buf, bytes, 1, comm);
	else if (!strcmp(algorithm, "backward"))
		chain(buf, bytes, -1, comm);
	else if (!strcmp(algorithm, "binomial"))
		tree(buf, bytes, comm);
	else
		MPI_Bcast(buf, bytes, MPI_BYTE, 0, comm);
}

static void measure(const char *algorithm, void *buf, int bytes, MPI_Comm comm)
{
	double began, ended, last;
	struct timespec rest;
	int rank, ranks;

	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &ranks);
	MPI_Barrier(comm);
	/* The barrier ends at different times: to the next whole ten seconds. */
	ended = MPI_Wtime();
	began = (double)((long)(ended / 10) + 1) * 10;
	rest.tv_sec = (time_t)(began - ended);
	rest.tv_nsec = (long)((began - ended - (double)rest.tv_sec) * 1e9);
	nanosleep(&rest, NULL);
	broadcast(algorithm, buf, bytes, comm);
	ended = MPI_Wtime();
	MPI_Reduce(&ended, &last, 1, MPI_DOUBLE, MPI_MAX, 0, comm);
	if (rank == 0)
		printf("%s %d %.0f\n", algorithm, ranks, (last - began) * 1e9);
}

int main(int argc, char **argv)
{
	static const char *const algorithm[] = {"library", "linear", "backward", "binomial"};
	int bytes = argc > 1 ? atoi(argv[1]) : 256, rank, ranks, n;
	MPI_Comm comm;
	size_t i;
	void *buf;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	buf = calloc(1, (size_t)bytes);
	for (n = 2; n <= ranks; n *= 2) {
		MPI_Comm_split(MPI_COMM_WORLD, rank < n ? 0 : MPI_UNDEFINED, rank, &comm);
		for (i = 0; comm != MPI_COMM_NULL && i < sizeof(algorithm) / sizeof(*algorithm);
		     i++)
			measure(algorithm[i], buf, bytes, comm);
		if (comm != MPI_COMM_NULL)
			MPI_Comm_free(&comm);
	}
	free(buf);
	MPI_Finalize();
	return 0;
}
