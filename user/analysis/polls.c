/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The record of a spin has its span, the number of its polls and the sum of their durations. The
 * calibration has the cost of one poll.
 */
#include "analysis/polls.h"

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
