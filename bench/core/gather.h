/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Collects all ranks' measurements on rank 0. All ranks of the communicator call each function. */
#ifndef POVBENCH_GATHER_H
#define POVBENCH_GATHER_H

#include "core/comm.h"
#include "core/node_clock.h"
#include "core/stats.h"

/* Time from the first rank's start to the last one's end by rank 0's clock; result on rank 0. */
double gather_span_ns(struct comm *c, const struct node_clock *clock, uint64_t start_ns,
		      uint64_t end_ns);
/* Sum over all ranks; result on rank 0. */
double gather_sum(struct comm *c, uint64_t value);

/*
 * Clears out on rank 0 and fills it with every rank's samples, one rank after the other. The number
 * of samples may differ between ranks.
 */
void gather_samples(struct comm *c, const struct samples *own, struct samples *out);
/* The same for one rank only. */
void gather_samples_of(struct comm *c, const struct samples *own, int rank, struct samples *out);

#endif
