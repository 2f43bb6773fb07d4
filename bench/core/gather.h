/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* What all ranks measured, on rank 0. All of a communicator's ranks call each of these. */
#ifndef POVBENCH_GATHER_H
#define POVBENCH_GATHER_H

#include "core/comm.h"
#include "core/node_clock.h"
#include "core/stats.h"

/* From the first rank's start to the last one's end, by rank 0's clock; on rank 0. */
double gather_span_ns(struct comm *c, const struct node_clock *clock, uint64_t start_ns,
		      uint64_t end_ns);
/* The sum over all ranks, on rank 0. */
double gather_sum(struct comm *c, uint64_t value);

/*
 * Every rank's samples, one rank after the other, on rank 0; out is cleared on it first. Ranks may have different
 * numbers of samples.
 */
void gather_samples(struct comm *c, const struct samples *own, struct samples *out);
/* Those of one rank only. */
void gather_samples_of(struct comm *c, const struct samples *own, int rank, struct samples *out);

#endif
