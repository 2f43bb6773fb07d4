/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A spin's record has its span, its polls and the sum of their durations; the calibration has what one poll costs.
 */
#include "analysis/polls.h"

#include <string.h>

#include "abi/preload.h"
#include "base/json_get.h"
#include "trace/trace_read.h"

double poll_cost_ns(const struct trace *t)
{
	const json_t *config = json_object_get(trace_meta_find(t, "recording"), "config");
	bool preload = !strcmp(json_get_text(config, "capture"), POV_LINK_PRELOAD);
	const json_t *cost = trace_meta_find(t, preload ? "preload" : "probe_cost");
	double ns = json_number_value(json_object_get(cost, preload ? "call_ns" : "spin_ns"));

	return ns > 0 ? ns : 0;
}

struct poll_times poll_times_of(const struct model_spin *s, double poll_ns)
{
	struct poll_times t = {.polls = s->cnt, .runs = 1, .span_ns = s->end_ns - s->begin_ns};
	double cost_ns = (double)s->cnt * poll_ns;
	uint64_t rest_ns;

	t.inside_ns = s->busy_ns < t.span_ns ? s->busy_ns : t.span_ns;
	rest_ns = t.span_ns - t.inside_ns;
	t.probes_ns = cost_ns < (double)rest_ns ? (uint64_t)cost_ns : rest_ns;
	t.between_ns = rest_ns - t.probes_ns;
	return t;
}
