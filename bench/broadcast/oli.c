/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Latency of an operation with a root to (or from) each single task: OL_i (de Supinski & Karonis
 * 1999, section 4). Only task i acknowledges. So an operation ends along its path before the next
 * one begins, and the acknowledgment costs exactly one message, whose time is known from a
 * ping-pong. The operation's latency is the largest OL_i.
 *
 * The reversed method for a fan-in is ours. The paper only states that there must be one.
 *
 * OL_i = E_i - RTL_i / 2. Each report has its own RTL_i, and one untimed operation before E_i, as
 * in the paper's figure 9. Results are medians of the reports, as for all other methods (the
 * paper: means).
 *
 * From the root the method is valid if no task on i's path is still busy with one operation when
 * the next one reaches it. So E_i must be longer than any task's gap. The largest OL_i meets this
 * unless the root alone sends everything (flat). The result states for each task whether it does.
 */
#include "broadcast/rooted.h"

#include "lib/log.h"

#include <stdlib.h>

/* ---- the gap ---- */

/*
 * The gap g_j of an operation with a root: the least time from one operation to the next at task j
 * (de Supinski & Karonis 1999, section 2). OL_i is valid if E_i is longer than the gap of every
 * task on i's path (section 4), because then no task is still busy with one operation when the
 * next one reaches it. The path of the library's operation is unknown, so all tasks are measured.
 *
 * The root receives an acknowledgment for each operation here too, but one that has already
 * arrived. If the root is no faster here than in E_i, it never waited for the acknowledgment, and
 * E_i is the root's own time instead of the latency.
 *
 * Every task times a number of consecutive operations. The acknowledgments are sent in advance, at
 * most as many as a library can buffer without trouble.
 */
struct gap {
	struct samples ns; /* of the task with the longest gap */
	int task;
};

#define REPORTS 8
#define REPEAT_MAX 100
#define PS_PER_NS 1000 /* words carry picoseconds, to keep fractions of a ns */

/* The first operation is not timed; after it all tasks are in step. */
static double gap_report(const struct rooted_case *rc)
{
	struct comm *c = rc->comm;
	uint64_t repeat = rc->repeat < REPEAT_MAX ? rc->repeat : REPEAT_MAX, begin;

	for (uint64_t i = 0; c->rank == 1 && i < repeat; i++)
		rooted_ack_send(c, 0);
	comm_sync(c, 0);
	rc->op->run(rc, 0);
	begin = c->ops->now_ns(c);
	for (uint64_t i = 0; i < repeat; i++) {
		rc->op->run(rc, 0);
		if (c->rank == 0)
			rooted_ack_recv(c, 1);
	}
	return (double)(c->ops->now_ns(c) - begin) / (double)repeat;
}

/* On task 0: keeps the samples of the task with the longest median. */
static void gap_take_longest(const struct samples *task, int cnt, struct gap *out)
{
	double longest = -1, median;

	for (int i = 0; i < cnt; i++) {
		median = stats_quantile(&task[i], 0.5);
		if (median <= longest)
			continue;
		longest = median;
		out->task = i;
	}
	samples_clear(&out->ns);
	samples_append(&out->ns, &task[out->task]);
}

/*
 * Measures the gap for at most limit_ns (0: no limit) plus one report. All tasks call it. Fills
 * out on task 0.
 */
static void gap_measure(struct bench_run *run, const struct rooted_case *rc, uint64_t limit_ns,
			struct gap *out)
{
	struct comm *c = rc->comm;
	size_t cnt = (size_t)c->size, reports = 0;
	struct samples *task = xcalloc(cnt, sizeof(*task));
	uint64_t *ps = xcalloc(cnt, sizeof(*ps)), begin = c->ops->now_ns(c);
	uint64_t wanted = run->opt->samples < REPORTS ? run->opt->samples : REPORTS;
	bool more = true;

	while (comm_sync(c, more)) {
		comm_collect(c, (uint64_t)(gap_report(rc) * PS_PER_NS), ps);
		for (size_t i = 0; c->rank == 0 && i < cnt; i++)
			samples_add(&task[i], (double)ps[i] / PS_PER_NS);
		more = ++reports < wanted && !(limit_ns && c->ops->now_ns(c) - begin > limit_ns);
	}
	if (c->rank == 0)
		gap_take_longest(task, c->size, out);
	for (size_t i = 0; i < cnt; i++)
		samples_release(&task[i]);
	free(task);
	free(ps);
}

/*
 * On task 0: true if E_i is above all gaps, comparing the nearest ends of the medians' intervals.
 */
static bool gap_holds(const struct gap *g, const struct samples *e)
{
	struct summary gap, own;

	stats_summarize(&g->ns, &gap);
	stats_summarize(e, &own);
	return own.ci_low > gap.ci_high;
}

/* ---- OL_i ---- */

enum oli_direction {
	OLI_FROM_ROOT, /* data leave the root: task i acknowledges them */
	/* data come to the root, which signals task i to begin; the others start earlier */
	OLI_TO_ROOT,
};

struct oli {
	int task;
	enum oli_direction direction;
	struct samples e, rtl; /* E_i and RTL_i of each report, including the warm-up's */
	struct gap gap;	       /* only for OLI_FROM_ROOT */
};

/* Mean round trip of an acknowledgment between tasks 0 and i. */
static double round_trip_ns(const struct rooted_case *rc, int task)
{
	struct comm *c = rc->comm;
	uint64_t begin = c->ops->now_ns(c);

	for (uint64_t i = 0; i < rc->repeat; i++) {
		if (c->rank == 0) {
			rooted_ack_send(c, task);
			rooted_ack_recv(c, task);
		} else if (c->rank == task) {
			rooted_ack_recv(c, 0);
			rooted_ack_send(c, 0);
		}
	}
	return (double)(c->ops->now_ns(c) - begin) / (double)rc->repeat;
}

static void operate_from_root(const struct rooted_case *rc, int task)
{
	rc->op->run(rc, 0);
	if (rc->comm->rank == 0)
		rooted_ack_recv(rc->comm, task);
	else if (rc->comm->rank == task)
		rooted_ack_send(rc->comm, 0);
}

static void operate_to_root(const struct rooted_case *rc, int task)
{
	if (rc->comm->rank == 0)
		rooted_ack_send(rc->comm, task);
	else if (rc->comm->rank == task)
		rooted_ack_recv(rc->comm, 0);
	rc->op->run(rc, 0);
}

static double oli_report(const struct rooted_case *rc, void *ctx)
{
	struct oli *oli = ctx;
	void (*operate)(const struct rooted_case *rc, int task) = oli->direction == OLI_FROM_ROOT ?
									  operate_from_root :
									  operate_to_root;
	struct comm *c = rc->comm;
	double rtl = round_trip_ns(rc, oli->task), e;
	uint64_t begin;

	operate(rc, oli->task);
	begin = c->ops->now_ns(c);
	for (uint64_t i = 0; i < rc->repeat; i++)
		operate(rc, oli->task);
	e = (double)(c->ops->now_ns(c) - begin) / (double)rc->repeat;
	if (c->rank == 0) {
		samples_add(&oli->rtl, rtl);
		samples_add(&oli->e, e);
	}
	return e - rtl / 2;
}

static void report_task(struct bench_run *run, const struct rooted_case *rc, const char *method,
			const struct oli *oli, const struct samples *s,
			const struct rooted_outcome *outcome)
{
	struct result_point *p = rooted_point_add(run, rc, method);

	result_param(p, "task", (uint64_t)oli->task);
	result_time(p, "oli", s);
	result_time(p, "e", &oli->e);
	result_time(p, "rtl", &oli->rtl);
	rooted_outcome_add(p, outcome);
	if (oli->direction == OLI_FROM_ROOT)
		result_value(p, "above_gaps", gap_holds(&oli->gap, &oli->e));
}

/* The task with the largest median. */
struct oli_max {
	double ns;
	int task;
	bool above_gaps;
	struct rooted_outcome
		outcome; /* steady if all tasks' reports were; largest number of tests */
	struct samples samples;
};

static void max_take(struct oli_max *max, const struct oli *oli, const struct samples *s,
		     const struct rooted_outcome *outcome)
{
	double median = stats_quantile(s, 0.5);

	max->outcome.steady = max->outcome.steady && outcome->steady;
	if (outcome->test_cnt > max->outcome.test_cnt)
		max->outcome.test_cnt = outcome->test_cnt;
	if (oli->task > 1 && median <= max->ns)
		return;
	max->ns = median;
	max->task = oli->task;
	max->above_gaps = gap_holds(&oli->gap, &oli->e);
	samples_clear(&max->samples);
	samples_append(&max->samples, s);
}

static void measure_task(struct bench_run *run, const struct rooted_case *rc, const char *method,
			 struct oli *oli, uint64_t limit_ns, struct oli_max *max)
{
	struct rooted_outcome outcome;
	struct samples s = {0};

	samples_clear(&oli->e);
	samples_clear(&oli->rtl);
	outcome = rooted_reports(run, rc, oli_report, oli, limit_ns, &s);
	if (rc->comm->rank == 0) {
		/* Keep only the samples of the test that is reported. */
		samples_cut(&oli->e, outcome.first, s.cnt);
		samples_cut(&oli->rtl, outcome.first, s.cnt);
		report_task(run, rc, method, oli, &s, &outcome);
		max_take(max, oli, &s, &outcome);
	}
	samples_release(&s);
}

static void report_max(struct bench_run *run, const struct rooted_case *rc, const char *method,
		       const struct oli *oli, const struct oli_max *max)
{
	struct result_point *p = rooted_point_add(run, rc, method);

	result_time(p, "latency", &max->samples);
	result_value(p, "max_task", max->task);
	rooted_outcome_add(p, &max->outcome);
	if (oli->direction != OLI_FROM_ROOT)
		return;
	result_time(p, "gap", &oli->gap.ns);
	result_value(p, "gap_task", oli->gap.task);
	result_value(p, "above_gaps", max->above_gaps);
}

/*
 * Measures each task in turn. Adds a point with "task" for each, and one with "max_task" for all.
 */
static void oli_measure(struct bench_run *run, const struct rooted_case *rc, const char *method,
			enum oli_direction direction)
{
	/* Measuring the gaps may take as long as one task's share of the time. */
	uint64_t limit_ns = rc->time_ns / (uint64_t)rc->comm->size;
	struct oli oli = {.direction = direction};
	struct oli_max max = {.outcome.steady = true};

	if (direction == OLI_FROM_ROOT)
		gap_measure(run, rc, limit_ns, &oli.gap);
	for (oli.task = 1; oli.task < rc->comm->size; oli.task++)
		measure_task(run, rc, method, &oli, limit_ns, &max);
	if (rc->comm->rank == 0)
		report_max(run, rc, method, &oli, &max);
	samples_release(&oli.gap.ns);
	samples_release(&oli.rtl);
	samples_release(&oli.e);
	samples_release(&max.samples);
}

/* ---- the benchmarks ---- */

static void bcast_oli_measure(struct bench_run *run, const struct rooted_case *rc)
{
	oli_measure(run, rc, "oli", OLI_FROM_ROOT);
}

static const struct rooted_method bcast_oli = {.ops = rooted_bcasts, .measure = bcast_oli_measure};

const struct bench bench_bcast_oli = {
	.name = "bcast_oli",
	.brief = "broadcast: latency to each task, acknowledged by it alone, and the largest",
	.source = "de Supinski & Karonis 1999, section 4, OL_i",
	ROOTED(bcast_oli),
};

/*
 * OL_i for the library's other operations with a root.
 *
 * Scatter is a broadcast of different data, and OL_i is valid in the same way. In a flat scatter
 * the root is busy with the others' blocks when i's acknowledgment arrives. Then only the largest
 * OL_i is meaningful, and it is at least the root's own time.
 *
 * Gather and reduce are a fan-in, where an acknowledgment from i does not show when the root has
 * the result. Instead, the time from i's beginning to the root's result is measured, with all
 * others ahead. Only i waits for the root's signal to begin, and no operation can end without i.
 * The result is OL_i of the method "oli_fan_in". The largest OL_i is the longest path to the root.
 * It does not
 * contain the root's time for messages that arrive simultaneously, so it is a lower bound
 * (symmetric_window, with a common start, measures that).
 */
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

static void rooted_oli_measure(struct bench_run *run, const struct rooted_case *rc)
{
	if (rc->op->which == COMM_SCATTER)
		oli_measure(run, rc, "oli", OLI_FROM_ROOT);
	else
		oli_measure(run, rc, "oli_fan_in", OLI_TO_ROOT);
}

static const struct rooted_method rooted_oli = {.ops = rooted_ops, .measure = rooted_oli_measure};

const struct bench bench_rooted_oli = {
	.name = "rooted_oli",
	.brief = "scatter, gather, reduce: latency to or from each task, and the largest",
	.source = "de Supinski & Karonis 1999, section 4, carried over; fan-in: ours",
	ROOTED(rooted_oli),
};
