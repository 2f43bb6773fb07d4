/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* A program that uses MPI if present, and is linked without it. Prints whether MPI has begun. */
#include <dlfcn.h>
#include <stdio.h>

extern int MPI_Initialized(int *flag) __attribute__((weak));
extern int PMPI_Finalized(int *flag) __attribute__((weak));

int main(void)
{
	int (*found)(int *) = (int (*)(int *))dlsym(RTLD_DEFAULT, "MPI_Finalized");
	int begun = 0, ended = 0, again = 0;

	if (MPI_Initialized)
		MPI_Initialized(&begun);
	if (PMPI_Finalized)
		PMPI_Finalized(&ended);
	if (found)
		found(&again);
	printf("begun %d, ended %d %d\n", begun, ended, again);
	return 0;
}
