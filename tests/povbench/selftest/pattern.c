/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* See pattern.h. */
#include "selftest/pattern.h"

#include <math.h>
#include <string.h>

#include "lib/log.h"
#include "core/classify.h"
#include "selftest/formula.h"

struct pattern {
	const struct model_settings *m;
	const char *algorithm;
	int tasks;
	double bytes;
};

static double wire_ns(const struct pattern *p, int from, int to)
{
	return model_link_ns(p->m, from, to) + p->bytes * p->m->byte_ns;
}

static int low_bit(const struct pattern *p, int v)
{
	int bit = 1;

	while (bit < p->tasks && !(v & bit))
		bit *= 2;
	return bit;
}

/* Returns how many children v has in the binomial tree, at distance `least` or more. */
static int children(const struct pattern *p, int v, int least)
{
	int bit, cnt = 0;

	for (bit = least; bit < low_bit(p, v); bit *= 2)
		cnt += v + bit < p->tasks;
	return cnt;
}

/* Returns when v has the data. A parent sends to its farthest child first. */
static double binomial_arrival_ns(const struct pattern *p, int v)
{
	int bit = low_bit(p, v), parent = v - bit;

	if (!v)
		return 0;
	return binomial_arrival_ns(p, parent) + children(p, parent, bit) * p->m->send_ns +
	       wire_ns(p, parent, v) + p->m->recv_ns;
}

/* Chain from task 0 in steps of ±1. */
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

static double finish_ns(const struct pattern *p, int v)
{
	int step, last;

	if (!strcmp(p->algorithm, "flat"))
		return (v ? v : p->tasks - 1) * p->m->send_ns +
		       (v ? wire_ns(p, 0, v) + p->m->recv_ns : 0);
	if (!strcmp(p->algorithm, "binomial"))
		return binomial_arrival_ns(p, v) + children(p, v, 1) * p->m->send_ns;
	step = strcmp(p->algorithm, "linear") ? -1 : 1;
	last = step > 0 ? p->tasks - 1 : 1;
	return chain_arrival_ns(p, v, step) + (v == last ? 0 : p->m->send_ns);
}

/* Returns when v has all data of its subtree. A parent takes from its nearest child first. */
static double reduced_ns(const struct pattern *p, int v)
{
	double ns = 0, arrival;
	int bit;

	for (bit = 1; bit < low_bit(p, v); bit *= 2) {
		if (v + bit >= p->tasks)
			continue;
		arrival = reduced_ns(p, v + bit) + p->m->send_ns + wire_ns(p, v + bit, v);
		ns = fmax(ns, arrival) + p->m->recv_ns;
	}
	return ns;
}

static double reduce_path_ns(const struct pattern *p, int task)
{
	double ns = children(p, task, 1) * p->m->recv_ns;
	int v, bit, parent;

	for (v = task; v; v = parent) {
		bit = low_bit(p, v);
		parent = v - bit;
		ns += p->m->send_ns + wire_ns(p, v, parent) +
		      children(p, parent, bit) * p->m->recv_ns;
	}
	return ns;
}

double pattern_value(const struct selftest *t, const char *name, double task)
{
	static const char *const library[] = {
		[MODEL_BCAST_BINOMIAL] = "binomial",
		[MODEL_BCAST_LINEAR] = "linear",
		[MODEL_BCAST_BACKWARD] = "backward",
		[MODEL_BCAST_FLAT] = "flat",
	};
	const struct result_point *point = result_point_at(t->result, t->point);
	struct pattern p = {&t->model, classify_text(t->result, t->point, "algorithm"),
			    (int)result_number(point, "tasks"), result_number(point, "bytes")};
	double last = 0;

	if (!*p.algorithm || !strcmp(p.algorithm, "library"))
		p.algorithm = library[p.m->bcast];
	if (!strcmp(name, "finish"))
		return isnan(task) ? NAN : finish_ns(&p, (int)task);
	if (!strcmp(name, "reduce_path"))
		return isnan(task) ? NAN : reduce_path_ns(&p, (int)task);
	if (!strcmp(name, "reduced"))
		return reduced_ns(&p, 0);
	if (strcmp(name, "last_finish"))
		die("cases.txt: no function is called %s", name);
	for (int v = 0; v < p.tasks; v++)
		last = fmax(last, finish_ns(&p, v));
	return last;
}
