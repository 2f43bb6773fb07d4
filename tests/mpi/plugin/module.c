/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A plug-in that uses MPI, for a host without MPI or with another one (tests/mpi/plain/modules.c).
 * It keeps its own books.
 */
#include "expect.h"

int module_begin(void)
{
	int begun;

	DO(MPI_Initialized, &begun);
	if (!begun)
		DO(MPI_Init, NULL, NULL);
	DO(MPI_Comm_rank, MPI_COMM_WORLD, &rank);
	DO(MPI_Comm_size, MPI_COMM_WORLD, &size);
	return rank;
}

void module_run(int times)
{
	int left = (rank + size - 1) % size, right = (rank + 1) % size, in;

	for (int i = 0; i < times; i++) {
		int out = rank * 1000 + i;

		in = -1;
		CALL(MPI_Sendrecv, right, 4, 4, &out, 1, MPI_INT, right, 5, &in, 1, MPI_INT, left,
		     5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MUST(in == left * 1000 + i);
	}
	DO(MPI_Barrier, MPI_COMM_WORLD);
}

void module_books(const char *name)
{
	expect_write(name, rank);
	expect_row_cnt = 0;
}

void module_end(void)
{
	DO(MPI_Finalize);
}
