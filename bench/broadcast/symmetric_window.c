/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Collectives by a common start ("window"): task 0 names a moment that is far enough ahead for the word to reach everybody,
 * all begin then by the common clock, and the latency is the last one's end less that moment. Nothing of a former
 * operation and no barrier is in it. A task that begins more than LATE_NS late makes the sample invalid; when that
 * happens, the next start is set further ahead.
 *
 * Symmetric collectives have no root that could time them (de Supinski & Karonis 1999, section 5), so this is the method for
 * them; those with a root are measured too, to compare with OL_i. One node has one clock; with several, the offsets
 * are measured before each point (clock_offset.h), and their error is reported with it.
 */
#include "broadcast/clock_offset.h"
#include "broadcast/rooted.h"
#include "base/log.h"

#include <stdlib.h>

#define LATE_NS 2000
#define MARGIN_MIN_NS 20000
#define MARGIN_MAX_NS 50000000
#define TRIES_PER_SAMPLE 4 /* before it is given up */
#define LATE UINT64_MAX	   /* instead of an end */

struct window {
	struct clock_offset offset;
	uint64_t margin_ns;
	uint64_t invalid_cnt;
	uint64_t *end_ns; /* task 0: of each task, by task 0's clock */
};

static void run_coll(const struct rooted_case *rc, int root)
{
	enum comm_coll op = (enum comm_coll)rc->op->which;

	rc->comm->ops->coll(rc->comm, op, rc->in, op == COMM_BCAST ? rc->in : rc->out, rc->bytes,
			    root);
}

static const struct rooted_op window_ops[] = {
	{"allgather", "library", true, run_coll, COMM_ALLGATHER},
	{"allreduce", "library", true, run_coll, COMM_ALLREDUCE},
	{"alltoall", "library", true, run_coll, COMM_ALLTOALL},
	{"barrier", "library", true, run_coll, COMM_BARRIER},
	{"bcast", "library", true, run_coll, COMM_BCAST},
	{"gather", "library", true, run_coll, COMM_GATHER},
	{"reduce", "library", true, run_coll, COMM_REDUCE},
	{"scatter", "library", true, run_coll, COMM_SCATTER},
	{0},
};

/* Begins at start_ns of task 0's clock; its own end by that clock, or LATE. */
static uint64_t run_at(const struct rooted_case *rc, const struct window *w, uint64_t start_ns)
{
	static const struct compute wait = {COMPUTE_DEADLINE, COMPUTE_ONE};
	struct comm *c = rc->comm;
	uint64_t start = start_ns + (uint64_t)w->offset.ns, now = c->ops->now_ns(c);

	if (now < start)
		c->ops->compute(c, &wait, start - now);
	now = c->ops->now_ns(c);
	rc->op->run(rc, 0);
	if (now > start + LATE_NS)
		return LATE;
	return c->ops->now_ns(c) - (uint64_t)w->offset.ns;
}

/* Task 0: the latest end, or LATE. */
static uint64_t last_end(const struct window *w, int tasks)
{
	uint64_t last = 0;
	int i;

	for (i = 0; i < tasks; i++)
		last = w->end_ns[i] > last ? w->end_ns[i] : last;
	return last;
}

/* Task 0 takes a try's outcome. */
static void take(struct window *w, int tasks, uint64_t start_ns, struct samples *s)
{
	uint64_t last = last_end(w, tasks);

	if (last != LATE) {
		samples_add(s, (double)(last - start_ns));
		return;
	}
	w->invalid_cnt++;
	if (w->margin_ns < MARGIN_MAX_NS)
		w->margin_ns += w->margin_ns / 4;
}

static bool wants_more(const struct bench_options *opt, const struct window *w,
		       const struct samples *s, bool over)
{
	if (over || s->cnt + w->invalid_cnt >= TRIES_PER_SAMPLE * opt->samples_max)
		return false;
	if (s->cnt < opt->samples)
		return true;
	return s->cnt < opt->samples_max && opt->ci_pct > 0 && !stats_settled(s, opt->ci_pct);
}

/* A word's way to everybody takes less than that of a whole synchronisation. */
static uint64_t first_margin_ns(struct comm *c)
{
	uint64_t begin = c->ops->now_ns(c), ns;

	comm_sync(c, 0);
	comm_tell(c, 0);
	ns = c->ops->now_ns(c) - begin;
	return ns > MARGIN_MIN_NS ? ns : MARGIN_MIN_NS;
}

/* All tasks; samples on task 0. A start of 0 says that there is no other one. */
static void take_samples(struct bench_run *run, const struct rooted_case *rc, struct window *w,
			 struct samples *s)
{
	struct comm *c = rc->comm;
	uint64_t begin = c->ops->now_ns(c), start, end;
	uint64_t warmup = run->opt->warmup;
	bool more = true;

	for (;;) {
		comm_sync(c, 0);
		start = comm_tell(c, more ? c->ops->now_ns(c) + w->margin_ns : 0);
		if (!start)
			break;
		end = run_at(rc, w, start);
		comm_collect(c, end, w->end_ns);
		if (c->rank)
			continue;
		if (warmup)
			warmup--;
		else
			take(w, c->size, start, s);
		more = wants_more(run->opt, w, s,
				  rc->time_ns && c->ops->now_ns(c) - begin > rc->time_ns);
	}
}

static void report(struct bench_run *run, const struct rooted_case *rc, const struct window *w,
		   const struct samples *s)
{
	struct result_point *p = rooted_point_add(run, rc, "window");

	result_time(p, "latency", s);
	result_value(p, "invalid_samples", (double)w->invalid_cnt);
	/* What last_end finds of the errors is the largest. */
	result_value(p, "clock_error_ns", (double)last_end(w, rc->comm->size));
}

static void method(struct bench_run *run, const struct rooted_case *rc)
{
	struct comm *c = rc->comm;
	struct window w = {.end_ns = xcalloc((size_t)c->size, sizeof(*w.end_ns))};
	struct samples s;

	samples_init(&s);
	clock_offset_measure(c, &w.offset);
	w.margin_ns = first_margin_ns(c);
	take_samples(run, rc, &w, &s);
	comm_collect(c, w.offset.error_ns, w.end_ns);
	if (c->rank == 0)
		report(run, rc, &w, &s);
	samples_release(&s);
	free(w.end_ns);
}

static int run_window(struct bench_run *run)
{
	return rooted_sweep(run, window_ops, method);
}

static uint64_t estimate_ns(const struct bench_run *run)
{
	return rooted_estimate_ns(run, window_ops, 1);
}

const struct bench bench_symmetric_window = {
	.name = "symmetric_window",
	.group = "broadcast",
	.brief = "all collectives: from a common start by the clock to the last one's end",
	.source = "window-based start; clock offsets by the shortest of many ping-pongs",
	.kind = RESULT_BROADCAST,
	.ranks_min = 2,
	.run = run_window,
	.estimate_ns = estimate_ns,
};
