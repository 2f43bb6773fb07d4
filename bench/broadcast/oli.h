/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Latency of an operation with a root to (or from) each task by itself: OL_i (de Supinski & Karonis 1999, section 4).
 * Only task i acknowledges, so that one operation is over along its path before the next begins, and the acknowledgment
 * costs exactly one message, known from a ping-pong. The operation's latency is the largest OL_i.
 *
 * The turned-round method for a fan-in is ours: the paper only says that there must be another one.
 */
#ifndef POVBENCH_BROADCAST_OLI_H
#define POVBENCH_BROADCAST_OLI_H

#include "broadcast/rooted.h"

enum oli_direction {
	OLI_FROM_ROOT, /* data leave the root: task i tells that it has them */
	OLI_TO_ROOT,   /* data come to the root: it tells task i to begin, the others go ahead */
};

/* Measures each task in turn; a point with the parameter "task" each, and one with the value "max_task" for all. */
void oli_measure(struct bench_run *run, const struct rooted_case *rc, const char *method,
		 enum oli_direction direction);

#endif
