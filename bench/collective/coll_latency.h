/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Time of a blocking collective over message size. All ranks begin it at the same moment by their
 * clocks (start_window.h). A sample is the longest of the ranks' times of one call. The library's
 * algorithm can be chosen (core/algorithm.h).
 */
#ifndef POVBENCH_COLLECTIVE_COLL_LATENCY_H
#define POVBENCH_COLLECTIVE_COLL_LATENCY_H

#include "collective/coll_data.h"
#include "core/curve.h"

struct coll_latency {
	struct curve curve; /* must be first, because it is the benchmark's method */
	struct coll_data data;
};

/* For struct curve. */
void coll_latency_measure(struct bench_run *run, size_t bytes, struct samples *out);
/* For operations with a block for each rank: size limited by memory, and number of blocks. */
uint64_t coll_latency_bytes_max(const struct bench_run *run);
uint64_t coll_latency_blocks(const struct bench_run *run, size_t bytes);

#endif
