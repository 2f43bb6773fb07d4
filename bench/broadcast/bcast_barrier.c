/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * "Broadcast barrier" (de Supinski & Karonis 1999, section 3): a barrier after each broadcast keeps them apart. The value
 * is an upper bound of the latency, by an amount that nobody can tell: the barrier's own time less what of it overlaps.
 */
#include "broadcast/rooted.h"

static double report(const struct rooted_case *rc, void *unused)
{
	struct comm *c = rc->comm;
	uint64_t begin = c->ops->now_ns(c), i;

	(void)unused;
	for (i = 0; i < rc->repeat; i++) {
		rc->op->run(rc, 0);
		c->ops->coll(c, COMM_BARRIER, NULL, NULL, 0, 0);
	}
	return (double)(c->ops->now_ns(c) - begin) / (double)rc->repeat;
}

static void method(struct bench_run *run, const struct rooted_case *rc)
{
	rooted_measure(run, rc, "barrier", report, NULL);
}

static int run_barrier(struct bench_run *run)
{
	return rooted_sweep(run, rooted_bcasts, method);
}

static uint64_t estimate_ns(const struct bench_run *run)
{
	return rooted_estimate_ns(run, rooted_bcasts, 1);
}

const struct bench bench_bcast_barrier = {
	.name = "bcast_barrier",
	.group = "broadcast",
	.brief = "broadcast: each followed by a barrier (an upper bound)",
	.source = "de Supinski & Karonis 1999, section 3, broadcast barrier",
	.kind = RESULT_BROADCAST,
	.ranks_min = 2,
	.run = run_barrier,
	.estimate_ns = estimate_ns,
};
