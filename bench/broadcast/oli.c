/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * OL_i = E_i - RTL_i / 2. Each report has its own RTL_i, and one untimed operation before E_i, as
 * in the paper's figure 9. Results are medians of the reports, as for all other methods (the
 * paper: means).
 *
 * From the root the method is valid if no task on i's path is still busy with one operation when
 * the next one reaches it. So E_i must be longer than any task's gap (gap.h). The largest OL_i
 * meets this unless the root alone sends everything (flat). The result states for each task
 * whether it does.
 */
#include "broadcast/gap.h"
#include "broadcast/oli.h"

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
	uint64_t begin = c->ops->now_ns(c), i;

	for (i = 0; i < rc->repeat; i++) {
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

static double report(const struct rooted_case *rc, void *ctx)
{
	struct oli *oli = ctx;
	void (*operate)(const struct rooted_case *rc, int task) = oli->direction == OLI_FROM_ROOT ?
									  operate_from_root :
									  operate_to_root;
	struct comm *c = rc->comm;
	double rtl = round_trip_ns(rc, oli->task), e;
	uint64_t begin, i;

	operate(rc, oli->task);
	begin = c->ops->now_ns(c);
	for (i = 0; i < rc->repeat; i++)
		operate(rc, oli->task);
	e = (double)(c->ops->now_ns(c) - begin) / (double)rc->repeat;
	if (c->rank == 0) {
		samples_add(&oli->rtl, rtl);
		samples_add(&oli->e, e);
	}
	return e - rtl / 2;
}

/* Keeps only the samples of the test that is reported. */
static void samples_cut(struct samples *s, size_t first, size_t cnt)
{
	struct samples cut;
	size_t i;

	samples_init(&cut);
	for (i = first; i < first + cnt && i < s->cnt; i++)
		samples_add(&cut, s->value[i]);
	samples_release(s);
	*s = cut;
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
	size_t i;

	max->outcome.steady = max->outcome.steady && outcome->steady;
	if (outcome->test_cnt > max->outcome.test_cnt)
		max->outcome.test_cnt = outcome->test_cnt;
	if (oli->task > 1 && median <= max->ns)
		return;
	max->ns = median;
	max->task = oli->task;
	max->above_gaps = gap_holds(&oli->gap, &oli->e);
	samples_clear(&max->samples);
	for (i = 0; i < s->cnt; i++)
		samples_add(&max->samples, s->value[i]);
}

static void measure_task(struct bench_run *run, const struct rooted_case *rc, const char *method,
			 struct oli *oli, uint64_t limit_ns, struct oli_max *max)
{
	struct rooted_outcome outcome;
	struct samples s;

	samples_init(&s);
	samples_clear(&oli->e);
	samples_clear(&oli->rtl);
	outcome = rooted_reports(run, rc, report, oli, limit_ns, &s);
	if (rc->comm->rank == 0) {
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

void oli_measure(struct bench_run *run, const struct rooted_case *rc, const char *method,
		 enum oli_direction direction)
{
	/* Measuring the gaps may take as long as one task's share of the time. */
	uint64_t limit_ns = rc->time_ns / (uint64_t)rc->comm->size;
	struct oli oli = {.direction = direction};
	struct oli_max max = {.outcome.steady = true};

	samples_init(&max.samples);
	samples_init(&oli.e);
	samples_init(&oli.rtl);
	gap_init(&oli.gap);
	if (direction == OLI_FROM_ROOT)
		gap_measure(run, rc, limit_ns, &oli.gap);
	for (oli.task = 1; oli.task < rc->comm->size; oli.task++)
		measure_task(run, rc, method, &oli, limit_ns, &max);
	if (rc->comm->rank == 0)
		report_max(run, rc, method, &oli, &max);
	gap_release(&oli.gap);
	samples_release(&oli.rtl);
	samples_release(&oli.e);
	samples_release(&max.samples);
}
