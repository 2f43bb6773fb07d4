/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Measures how long one broadcast takes, for the tests: all ranks sleep until the network is quiet
 * and then make one broadcast. The latest end counts, which needs a common clock, as a simulator
 * has. It shares no code with povbench.
 *
 *   bcast_truth BYTES     a line for each algorithm and 2, 4, 8 ... ranks: "algorithm ranks ns
 *                         mean_ns", from root 0 and the mean over all roots
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void chain(void *buf, int bytes, int step, int root, MPI_Comm comm)
{
	int rank, ranks, next, before;

	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &ranks);
	next = (rank + ranks + step) % ranks;
	before = (rank + ranks - step) % ranks;
	if (rank != root)
		MPI_Recv(buf, bytes, MPI_BYTE, before, 0, comm, MPI_STATUS_IGNORE);
	if (next != root)
		MPI_Send(buf, bytes, MPI_BYTE, next, 0, comm);
}

/* Halves the range that a rank serves until it is alone. Ranks are counted from the root. */
static void tree(void *buf, int bytes, int root, MPI_Comm comm)
{
	int rank, ranks, from_root, first = 0, width = 1;

	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &ranks);
	from_root = (rank + ranks - root) % ranks;
	while (width < ranks)
		width *= 2;
	for (width /= 2; width; width /= 2) {
		int other = first + width;

		if (from_root == first && other < ranks)
			MPI_Send(buf, bytes, MPI_BYTE, (other + root) % ranks, 0, comm);
		if (from_root == other)
			MPI_Recv(buf, bytes, MPI_BYTE, (first + root) % ranks, 0, comm,
				 MPI_STATUS_IGNORE);
		if (from_root >= other)
			first = other;
	}
}

static void broadcast(const char *algorithm, void *buf, int bytes, int root, MPI_Comm comm)
{
	if (!strcmp(algorithm, "linear"))
		chain(buf, bytes, 1, root, comm);
	else if (!strcmp(algorithm, "backward"))
		chain(buf, bytes, -1, root, comm);
	else if (!strcmp(algorithm, "binomial"))
		tree(buf, bytes, root, comm);
	else
		MPI_Bcast(buf, bytes, MPI_BYTE, root, comm);
}

/* Returns the ns of one broadcast, on rank 0. */
static double measure(const char *algorithm, void *buf, int bytes, int root, MPI_Comm comm)
{
	double began, now, last = 0;
	struct timespec rest;

	MPI_Barrier(comm);
	/* ranks leave the barrier at different times, so all wait for the next full ten seconds */
	now = MPI_Wtime();
	began = (double)((long)(now / 10) + 1) * 10;
	rest.tv_sec = (time_t)(began - now);
	rest.tv_nsec = (long)((began - now - (double)rest.tv_sec) * 1e9);
	nanosleep(&rest, NULL);
	began = MPI_Wtime();
	broadcast(algorithm, buf, bytes, root, comm);
	now = MPI_Wtime();
	MPI_Reduce(&now, &last, 1, MPI_DOUBLE, MPI_MAX, 0, comm);
	return (last - began) * 1e9;
}

static void measure_roots(const char *algorithm, void *buf, int bytes, MPI_Comm comm)
{
	double ns, first_ns = 0, sum_ns = 0;
	int root, rank, ranks;

	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &ranks);
	for (root = 0; root < ranks; root++) {
		ns = measure(algorithm, buf, bytes, root, comm);
		sum_ns += ns;
		if (!root)
			first_ns = ns;
	}
	if (rank == 0)
		printf("%s %d %.0f %.0f\n", algorithm, ranks, first_ns, sum_ns / ranks);
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
			measure_roots(algorithm[i], buf, bytes, comm);
		if (comm != MPI_COMM_NULL)
			MPI_Comm_free(&comm);
	}
	free(buf);
	MPI_Finalize();
	return 0;
}
