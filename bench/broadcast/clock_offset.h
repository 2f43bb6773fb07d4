/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What each task's clock says when task 0's says zero, by ping-pong: the round trip that took the shortest time pins the
 * other clock down best, to within half of it (Cristian 1989; Hoefler, Schneider & Lumsdaine 2008 for collectives).
 *
 * A task so near that it must be on the same node has the same clock: its offset is 0 if the measurement allows that.
 */
#ifndef POVBENCH_BROADCAST_CLOCK_OFFSET_H
#define POVBENCH_BROADCAST_CLOCK_OFFSET_H

#include "core/comm.h"

struct clock_offset {
	int64_t ns;	   /* add it to task 0's clock to have this task's */
	uint64_t error_ns; /* half of the shortest round trip; 0 on task 0 */
};

/* All tasks call it; each gets its own. */
void clock_offset_measure(struct comm *c, struct clock_offset *out);

#endif
