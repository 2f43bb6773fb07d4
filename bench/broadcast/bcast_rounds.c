/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * "Broadcast rounds" (de Supinski & Karonis 1999, section 3): every task is the root once in each
 * round. The overlap of two broadcasts depends on the order of the roots, so both orders are
 * measured. The value is a lower bound of the latency. It equals the latency only if the last task
 * reached is the next root, as in a chain against its direction.
 *
 * The value is the mean latency over all roots. On a grid, another root's broadcast may cross the
 * slow link more often than task 0's, and then the value is above what the other methods report
 * for task 0. The same happens where tasks share memory. A task that passed on the data that it
 * had just received took 1.5 times as long at 4 MiB, because it copied out of another core's
 * cache. So the root has a buffer of its own (rooted.h). The remaining effect is that each task's
 * two buffers alternate in the caches.
 */
#include "broadcast/rooted.h"

static double report(const struct rooted_case *rc, void *ctx)
{
	struct comm *c = rc->comm;
	const bool *descending = ctx;
	uint64_t begin = c->ops->now_ns(c), i;
	int k;

	for (i = 0; i < rc->repeat; i++) {
		for (k = 0; k < c->size; k++)
			rc->op->run(rc, *descending ? c->size - 1 - k : k);
	}
	return (double)(c->ops->now_ns(c) - begin) / ((double)rc->repeat * c->size);
}

static void method(struct bench_run *run, const struct rooted_case *rc)
{
	bool descending = false;

	rooted_measure(run, rc, "rounds_ascending", report, &descending);
	descending = true;
	rooted_measure(run, rc, "rounds_descending", report, &descending);
}

static const struct rooted_method rooted = {.ops = rooted_bcasts, .measure = method, .cases = 2};

const struct bench bench_bcast_rounds = {
	.name = "bcast_rounds",
	.group = "broadcast",
	.brief = "broadcast: rounds with each task as the root, in both orders (a lower bound)",
	.source = "de Supinski & Karonis 1999, section 3, broadcast rounds",
	.kind = RESULT_BROADCAST,
	.ranks_min = 2,
	.method = &rooted,
	.run = rooted_run,
	.estimate_ns = rooted_estimate_ns,
};
