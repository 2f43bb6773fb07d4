/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Collects all ranks' measurements on rank 0. All ranks of the communicator call each function. */
#ifndef POVBENCH_GATHER_H
#define POVBENCH_GATHER_H

#include "core/comm.h"
#include "core/stats.h"

/*
 * Relates the clocks of several nodes to rank 0's clock. The offset of a rank's clock is measured
 * by ping-pong. The shortest round trip gives it best, to within half of its time (Cristian 1989;
 * Hoefler, Schneider & Lumsdaine 2008 for collectives). Repeated measurements also yield the drift
 * between the clocks, which corrects times between and after them. Ranks of rank 0's node share
 * its clock.
 */
struct node_clock {
	uint64_t error_ns; /* half of the shortest round trip; 0 on rank 0's node */
	/* This rank's clock minus rank 0's, at the first and the last measurement. */
	int64_t first_ns, ns;
	/* Times of these measurements by rank 0's clock; 0: not measured. */
	uint64_t first_at_ns, at_ns;
	double drift; /* ns per ns */
};

/* All ranks call it, any number of times. Zero k before the first call. */
void node_clock_measure(struct comm *c, struct node_clock *k);
/* True if the last measurement is too old. Rank 0 decides. */
bool node_clock_is_old(struct comm *c, const struct node_clock *k);

/* Convert rank 0's time to this rank's clock, and back. */
uint64_t node_clock_own(const struct node_clock *k, uint64_t first_ns);
uint64_t node_clock_first(const struct node_clock *k, uint64_t own_ns);

/* ---- measurements ---- */

/* Time from the first rank's start to the last one's end by rank 0's clock; result on rank 0. */
double gather_span_ns(struct comm *c, const struct node_clock *clock, uint64_t start_ns,
		      uint64_t end_ns);

/*
 * Clears out on rank 0 and fills it with every rank's samples, one rank after the other. The number
 * of samples may differ between ranks.
 */
void gather_samples(struct comm *c, const struct samples *own, struct samples *out);
/* The same for one rank only. */
void gather_samples_of(struct comm *c, const struct samples *own, int rank, struct samples *out);

#endif
