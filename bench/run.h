/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Runs benchmarks one after the other on all ranks. */
#ifndef POVBENCH_RUN_H
#define POVBENCH_RUN_H

#include "core/bench.h"
#include "core/comm.h"
#include "lib/option.h"

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

/* ---- command line (args.c) ---- */

/* Parses the command line and translates it into options of benchmarks. */

/* Options as typed; 0 and null: not given. */
struct args {
	struct bench_options opt; /* the members whose options have the same values */
	const char *bytes, *compute, *step, *ci, *warmup;
	bool quick, full, thread_multiple, peers, resume;
	struct option_list only;
	const char *output;
};

extern const struct option_def args_options[];

/*
 * Fills out for the benchmark that runs alone, or for a suite (null). Returns 0, or -EINVAL after
 * printing the error.
 */
int args_read(const struct args *args, const struct bench *alone, struct bench_options *out);
/* The options of a result, for people and for resuming. The caller owns it. */
json_t *args_json(const struct bench_options *opt);

#endif
