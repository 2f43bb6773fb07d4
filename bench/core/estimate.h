/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Predicts how long a run will take. All benchmarks' estimates use this. */
#ifndef POVBENCH_ESTIMATE_H
#define POVBENCH_ESTIMATE_H

#include "core/bench.h"

/* Assumed cost of a message until something has been measured. */
#define ESTIMATE_LATENCY_NS 20000
#define ESTIMATE_BYTES_PER_NS 1

/* Cost of waiting on this machine. */
struct estimate_machine {
	int node_ranks, core_cnt; /* of rank 0's node */
	/* Time of a synchronisation of two ranks on one core: some us if the library yields. */
	double shared_ns;
};

/* Measures shared_ns; all ranks call it, rank 0 has the result. */
void estimate_probe(struct comm *c, struct estimate_machine *out);
/*
 * True if ranks outnumber cores and the library does not yield: the scheduler then sets the times.
 */
bool estimate_crowded(const struct estimate_machine *m, int ranks);

/*
 * Time of a point whose samples take sample_ns each. Warm-up and the least samples have no limit.
 */
double estimate_point_ns(const struct bench_options *opt, double sample_ns);
/* Extra time, beyond a latency, that this many ranks wait for each other; 0 if each has a core. */
double estimate_wait_ns(const struct bench_run *run, int ranks);
/* The same for ranks that share one core. */
double estimate_shared_wait_ns(const struct bench_run *run, int ranks);

#endif
