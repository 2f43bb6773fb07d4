/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The gap g_j of an operation with a root: the least time from one to the next at task j (de Supinski & Karonis 1999,
 * section 2). OL_i holds if E_i is longer than the gap of every task on i's path (section 4): then no task is still busy
 * with the last operation when the next one reaches it. Nobody knows the library's path, so all tasks are asked.
 *
 * The root takes an acknowledgment for each operation here, too, which is there already: a root that is no faster when it
 * need not wait for it was never kept waiting, and E_i is its own time rather than the latency.
 */
#ifndef POVBENCH_BROADCAST_GAP_H
#define POVBENCH_BROADCAST_GAP_H

#include "broadcast/rooted.h"

struct gap {
	struct samples ns; /* of the task whose gap is the longest */
	int task;
};

void gap_init(struct gap *g);
void gap_release(struct gap *g);
/* All tasks call it; filled on task 0. Takes limit_ns (0: as long as it takes) and one report at most. */
void gap_measure(struct bench_run *run, const struct rooted_case *rc, uint64_t limit_ns,
		 struct gap *out);
/* On task 0: E_i is above all gaps, the ends of the medians' intervals that are nearest to each other compared. */
bool gap_holds(const struct gap *g, const struct samples *e);

#endif
