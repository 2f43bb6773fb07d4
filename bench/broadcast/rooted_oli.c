/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * OL_i for the library's other operations with a root.
 *
 * Scatter is a broadcast of different data, and OL_i is valid in the same way. In a flat scatter
 * the root is busy with the others' blocks when i's acknowledgment arrives. Then only the largest
 * OL_i is meaningful, and it is at least the root's own time.
 *
 * Gather and reduce are a fan-in, where an acknowledgment from i does not show when the root has
 * the result. Instead, the time from i's beginning to the root's result is measured, with all
 * others ahead. The root tells only i to begin, and no operation can end without i. The result is
 * OL_i of the method "oli_fan_in". The largest OL_i is the longest path to the root. It does not
 * contain the root's time for messages that arrive simultaneously, so it is a lower bound
 * (symmetric_window, with a common start, measures that).
 */
#include "broadcast/oli.h"

static void run_coll(const struct rooted_case *rc, int root)
{
	enum comm_coll op = (enum comm_coll)rc->op->which;

	rc->comm->ops->coll(rc->comm, op, rc->in, rc->out, rc->bytes, root);
}

static const struct rooted_op rooted_ops[] = {
	{"scatter", "library", true, run_coll, COMM_SCATTER},
	{"gather", "library", true, run_coll, COMM_GATHER},
	{"reduce", "library", true, run_coll, COMM_REDUCE},
	{0},
};

static void method(struct bench_run *run, const struct rooted_case *rc)
{
	if (rc->op->which == COMM_SCATTER)
		oli_measure(run, rc, "oli", OLI_FROM_ROOT);
	else
		oli_measure(run, rc, "oli_fan_in", OLI_TO_ROOT);
}

static const struct rooted_method rooted = {.ops = rooted_ops, .measure = method};

const struct bench bench_rooted_oli = {
	.name = "rooted_oli",
	.group = "broadcast",
	.brief = "scatter, gather, reduce: latency to or from each task, and the largest",
	.source = "de Supinski & Karonis 1999, section 4, carried over; fan-in: ours",
	.kind = RESULT_BROADCAST,
	.ranks_min = 2,
	.method = &rooted,
	.run = rooted_run,
	.estimate_ns = rooted_estimate_ns,
};
