/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * OL_i for the library's other operations with a root.
 *
 * Scatter is a broadcast of different data: OL_i holds as it does there. With a flat scatter, whose root is busy with
 * the others' blocks when i's acknowledgment arrives, only the largest OL_i means something, and it is at least the
 * root's own time.
 *
 * Gather and reduce are a fan-in: an acknowledgment from i says nothing about when the root has the result. Measured
 * instead is the time from i's beginning to the root's result when all others are ahead: the root tells i alone to
 * begin, and no operation can end without i. Reported as OL_i of method "oli_fan_in". The largest of them is the
 * longest path to the root; what the root takes for messages that arrive at the same time is not in it, so it is
 * a lower bound (symmetric_window measures that, with a common start).
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
