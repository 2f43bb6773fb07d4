/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Running benchmarks one after the other on all ranks. */
#ifndef POVBENCH_RUN_H
#define POVBENCH_RUN_H

#include "core/bench.h"

struct run_plan {
	const struct bench **bench; /* ends with NULL; all ranks have the same */
	struct bench_options opt;
	const char *output;   /* file, or null */
	bool resume;	      /* its last launch, instead of a new one */
	bool suite;	      /* what cannot run is left out; else it is an error */
	bool thread_multiple; /* MPI_THREAD_MULTIPLE was asked for by the user */
	bool peers;	      /* print all figures of maps */
};

/* All ranks call it. The exit status: 0, or 1 if one of them failed. */
int run_plan(struct comm *c, const struct run_plan *plan);

#endif
