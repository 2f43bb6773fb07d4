/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The methods of de Supinski & Karonis 1999, section 3, which bound a broadcast's latency: many
 * broadcasts in a row, kept apart by something whose own time is part of the result.
 */
#include "broadcast/rooted.h"

#define TAG_RING 34

/* Mean time of one of M consecutive broadcasts, each followed by `apart`, which may be null. */
static double bound_report(const struct rooted_case *rc, void *ctx)
{
	void (*apart)(struct comm * c) = *(void (**)(struct comm *))ctx;
	struct comm *c = rc->comm;
	uint64_t begin = c->ops->now_ns(c);

	for (uint64_t i = 0; i < rc->repeat; i++) {
		rc->op->run(rc, 0);
		if (apart)
			apart(c);
	}
	return (double)(c->ops->now_ns(c) - begin) / (double)rc->repeat;
}

static void bound_measure(struct bench_run *run, const struct rooted_case *rc, const char *method,
			  void (*apart)(struct comm *c))
{
	rooted_measure(run, rc, method, bound_report, &apart);
}

/* ---- send latency ---- */

/*
 * "Send latency" (de Supinski & Karonis 1999, section 3): the root's time for one of M consecutive
 * broadcasts. It is not the latency but the gap g_0 between broadcasts at the root: a chain looks
 * the same with any number of tasks. It is included because many people report it.
 */
static void send_latency_measure(struct bench_run *run, const struct rooted_case *rc)
{
	bound_measure(run, rc, "send_latency", NULL);
}

static const struct rooted_method send_latency = {.ops = rooted_bcasts,
						  .measure = send_latency_measure};

const struct bench bench_bcast_send_latency = {
	.name = "bcast_send_latency",
	.brief = "broadcast: the root's time for one of many in a row (the gap, not the latency)",
	.source = "de Supinski & Karonis 1999, section 3, send latency",
	ROOTED(send_latency),
};

/* ---- acknowledge ---- */

/*
 * "Broadcast acknowledge" (de Supinski & Karonis 1999, section 3): after each broadcast every task
 * sends the root an acknowledgment. The result is an upper bound of the latency. With many tasks
 * it consists mostly of the acknowledgments, which the root receives one after the other.
 */
static void all_acknowledge(struct comm *c)
{
	if (c->rank)
		rooted_ack_send(c, 0);
	for (int k = 1; c->rank == 0 && k < c->size; k++)
		rooted_ack_recv(c, COMM_ANY);
}

static void ack_measure(struct bench_run *run, const struct rooted_case *rc)
{
	bound_measure(run, rc, "acknowledge", all_acknowledge);
}

static const struct rooted_method ack = {.ops = rooted_bcasts, .measure = ack_measure};

const struct bench bench_bcast_ack = {
	.name = "bcast_ack",
	.brief = "broadcast: each acknowledged by every task (an upper bound)",
	.source = "de Supinski & Karonis 1999, section 3, broadcast acknowledge",
	ROOTED(ack),
};

/* ---- barrier ---- */

/*
 * "Broadcast barrier" (de Supinski & Karonis 1999, section 3): a barrier after each broadcast
 * keeps them apart. The value is an upper bound of the latency. The excess is unknown: it is the
 * barrier's own time minus the part of it that overlaps.
 *
 * The excess depends on the barrier. So there are two: the library's, and the paper's
 * "inefficient" one (figure 5), which is the same for every library. In the latter a word travels
 * twice around the ring of tasks, from task 0 to the last but one task of the second round.
 */
static void library_barrier(struct comm *c)
{
	c->ops->coll(c, COMM_BARRIER, NULL, NULL, 0, 0);
}

/* When the word reaches task n - 2 for the second time, every task knows that all have arrived. */
static void linear_barrier(struct comm *c)
{
	int last = c->size - 1, next = (c->rank + 1) % c->size;
	int before = (c->rank + last) % c->size;

	if (c->rank)
		comm_await(c, before, TAG_RING);
	comm_signal(c, next, TAG_RING);
	if (c->rank == last)
		return;
	comm_await(c, before, TAG_RING);
	if (c->rank < last - 1)
		comm_signal(c, next, TAG_RING);
}

static void barrier_measure(struct bench_run *run, const struct rooted_case *rc)
{
	bound_measure(run, rc, "barrier", library_barrier);
	bound_measure(run, rc, "barrier_linear", linear_barrier);
}

static const struct rooted_method barrier = {
	.ops = rooted_bcasts, .measure = barrier_measure, .cases = 2};

const struct bench bench_bcast_barrier = {
	.name = "bcast_barrier",
	.brief = "broadcast: each followed by a barrier, the library's or around a ring (upper "
		 "bounds)",
	.source = "de Supinski & Karonis 1999, section 3, broadcast barrier, figure 5",
	ROOTED(barrier),
};

/* ---- rounds ---- */

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

static double rounds_report(const struct rooted_case *rc, void *ctx)
{
	struct comm *c = rc->comm;
	const bool *descending = ctx;
	uint64_t begin = c->ops->now_ns(c);

	for (uint64_t i = 0; i < rc->repeat; i++) {
		for (int k = 0; k < c->size; k++)
			rc->op->run(rc, *descending ? c->size - 1 - k : k);
	}
	return (double)(c->ops->now_ns(c) - begin) / ((double)rc->repeat * c->size);
}

static void rounds_measure(struct bench_run *run, const struct rooted_case *rc)
{
	bool descending = false;

	rooted_measure(run, rc, "rounds_ascending", rounds_report, &descending);
	descending = true;
	rooted_measure(run, rc, "rounds_descending", rounds_report, &descending);
}

static const struct rooted_method rounds = {
	.ops = rooted_bcasts, .measure = rounds_measure, .cases = 2};

const struct bench bench_bcast_rounds = {
	.name = "bcast_rounds",
	.brief = "broadcast: rounds with each task as the root, in both orders (a lower bound)",
	.source = "de Supinski & Karonis 1999, section 3, broadcast rounds",
	ROOTED(rounds),
};
