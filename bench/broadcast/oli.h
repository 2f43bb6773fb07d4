/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Latency of an operation with a root to (or from) each single task: OL_i (de Supinski & Karonis
 * 1999, section 4). Only task i acknowledges. So an operation ends along its path before the next
 * one begins, and the acknowledgment costs exactly one message, whose time is known from a
 * ping-pong. The operation's latency is the largest OL_i.
 *
 * The reversed method for a fan-in is ours. The paper only states that there must be one.
 */
#ifndef POVBENCH_BROADCAST_OLI_H
#define POVBENCH_BROADCAST_OLI_H

#include "broadcast/rooted.h"

enum oli_direction {
	OLI_FROM_ROOT, /* data leave the root: task i acknowledges them */
	OLI_TO_ROOT, /* data come to the root: it tells task i to begin; the others start earlier */
};

/*
 * Measures each task in turn. Adds a point with "task" for each, and one with "max_task" for all.
 */
void oli_measure(struct bench_run *run, const struct rooted_case *rc, const char *method,
		 enum oli_direction direction);

#endif
