/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A library that needs a function that neither MPI library has. With lazy binding, it works until
 * it calls that function.
 */
#include <mpi.h>

#if MPI_VERSION < 5
int MPI_Abi_get_version(int *major, int *minor);
#endif

int finished(int n)
{
	return n + 1;
}

int unfinished(void)
{
	int major = 0, minor = 0;

	return MPI_Abi_get_version(&major, &minor) + major + minor;
}
