/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * "Send latency" (de Supinski & Karonis 1999, section 3): the root's time for one of M consecutive
 * broadcasts. It is not the latency but the gap g_0 between broadcasts at the root: a chain looks
 * the same with any number of tasks. It is included because many people report it.
 */
#include "broadcast/rooted.h"

static double report(const struct rooted_case *rc, void *unused)
{
	struct comm *c = rc->comm;
	uint64_t begin = c->ops->now_ns(c), i;

	(void)unused;
	for (i = 0; i < rc->repeat; i++)
		rc->op->run(rc, 0);
	return (double)(c->ops->now_ns(c) - begin) / (double)rc->repeat;
}

static void method(struct bench_run *run, const struct rooted_case *rc)
{
	rooted_measure(run, rc, "send_latency", report, NULL);
}

static const struct rooted_method rooted = {.ops = rooted_bcasts, .measure = method};

const struct bench bench_bcast_send_latency = {
	.name = "bcast_send_latency",
	.group = "broadcast",
	.brief = "broadcast: the root's time for one of many in a row (the gap, not the latency)",
	.source = "de Supinski & Karonis 1999, section 3, send latency",
	.kind = RESULT_BROADCAST,
	.ranks_min = 2,
	.method = &rooted,
	.run = rooted_run,
	.estimate_ns = rooted_estimate_ns,
};
