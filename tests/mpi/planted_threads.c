/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A program of processes and threads: planted_threads ROUNDS. In each round the threads (OMP_NUM_THREADS) share 400 us of work, ten
 * times one behind the other, and the ranks add up a number. Threads that have done their part wait busily for the others, as OpenMP does
 * that believes to have the cores for itself. Prints how long the rounds took, in ns, by rank 0.
 */
#include <omp.h>

#include "planted.h"

#define PARTS 10
#define WORK_MS 0.4

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 100, rank, provided;
	unsigned long long begin_ns;
	double one = 1, sum;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Barrier(MPI_COMM_WORLD);
	begin_ns = now_ns();
	for (int i = 0; i < rounds; i++) {
		for (int part = 0; part < PARTS; part++) {
#pragma omp parallel
			compute_ms(WORK_MS / omp_get_num_threads());
		}
		MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	}
	if (rank == 0)
		printf("%llu\n", now_ns() - begin_ns);
	MPI_Finalize();
	return 0;
}
