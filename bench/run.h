/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Runs benchmarks one after the other on all ranks. */
#ifndef POVBENCH_RUN_H
#define POVBENCH_RUN_H

#include "core/bench.h"
#include "core/comm.h"

#include <jansson.h>

struct run_plan {
	const struct bench **bench; /* ends with NULL; all ranks have the same */
	struct bench_options opt;
	const char *output;   /* path of the file, or null */
	bool resume;	      /* continue the file's last launch instead of starting a new one */
	bool suite;	      /* skip benchmarks that cannot run; otherwise that is an error */
	bool thread_multiple; /* the user asked for MPI_THREAD_MULTIPLE */
	bool peers;	      /* print all figures of maps */
};

/* All ranks call it. Returns the exit status: 0, or 1 if a benchmark failed. */
int run_plan(struct comm *c, const struct run_plan *plan);

/* All ranks call it. Rank 0 passes the object to add to, the others null. */
void mpi_factors(struct comm *c, json_t *into);

#endif
