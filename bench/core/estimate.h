/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* How long a run will take: what the benchmarks' estimates have in common. */
#ifndef POVBENCH_ESTIMATE_H
#define POVBENCH_ESTIMATE_H

#include "core/bench.h"

/* Of a message, as long as nothing has been measured. */
#define ESTIMATE_LATENCY_NS 20000
#define ESTIMATE_BYTES_PER_NS 1

/* What waiting costs here. */
struct estimate_machine {
	int node_ranks, core_cnt; /* of rank 0's node */
	/* A synchronisation of two ranks on one core: microseconds if the library yields when it waits. */
	double shared_ns;
};

/* Measures shared_ns; all ranks call it, rank 0 has the result. */
void estimate_probe(struct comm *c, struct estimate_machine *out);
/* Ranks that are more than cores, and a library that does not yield: times will be the scheduler's. */
bool estimate_crowded(const struct estimate_machine *m, int ranks);

/* A point by its options when a sample takes so long: warming up and the fewest samples have no limit. */
double estimate_point_ns(const struct bench_options *opt, double sample_ns);
/* What a wait of so many ranks for each other takes beyond a latency: 0 if each has a core. */
double estimate_wait_ns(const struct bench_run *run, int ranks);
/* The same of ranks on one core. */
double estimate_shared_wait_ns(const struct bench_run *run, int ranks);

#endif
