/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * "Broadcast acknowledge" (de Supinski & Karonis 1999, section 3): after each broadcast every task
 * sends the root an acknowledgment. The result is an upper bound of the latency. With many tasks
 * it consists mostly of the acknowledgments, which the root receives one after the other.
 */
#include "broadcast/rooted.h"

static double report(const struct rooted_case *rc, void *unused)
{
	struct comm *c = rc->comm;
	uint64_t begin = c->ops->now_ns(c), i;
	int k;

	(void)unused;
	for (i = 0; i < rc->repeat; i++) {
		rc->op->run(rc, 0);
		if (c->rank)
			rooted_ack_send(c, 0);
		else
			for (k = 1; k < c->size; k++)
				rooted_ack_recv(c, COMM_ANY);
	}
	return (double)(c->ops->now_ns(c) - begin) / (double)rc->repeat;
}

static void method(struct bench_run *run, const struct rooted_case *rc)
{
	rooted_measure(run, rc, "acknowledge", report, NULL);
}

static const struct rooted_method rooted = {.ops = rooted_bcasts, .measure = method};

const struct bench bench_bcast_ack = {
	.name = "bcast_ack",
	.group = "broadcast",
	.brief = "broadcast: each acknowledged by every task (an upper bound)",
	.source = "de Supinski & Karonis 1999, section 3, broadcast acknowledge",
	.kind = RESULT_BROADCAST,
	.ranks_min = 2,
	.method = &rooted,
	.run = rooted_run,
	.estimate_ns = rooted_estimate_ns,
};
