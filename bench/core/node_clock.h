/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The clocks of several nodes, told by rank 0's. What a rank's clock says when rank 0's says zero is measured by ping-pong:
 * the round trip that took the shortest time pins the other clock down best, to within half of it (Cristian 1989; Hoefler,
 * Schneider & Lumsdaine 2008 for collectives). Measured again, it also tells how the clocks drift apart, and times in
 * between and behind are corrected by that. Ranks of rank 0's node have its clock.
 */
#ifndef POVBENCH_NODE_CLOCK_H
#define POVBENCH_NODE_CLOCK_H

#include "core/comm.h"

struct node_clock {
	uint64_t error_ns; /* half of the shortest round trip; 0 on rank 0's node */
	/* This rank's clock less rank 0's, the first time and the last, and when by rank 0's clock. */
	int64_t first_ns, ns;
	uint64_t first_at_ns, at_ns; /* 0: not measured */
	double drift;		     /* ns per ns */
};

/* All ranks call it, again whenever they like to; zero it before the first time. */
void node_clock_measure(struct comm *c, struct node_clock *k);
/* For rank 0 to decide: the last measurement is old. */
bool node_clock_is_old(struct comm *c, const struct node_clock *k);

/* Rank 0's time by this rank's clock, and back. */
uint64_t node_clock_own(const struct node_clock *k, uint64_t first_ns);
uint64_t node_clock_first(const struct node_clock *k, uint64_t own_ns);

#endif
