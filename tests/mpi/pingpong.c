/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A ping-pong like those of the usual suites: many round trips between two readings of the clock.
 * It is independent of povbench, and both must agree about the same message. It requests povbench's
 * thread level, because that alone can make small messages half as slow again (Open MPI 4.1).
 *
 * Usage: pingpong BYTES [ROUNDS [BATCHES]]
 * Prints nanoseconds of half a round trip: the median of the batches' means.
 */
#include "expect.h"

#define BATCHES_MAX 1000

static char *out, *in;

static double batch_ns(int bytes, int rounds)
{
	unsigned long long began_ns = now_ns();

	for (int i = 0; rank < 2 && i < 2 * rounds; i++)
		if (i % 2 == rank)
			MPI_Send(out, bytes, MPI_BYTE, !rank, 7, MPI_COMM_WORLD);
		else
			MPI_Recv(in, bytes, MPI_BYTE, !rank, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	return (double)(now_ns() - began_ns) / rounds / 2;
}

int main(int argc, char **argv)
{
	int bytes = argc > 1 ? atoi(argv[1]) : 8, rounds = argc > 2 ? atoi(argv[2]) : 100;
	int batches = argc > 3 ? atoi(argv[3]) : 51;
	double took_ns[BATCHES_MAX];

	MUST(batches >= 1 && batches <= BATCHES_MAX && bytes >= 0 && rounds >= 1);
	expect_init_thread(&argc, &argv, MPI_THREAD_FUNNELED);
	out = aligned_alloc(4096, (size_t)bytes / 4096 * 4096 + 4096);
	in = aligned_alloc(4096, (size_t)bytes / 4096 * 4096 + 4096);
	MUST(out && in);
	memset(out, rank + 1, (size_t)bytes);
	memset(in, 0, (size_t)bytes);
	for (int i = -1; i < batches; i++) /* one batch warms up */
		took_ns[i < 0 ? 0 : i] = batch_ns(bytes, rounds);
	if (rank == 0)
		printf("%.1f\n", median(took_ns, batches));
	MPI_Finalize();
	return 0;
}
