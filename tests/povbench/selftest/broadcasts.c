/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Broadcasts and other collectives, all messages eager. When each task has finished follows from the pattern and from the
 * link between the two tasks of each message; that is worked out here from the patterns' definitions. OL_i and the
 * common start must give it exactly, the other methods must be above or below it, as de Supinski & Karonis 1999 say.
 */
#include "selftest/case.h"

#include "core/classify_list.h"

#include <math.h>
#include <string.h>

#define RANKS 10
#define NEAR_NS 3000
#define FAR_NS 40000
#define MEASURED_AGAIN_NS 1e7 /* clocks of nodes, the first time */

struct pattern {
	const struct model_settings *m;
	int tasks;
	double bytes;
};

/* ---- machines ---- */

static void logp(struct model_settings *m, struct bench_options *opt)
{
	m->ranks = RANKS;
	m->eager_bytes = UINT64_MAX;
	m->latency_ns = NEAR_NS;
	m->send_ns = 500;
	m->recv_ns = 300;
	opt->bytes_min = 256;
	opt->bytes_max = 4096;
	opt->step = 16;
	/* Reports are as many as the benchmarks' own rule asks for. */
	opt->samples = 8;
	opt->samples_max = 30;
}

static void logp_linear(struct model_settings *m, struct bench_options *opt)
{
	logp(m, opt);
	m->bcast = MODEL_BCAST_LINEAR;
}

static void logp_backward(struct model_settings *m, struct bench_options *opt)
{
	logp(m, opt);
	m->bcast = MODEL_BCAST_BACKWARD;
}

/* Numbers of tasks in between, too. */
static void logp_any(struct model_settings *m, struct bench_options *opt)
{
	logp(m, opt);
	opt->tasks = "3,5-7,9";
	opt->warmup = 2;
}

/* The root is busy for longer than it takes to hear from the first task. */
static void logp_flat(struct model_settings *m, struct bench_options *opt)
{
	logp(m, opt);
	m->bcast = MODEL_BCAST_FLAT;
	m->send_ns = 2000;
}

/* Two sites of a grid, every second task at the other one. */
static double grid_link_ns(const void *ctx, int from, int to)
{
	(void)ctx;
	return (from ^ to) & 1 ? FAR_NS : NEAR_NS;
}

static void grid(struct model_settings *m, struct bench_options *opt)
{
	logp(m, opt);
	m->link_ns = grid_link_ns;
}

/* ---- what follows from the patterns ---- */

static double wire_ns(const struct pattern *p, int from, int to)
{
	double link = p->m->link_ns ? p->m->link_ns(p->m->link_ctx, from, to) : p->m->latency_ns;

	return link + p->bytes * p->m->byte_ns;
}

static int low_bit(int v, int tasks)
{
	int bit = 1;

	while (bit < tasks && !(v & bit))
		bit *= 2;
	return bit;
}

/* Tasks that v serves after the one at distance `after`, of the binomial tree. */
static int children(int v, int tasks, int least, int below)
{
	int bit, cnt = 0;

	for (bit = 1; bit < below; bit *= 2)
		cnt += bit >= least && v + bit < tasks;
	return cnt;
}

static int child_cnt(int v, int tasks)
{
	return children(v, tasks, 1, low_bit(v, tasks));
}

/* When v has the data; the farthest child is served first. */
static double binomial_arrival_ns(const struct pattern *p, int v)
{
	int bit = low_bit(v, p->tasks), parent = v - bit;

	if (!v)
		return 0;
	return binomial_arrival_ns(p, parent) +
	       children(parent, p->tasks, bit, low_bit(parent, p->tasks)) * p->m->send_ns +
	       wire_ns(p, parent, v) + p->m->recv_ns;
}

/* A chain from task 0 in steps of ±1. */
static double chain_arrival_ns(const struct pattern *p, int v, int step)
{
	double ns = 0;
	int at, next;

	for (at = 0; at != v; at = next) {
		next = (at + step + p->tasks) % p->tasks;
		ns += p->m->send_ns + wire_ns(p, at, next) + p->m->recv_ns;
	}
	return ns;
}

static const char *const library[] = {
	[MODEL_BCAST_BINOMIAL] = "binomial",
	[MODEL_BCAST_LINEAR] = "linear",
	[MODEL_BCAST_BACKWARD] = "backward",
	[MODEL_BCAST_FLAT] = "flat",
};

/* When v has passed on what it has to. */
static double finish_ns(const struct pattern *p, const char *algorithm, int v)
{
	int step, last;

	if (!strcmp(algorithm, "library"))
		algorithm = library[p->m->bcast];
	if (!strcmp(algorithm, "flat"))
		return (v ? v : p->tasks - 1) * p->m->send_ns +
		       (v ? wire_ns(p, 0, v) + p->m->recv_ns : 0);
	if (!strcmp(algorithm, "binomial"))
		return binomial_arrival_ns(p, v) + child_cnt(v, p->tasks) * p->m->send_ns;
	step = strcmp(algorithm, "linear") ? -1 : 1;
	last = step > 0 ? p->tasks - 1 : 1;
	return chain_arrival_ns(p, v, step) + (v == last ? 0 : p->m->send_ns);
}

static double last_finish_ns(const struct pattern *p, const char *algorithm)
{
	double last = 0;
	int v;

	for (v = 0; v < p->tasks; v++)
		last = fmax(last, finish_ns(p, algorithm, v));
	return last;
}

/* When v has all of its subtree, everybody beginning at 0: nearest children first. */
static double reduced_ns(const struct pattern *p, int v)
{
	double ns = 0, arrival;
	int bit;

	for (bit = 1; bit < low_bit(v, p->tasks); bit *= 2) {
		if (v + bit >= p->tasks)
			continue;
		arrival = reduced_ns(p, v + bit) + p->m->send_ns + wire_ns(p, v + bit, v);
		ns = fmax(ns, arrival) + p->m->recv_ns;
	}
	return ns;
}

/* From task i's beginning, everybody else being ahead, to the root's result. */
static double reduce_path_ns(const struct pattern *p, int i)
{
	double ns = child_cnt(i, p->tasks) * p->m->recv_ns;
	int v, bit, parent;

	for (v = i; v; v = parent) {
		bit = low_bit(v, p->tasks);
		parent = v - bit;
		ns += p->m->send_ns + wire_ns(p, v, parent) +
		      children(parent, p->tasks, bit, low_bit(parent, p->tasks)) * p->m->recv_ns;
	}
	return ns;
}

/* ---- checks ---- */

static struct pattern pattern_of(struct selftest *t, size_t i)
{
	const struct result_point *p = result_point_at(t->result, i);

	return (struct pattern){&t->model, (int)result_number(p, "tasks"),
				result_number(p, "bytes")};
}

static void expect_about(struct selftest *t, size_t i, const char *name, double expected,
			 double tolerance)
{
	struct pattern p = pattern_of(t, i);

	selftest_expect(t, result_number(result_point_at(t->result, i), name), expected, tolerance,
			"%s of %s %s (%s) to %d tasks, %.0f bytes", name,
			classify_text(t->result, i, "algorithm"), classify_text(t->result, i, "op"),
			classify_text(t->result, i, "method"), p.tasks, p.bytes);
}

static void expect_time(struct selftest *t, size_t i, const char *name, double expected)
{
	/* A reading of the clock each side, of many operations. */
	expect_about(t, i, name, expected, 4);
}

/*
 * A flat root is never kept waiting by a task whose acknowledgment is there before all others are served; in chains
 * and trees that cannot be.
 */
static bool keeps_waiting(const struct pattern *p, const char *algorithm, int task)
{
	const struct model_settings *m = p->m;
	struct pattern empty = {m, p->tasks, 0};

	if (strcmp(algorithm, "library") || m->bcast != MODEL_BCAST_FLAT)
		return true;
	return finish_ns(p, algorithm, task) + m->send_ns + wire_ns(&empty, task, 0) >
	       finish_ns(p, algorithm, 0);
}

static void check_oli(struct selftest *t)
{
	const struct result_point *point;
	const char *algorithm;
	struct pattern p;
	double task;
	bool sure;
	size_t i;

	for (i = 0; i < result_point_cnt(t->result); i++) {
		point = result_point_at(t->result, i);
		p = pattern_of(t, i);
		algorithm = classify_text(t->result, i, "algorithm");
		task = result_number(point, "task");
		selftest_expect(t, result_number(point, "steady"), 1, 0, "steady");
		sure = keeps_waiting(&p, algorithm, isnan(task) ? p.tasks - 1 : (int)task);
		selftest_expect(t, result_number(point, "above_gaps"), sure, 0,
				"E above the gaps, %s, task %.0f of %d", algorithm, task, p.tasks);
		if (isnan(task))
			expect_time(t, i, "latency", last_finish_ns(&p, algorithm));
		else if (sure)
			expect_time(t, i, "oli", finish_ns(&p, algorithm, (int)task));
	}
}

/* The tasks that were asked for, and no others. */
static void check_oli_any(struct selftest *t)
{
	static const int wanted[] = {3, 5, 6, 7, 9};
	struct samples tasks;
	size_t i, cnt = sizeof(wanted) / sizeof(*wanted);

	check_oli(t);
	samples_init(&tasks);
	classify_values(t->result, "tasks", &tasks);
	selftest_expect(t, (double)tasks.cnt, (double)cnt, 0,
			"how many numbers of tasks there are");
	for (i = 0; i < cnt && i < tasks.cnt; i++)
		selftest_expect(t, tasks.value[i], wanted[i], 0, "number of tasks %zu", i);
	samples_release(&tasks);
}

/* The root of a chain sends once; of a tree, to each of its children. */
static void check_send_latency(struct selftest *t)
{
	struct pattern p;
	size_t i;

	for (i = 0; i < result_point_cnt(t->result); i++) {
		p = pattern_of(t, i);
		expect_time(t, i, "latency",
			    finish_ns(&p, classify_text(t->result, i, "algorithm"), 0));
	}
}

/* Tells whether the method's value is on the right side of what is true. */
static void expect_bound(struct selftest *t, size_t i, bool upper)
{
	struct pattern p = pattern_of(t, i);
	const char *algorithm = classify_text(t->result, i, "algorithm");
	double truth = last_finish_ns(&p, algorithm);
	double latency = result_number(result_point_at(t->result, i), "latency");
	double clock_ns = 2; /* both readings are rounded */
	bool holds = upper ? latency >= truth - clock_ns : latency <= truth + clock_ns;

	selftest_expect(t, holds, 1, 0, "%.0f being %s %.0f ns (%s, %s, %d tasks, %.0f bytes)",
			latency, upper ? "above" : "below", truth,
			classify_text(t->result, i, "method"), algorithm, p.tasks, p.bytes);
}

static void check_upper(struct selftest *t)
{
	size_t i;

	for (i = 0; i < result_point_cnt(t->result); i++)
		expect_bound(t, i, true);
}

/*
 * All are below. A chain whose last task is the next root is measured right, but for the end of the last one, which
 * task 0 does not see.
 */
static void check_rounds(struct selftest *t)
{
	const char *method, *algorithm;
	struct pattern p;
	double truth;
	size_t i;

	for (i = 0; i < result_point_cnt(t->result); i++) {
		p = pattern_of(t, i);
		method = classify_text(t->result, i, "method");
		algorithm = classify_text(t->result, i, "algorithm");
		expect_bound(t, i, false);
		if (strcmp(method, strcmp(algorithm, "linear") ? "rounds_ascending" :
								 "rounds_descending") ||
		    (strcmp(algorithm, "linear") && strcmp(algorithm, "backward")))
			continue;
		truth = last_finish_ns(&p, algorithm);
		selftest_expect(t, result_number(result_point_at(t->result, i), "latency") / truth,
				1, 2.0 / (double)(t->opt.repeat * (uint64_t)p.tasks),
				"%s of %s over the truth, %d tasks", method, algorithm, p.tasks);
	}
}

/* Scatter and gather are flat in the model, in the order of tasks. */
static void check_rooted(struct selftest *t)
{
	const struct model_settings *m = &t->model;
	struct pattern p;
	const char *op;
	size_t i;
	int task;

	for (i = 0; i < result_point_cnt(t->result); i++) {
		if (isnan(result_number(result_point_at(t->result, i), "task")))
			continue;
		p = pattern_of(t, i);
		op = classify_text(t->result, i, "op");
		task = (int)result_number(result_point_at(t->result, i), "task");
		if (!strcmp(op, "scatter"))
			expect_time(t, i, "oli",
				    task * m->send_ns + wire_ns(&p, 0, task) + m->recv_ns);
		else if (!strcmp(op, "gather"))
			expect_time(t, i, "oli",
				    m->send_ns + wire_ns(&p, task, 0) +
					    (p.tasks - task) * m->recv_ns);
		else
			expect_time(t, i, "oli", reduce_path_ns(&p, task));
	}
}

/* Everybody begins at the same time. */
static double window_ns(const struct pattern *p, const char *op)
{
	const struct model_settings *m = p->m;
	double message_ns = m->send_ns + wire_ns(p, 0, 1) + m->recv_ns;

	if (!strcmp(op, "barrier"))
		return ceil(log2(p->tasks)) * (message_ns - p->bytes * m->byte_ns);
	if (!strcmp(op, "bcast"))
		return last_finish_ns(p, "library");
	if (!strcmp(op, "reduce"))
		return reduced_ns(p, 0);
	if (!strcmp(op, "allreduce"))
		return reduced_ns(p, 0) + last_finish_ns(p, "library");
	if (!strcmp(op, "gather"))
		return message_ns + (p->tasks - 2) * m->recv_ns;
	if (!strcmp(op, "scatter"))
		return message_ns + (p->tasks - 2) * m->send_ns;
	return (p->tasks - 1) * message_ns; /* allgather, alltoall */
}

static void logp_skewed(struct model_settings *m, struct bench_options *opt)
{
	logp(m, opt);
	m->nodes = RANKS;
	m->clock_skew_ns = 1e6;
}

/* So many samples that the clocks drift by ten times as much as they do before they are measured again. */
static void logp_drifting(struct model_settings *m, struct bench_options *opt)
{
	logp_skewed(m, opt);
	m->clock_drift = 1e-6;
	opt->tasks = "2,10";
	opt->bytes_max = opt->bytes_min;
	opt->samples = opt->samples_max = 3000;
}

static void check_window(struct selftest *t)
{
	struct pattern p;
	size_t i;

	for (i = 0; i < result_point_cnt(t->result); i++) {
		p = pattern_of(t, i);
		expect_about(t, i, "latency", window_ns(&p, classify_text(t->result, i, "op")),
			     4 + t->model.clock_drift * (p.tasks - 1) * MEASURED_AGAIN_NS);
	}
}

const struct selftest_case selftest_broadcasts[] = {
	{"bcast_oli", "a cluster", logp, check_oli, NULL, NULL},
	{"bcast_oli", "a cluster whose library sends up a chain", logp_linear, check_oli, NULL,
	 NULL},
	{"bcast_oli", "a cluster whose library sends down a chain", logp_backward, check_oli, NULL,
	 NULL},
	{"bcast_oli", "a cluster whose library sends from the root alone", logp_flat, check_oli,
	 NULL, NULL},
	{"bcast_oli", "a cluster, any number of tasks", logp_any, check_oli_any, NULL, NULL},
	{"bcast_oli", "a grid of two sites", grid, check_oli, NULL, NULL},
	{"bcast_send_latency", "a cluster", logp, check_send_latency, NULL, NULL},
	{"bcast_rounds", "a cluster", logp, check_rounds, NULL, NULL},
	{"bcast_rounds", "a grid of two sites", grid, check_rounds, NULL, NULL},
	{"bcast_barrier", "a cluster", logp, check_upper, NULL, NULL},
	{"bcast_barrier", "a grid of two sites", grid, check_upper, NULL, NULL},
	{"bcast_ack", "a cluster", logp, check_upper, NULL, NULL},
	{"bcast_ack", "a grid of two sites", grid, check_upper, NULL, NULL},
	{"rooted_oli", "a cluster", logp, check_rooted, NULL, NULL},
	{"symmetric_window", "a cluster", logp, check_window, NULL, NULL},
	{"symmetric_window", "a cluster whose clocks differ", logp_skewed, check_window, NULL,
	 NULL},
	{"symmetric_window", "a cluster whose clocks drift apart", logp_drifting, check_window,
	 NULL, NULL},
	{.bench = NULL},
};
