/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* A library that needs a function that neither MPI library has; bound lazily, it works until it calls it. */
#include <mpi.h>

int MPI_Status_get_error(const MPI_Status *status, int *error);

int finished(int n)
{
	return n + 1;
}

int unfinished(void)
{
	MPI_Status status = {0};
	int error = 0;

	return MPI_Status_get_error(&status, &error);
}
