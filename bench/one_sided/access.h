/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Puts and gets of rank 0 in rank 1's memory, as in the OSU benchmarks by default: memory from
 * MPI_Win_allocate, passive target, one shared lock around all samples of a size. A round is a
 * window of puts or gets, each in a place of its own, and a flush, after which the data have
 * arrived. Rank 1 waits in a receive meanwhile.
 */
#ifndef POVBENCH_ONE_SIDED_ACCESS_H
#define POVBENCH_ONE_SIDED_ACCESS_H

#include "core/curve.h"

enum access_kind { ACCESS_PUT, ACCESS_GET };

/* Times of one put or get, each followed by a flush. */
void access_latency(struct bench_run *run, size_t bytes, enum access_kind kind,
		    struct samples *out);
/* Times of a window of them, divided by their number. */
void access_bandwidth(struct bench_run *run, size_t bytes, enum access_kind kind,
		      struct samples *out);

/*
 * For struct curve: the number of accesses in a window, smaller if it would take too much memory.
 */
uint64_t access_messages(const struct bench_run *run, size_t bytes);
void access_params(const struct bench_run *run, size_t bytes, struct result_point *p);

#endif
