/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The gap g_j of an operation with a root: the least time from one operation to the next at task j
 * (de Supinski & Karonis 1999, section 2). OL_i is valid if E_i is longer than the gap of every
 * task on i's path (section 4), because then no task is still busy with one operation when the
 * next one reaches it. The path of the library's operation is unknown, so all tasks are measured.
 *
 * The root receives an acknowledgment for each operation here too, but one that has already
 * arrived. If the root is no faster here than in E_i, it never waited for the acknowledgment, and
 * E_i is the root's own time instead of the latency.
 */
#ifndef POVBENCH_BROADCAST_GAP_H
#define POVBENCH_BROADCAST_GAP_H

#include "broadcast/rooted.h"

struct gap {
	struct samples ns; /* of the task with the longest gap */
	int task;
};

void gap_init(struct gap *g);
void gap_release(struct gap *g);
/*
 * Measures the gap for at most limit_ns (0: no limit) plus one report. All tasks call it. Fills
 * out on task 0.
 */
void gap_measure(struct bench_run *run, const struct rooted_case *rc, uint64_t limit_ns,
		 struct gap *out);
/*
 * On task 0: true if E_i is above all gaps, comparing the nearest ends of the medians' intervals.
 */
bool gap_holds(const struct gap *g, const struct samples *e);

#endif
