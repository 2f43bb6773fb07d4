/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * libpov-wtime.so, for LD_PRELOAD: an unmodified program's MPI_Wtime is MPIX_Rtime, so that what it makes of it (MFLOP/s, MB/s) is by
 * the time its rank was running (Nigay et al. 2020, table 2). This changes results: it is said at the first call and at the end.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "clock/libpov/pov.h"

double MPI_Wtime(void);

static int is_first_rank(void)
{
	static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
					    "SLURM_PROCID"};
	const char *rank = NULL;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names) && !rank; i++)
		rank = getenv(names[i]);
	return !rank || atoi(rank) == 0;
}

static void say(const char *when)
{
	const char *why;
	enum pov_source source = pov_source(&why);

	fprintf(stderr,
		"libpov-wtime: %s: MPI_Wtime %s the rank's running time, no wall clock (%s%s)\n",
		is_first_rank() ? "rank 0" : "a rank", when,
		source == POV_SOURCE_POVTRACE ? "by povtrace" : "CPU time of the kernel: ", why);
}

static void at_end(void)
{
	if (is_first_rank())
		say("was");
}

double MPI_Wtime(void)
{
	static int said;

	if (!__atomic_exchange_n(&said, 1, __ATOMIC_RELAXED) && is_first_rank()) {
		say("is");
		atexit(at_end);
	}
	return MPIX_Rtime();
}

/* Fortran's names for it. */
double mpi_wtime(void) __attribute__((alias("MPI_Wtime")));
double mpi_wtime_(void) __attribute__((alias("MPI_Wtime")));
double mpi_wtime__(void) __attribute__((alias("MPI_Wtime")));
double MPI_Wtime_f08(void) __attribute__((alias("MPI_Wtime")));
double mpi_wtime_f08_(void) __attribute__((alias("MPI_Wtime")));
double MPI_WTIME(void) __attribute__((alias("MPI_Wtime")));
