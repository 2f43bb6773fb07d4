/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * OL_i = E_i - RTL_i / 2, each report with its own RTL_i and one untimed operation before E_i, as the paper's figure 9.
 *
 * From the root it holds as long as no task on i's path is still busy with the last operation when the next one reaches
 * it, which is so for the largest OL_i unless the root alone sends everything (flat).
 */
#include "broadcast/oli.h"

struct oli {
	int task;
	enum oli_direction direction;
	struct samples e, rtl; /* E_i and RTL_i of each report */
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

/* Mean of OL_i's reports: the paper's points are means. */
static double report_task(struct bench_run *run, const struct rooted_case *rc, const char *method,
			  const struct oli *oli, const struct samples *s, bool steady)
{
	struct result_point *p = rooted_point_add(run, rc, method);
	struct summary sum;

	stats_summarize(s, &sum);
	result_param(p, "task", (uint64_t)oli->task);
	result_time(p, "oli", s);
	result_time(p, "e", &oli->e);
	result_time(p, "rtl", &oli->rtl);
	result_value(p, "steady", steady);
	return sum.mean;
}

struct oli_max {
	double ns;
	int task;
	bool steady; /* all tasks' reports were */
	struct samples samples;
};

static void measure_task(struct bench_run *run, const struct rooted_case *rc, const char *method,
			 struct oli *oli, struct oli_max *max)
{
	uint64_t limit_ns = rc->time_ns / (uint64_t)(rc->comm->size - 1);
	struct samples s;
	bool steady;
	double mean;
	size_t i;

	samples_init(&s);
	steady = rooted_reports(run, rc, report, oli, limit_ns, &s);
	if (rc->comm->rank == 0) {
		mean = report_task(run, rc, method, oli, &s, steady);
		max->steady = max->steady && steady;
		if (oli->task == 1 || mean > max->ns) {
			max->ns = mean;
			max->task = oli->task;
			samples_clear(&max->samples);
			for (i = 0; i < s.cnt; i++)
				samples_add(&max->samples, s.value[i]);
		}
	}
	samples_release(&s);
}

void oli_measure(struct bench_run *run, const struct rooted_case *rc, const char *method,
		 enum oli_direction direction)
{
	struct oli oli = {.direction = direction};
	struct oli_max max = {.steady = true};
	struct result_point *p;

	samples_init(&max.samples);
	samples_init(&oli.e);
	samples_init(&oli.rtl);
	for (oli.task = 1; oli.task < rc->comm->size; oli.task++) {
		measure_task(run, rc, method, &oli, &max);
		samples_clear(&oli.e);
		samples_clear(&oli.rtl);
	}
	if (rc->comm->rank == 0) {
		p = rooted_point_add(run, rc, method);
		result_time(p, "latency", &max.samples);
		result_value(p, "max_oli", max.ns);
		result_value(p, "max_task", max.task);
		result_value(p, "steady", max.steady);
	}
	samples_release(&oli.rtl);
	samples_release(&oli.e);
	samples_release(&max.samples);
}
