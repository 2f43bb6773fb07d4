/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A program that mostly does one collective: collective bcast|allreduce BYTES CALLS MICROSECONDS. Each call is made behind so much
 * computation, with the library's own algorithm or the one that is set. Rank 0 says how long all took, from one barrier to another.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void compute(double us)
{
	double until = MPI_Wtime() + us * 1e-6;

	while (MPI_Wtime() < until)
		;
}

int main(int argc, char **argv)
{
	double *in, *out, began, us;
	int bytes, calls, rank, i;

	MPI_Init(&argc, &argv);
	if (argc != 5 || (strcmp(argv[1], "bcast") && strcmp(argv[1], "allreduce"))) {
		fprintf(stderr, "collective bcast|allreduce BYTES CALLS MICROSECONDS\n");
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	bytes = atoi(argv[2]);
	calls = atoi(argv[3]);
	us = atof(argv[4]);
	in = calloc(1, (size_t)bytes + sizeof(*in));
	out = calloc(1, (size_t)bytes + sizeof(*out));
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Barrier(MPI_COMM_WORLD);
	began = MPI_Wtime();
	for (i = 0; i < calls; i++) {
		compute(us);
		if (argv[1][0] == 'b')
			MPI_Bcast(in, bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
		else
			MPI_Allreduce(in, out, bytes / (int)sizeof(*in), MPI_DOUBLE, MPI_SUM,
				      MPI_COMM_WORLD);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	if (!rank)
		printf("collective: %.6f s\n", MPI_Wtime() - began);
	MPI_Finalize();
	free(in);
	free(out);
	return 0;
}
