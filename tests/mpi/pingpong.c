/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A ping-pong as the usual suites make it: many round trips one behind the other between two looks at the clock.
 * Written apart from povbench, and shares nothing with it: what both say of the same message must agree. It asks for the
 * thread level that povbench asks for, as that alone may make small messages half as slow again (Open MPI 4.1).
 *
 * Usage: pingpong BYTES [ROUNDS [BATCHES]]
 * Prints nanoseconds of half a round trip: the median of the batches' means.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BATCHES_MAX 1000

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static double batch_ns(int rank, char *out, char *in, int bytes, int rounds)
{
	double began_ns = now_ns();
	int i;

	for (i = 0; i < rounds; i++) {
		if (rank == 0) {
			MPI_Send(out, bytes, MPI_BYTE, 1, 7, MPI_COMM_WORLD);
			MPI_Recv(in, bytes, MPI_BYTE, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		} else if (rank == 1) {
			MPI_Recv(in, bytes, MPI_BYTE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			MPI_Send(out, bytes, MPI_BYTE, 0, 7, MPI_COMM_WORLD);
		}
	}
	return (now_ns() - began_ns) / rounds / 2;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	int bytes = argc > 1 ? atoi(argv[1]) : 8, rounds = argc > 2 ? atoi(argv[2]) : 100;
	int batches = argc > 3 ? atoi(argv[3]) : 51, rank, level, i;
	double took_ns[BATCHES_MAX];
	char *out, *in;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (batches < 1 || batches > BATCHES_MAX || bytes < 0 || rounds < 1) {
		fprintf(stderr, "usage: pingpong BYTES [ROUNDS [BATCHES]]\n");
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	out = aligned_alloc(4096, (size_t)bytes / 4096 * 4096 + 4096);
	in = aligned_alloc(4096, (size_t)bytes / 4096 * 4096 + 4096);
	if (!out || !in)
		MPI_Abort(MPI_COMM_WORLD, 1);
	memset(out, rank + 1, (size_t)bytes);
	memset(in, 0, (size_t)bytes);
	batch_ns(rank, out, in, bytes, rounds);
	for (i = 0; i < batches; i++)
		took_ns[i] = batch_ns(rank, out, in, bytes, rounds);
	qsort(took_ns, (size_t)batches, sizeof(took_ns[0]), compare);
	if (rank == 0)
		printf("%.1f\n", took_ns[batches / 2]);
	free(out);
	free(in);
	MPI_Finalize();
	return 0;
}
