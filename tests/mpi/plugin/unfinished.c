/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A library that needs a function that neither MPI library has. With lazy binding, it works until
 * it calls that function.
 */
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
