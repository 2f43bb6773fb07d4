/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * "Broadcast barrier" (de Supinski & Karonis 1999, section 3): a barrier after each broadcast
 * keeps them apart. The value is an upper bound of the latency. The excess is unknown: it is the
 * barrier's own time minus the part of it that overlaps.
 *
 * The excess depends on the barrier. So there are two: the library's, and the paper's
 * "inefficient" one (figure 5), which is the same for every library. In the latter a word travels
 * twice around the ring of tasks, from task 0 to the last but one task of the second round.
 */
#include "broadcast/rooted.h"

#define TAG_RING 34

static void ring_send(struct comm *c)
{
	struct comm_msg m = {NULL, 0, COMM_CONTIGUOUS};

	c->ops->send(c, &m, (c->rank + 1) % c->size, TAG_RING);
}

static void ring_recv(struct comm *c)
{
	struct comm_msg m = {NULL, 0, COMM_CONTIGUOUS};

	c->ops->recv(c, &m, (c->rank + c->size - 1) % c->size, TAG_RING);
}

/* When the word reaches task n - 2 for the second time, every task knows that all have arrived. */
static void linear_barrier(struct comm *c)
{
	int last = c->size - 1;

	if (c->rank)
		ring_recv(c);
	ring_send(c);
	if (c->rank == last)
		return;
	ring_recv(c);
	if (c->rank < last - 1)
		ring_send(c);
}

static double report(const struct rooted_case *rc, void *ctx)
{
	struct comm *c = rc->comm;
	const bool *linear = ctx;
	uint64_t begin = c->ops->now_ns(c), i;

	for (i = 0; i < rc->repeat; i++) {
		rc->op->run(rc, 0);
		if (*linear)
			linear_barrier(c);
		else
			c->ops->coll(c, COMM_BARRIER, NULL, NULL, 0, 0);
	}
	return (double)(c->ops->now_ns(c) - begin) / (double)rc->repeat;
}

static void method(struct bench_run *run, const struct rooted_case *rc)
{
	bool linear = false;

	rooted_measure(run, rc, "barrier", report, &linear);
	linear = true;
	rooted_measure(run, rc, "barrier_linear", report, &linear);
}

static const struct rooted_method rooted = {.ops = rooted_bcasts, .measure = method, .cases = 2};

const struct bench bench_bcast_barrier = {
	.name = "bcast_barrier",
	.group = "broadcast",
	.brief = "broadcast: each followed by a barrier, the library's or around a ring (upper "
		 "bounds)",
	.source = "de Supinski & Karonis 1999, section 3, broadcast barrier, figure 5",
	.kind = RESULT_BROADCAST,
	.ranks_min = 2,
	.method = &rooted,
	.run = rooted_run,
	.estimate_ns = rooted_estimate_ns,
};
