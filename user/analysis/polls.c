/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A spin's record has its span, its polls and the sum of their durations; the calibration has what one poll costs.
 */
#include "analysis/polls.h"

#include "trace/trace_read.h"

static double cost_of(const struct trace *t, const char *type, const char *key)
{
	double ns = json_number_value(json_object_get(trace_meta_find(t, type), key));

	return ns > 0 ? ns : 0;
}

struct poll_cost poll_cost_read(const struct trace *t)
{
	return (struct poll_cost){
		.probe_ns = cost_of(t, "probe_cost", "spin_ns"),
		.preload_ns = cost_of(t, "preload", "call_ns"),
	};
}

double poll_cost_ns(const struct poll_cost *c, const struct model_spin *s)
{
	return s->preloaded ? c->preload_ns : c->probe_ns;
}

struct poll_times poll_times_of(const struct model_spin *s, const struct poll_cost *cost)
{
	struct poll_times t = {.polls = s->cnt, .runs = 1, .span_ns = s->end_ns - s->begin_ns};
	double cost_ns = (double)s->cnt * poll_cost_ns(cost, s);
	uint64_t rest_ns;

	t.inside_ns = s->busy_ns < t.span_ns ? s->busy_ns : t.span_ns;
	rest_ns = t.span_ns - t.inside_ns;
	t.probes_ns = cost_ns < (double)rest_ns ? (uint64_t)cost_ns : rest_ns;
	t.between_ns = rest_ns - t.probes_ns;
	return t;
}
