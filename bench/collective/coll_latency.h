/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What a blocking collective takes, over message size: all ranks begin it at the same moment by their clocks (start_window.h), a
 * sample is the longest of the ranks' times of one call. The library may be told which of its algorithms to use
 * (core/algorithm.h).
 */
#ifndef POVBENCH_COLLECTIVE_COLL_LATENCY_H
#define POVBENCH_COLLECTIVE_COLL_LATENCY_H

#include "collective/coll_data.h"
#include "core/curve.h"

struct coll_latency {
	struct curve curve; /* first: it is the benchmark's method */
	struct coll_data data;
};

/* Of struct curve. */
void coll_latency_measure(struct bench_run *run, size_t bytes, struct samples *out);
/* Of operations with a block of each rank: as many, and so that they fit into memory. */
uint64_t coll_latency_bytes_max(const struct bench_run *run);
uint64_t coll_latency_blocks(const struct bench_run *run, size_t bytes);

#endif
