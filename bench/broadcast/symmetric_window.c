/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Collectives with a common start (start_window.h): the latency is the last task's end minus that
 * moment, by the common clock. A task that begins too late makes the sample invalid.
 *
 * Symmetric collectives have no root that could time them (de Supinski & Karonis 1999, section 5),
 * so this is the method for them. Operations with a root are measured too, for comparison with
 * OL_i. A single node has one clock. With several nodes the clocks are measured before and during
 * each point, and their error is reported with it.
 */
#include "broadcast/rooted.h"
#include "core/start_window.h"

#define TRIES_PER_SAMPLE 4 /* attempts before a sample is given up */
#define LATE_CNT_MAX 8	   /* late samples after the end of the time */
#define LATE UINT64_MAX	   /* sent instead of an end */

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

/* Returns this task's end by task 0's clock, or LATE. */
static uint64_t run_at(const struct rooted_case *rc, const struct start_window *w,
		       uint64_t start_ns)
{
	struct comm *c = rc->comm;
	bool late = start_window_missed(c, start_ns);

	rc->op->run(rc, 0);
	return late ? LATE : node_clock_first(&w->clock, c->ops->now_ns(c));
}

/* On task 0: the latest end, or LATE. */
static uint64_t last_end(const struct start_window *w, int tasks)
{
	uint64_t last = 0;

	for (int i = 0; i < tasks; i++)
		last = w->all[i] > last ? w->all[i] : last;
	return last;
}

static bool wants_more(const struct bench_options *opt, const struct start_window *w,
		       const struct samples *s, bool over)
{
	if (s->cnt + w->late_cnt >= TRIES_PER_SAMPLE * opt->samples_max)
		return false;
	if (over)
		return s->cnt < MEASURE_SAMPLES_LEAST && w->late_cnt < LATE_CNT_MAX;
	if (s->cnt < opt->samples)
		return true;
	return s->cnt < opt->samples_max && opt->ci_pct > 0 && !stats_settled(s, opt->ci_pct);
}

/* All tasks call it. Fills s on task 0, whose own start is the common one. */
static void take_samples(struct bench_run *run, const struct rooted_case *rc,
			 struct start_window *w, struct samples *s)
{
	struct comm *c = rc->comm;
	uint64_t begin = c->ops->now_ns(c), start, last;
	uint64_t warmup = run->opt->warmup;
	bool more = true;

	while ((start = start_window_begin(c, w, more))) {
		comm_collect(c, run_at(rc, w, start), w->all);
		if (c->rank)
			continue;
		last = last_end(w, c->size);
		if (warmup) {
			warmup--;
			continue;
		}
		start_window_note(w, last == LATE);
		if (last != LATE)
			samples_add(s, (double)(last - start));
		more = wants_more(run->opt, w, s,
				  rc->time_ns && c->ops->now_ns(c) - begin > rc->time_ns);
	}
}

static void method(struct bench_run *run, const struct rooted_case *rc)
{
	struct comm *c = rc->comm;
	struct result_point *p;
	struct start_window w;
	struct samples s = {0};
	uint64_t error_ns;

	start_window_init(c, &w);
	take_samples(run, rc, &w, &s);
	error_ns = start_window_clock_error_ns(c, &w);
	if (c->rank == 0) {
		p = rooted_point_add(run, rc, "window");
		result_time(p, "latency", &s);
		result_value(p, "invalid_samples", (double)w.late_cnt);
		result_value(p, "clock_error_ns", (double)error_ns);
	}
	start_window_release(&w);
	samples_release(&s);
}

static const struct rooted_method rooted = {.ops = window_ops, .measure = method};

const struct bench bench_symmetric_window = {
	.name = "symmetric_window",
	.brief = "all collectives: from a common start by the clock to the last one's end",
	.source = "window-based start; clock offsets by the shortest of many ping-pongs",
	ROOTED(rooted),
};
