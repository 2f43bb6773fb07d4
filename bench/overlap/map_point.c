/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Writes the result of a point. T_comm is the median of the samples before and after the size's
 * points together. Its interval spans both intervals, so it includes any change in between. The
 * ratio is made of T_comm, T_comp and the median of T_measured - T_comp within pairs. A point has
 * no ratio if T_comm or T_comp is too short for the clock, or if T_comm's interval is wide
 * compared with the shorter one of them, because the ratio would divide by almost nothing. If
 * T_comm itself is known well enough, the reason is that T_comp is too short.
 */
#include "overlap/map.h"

#include "core/overlap_map.h"
#include "core/overlap_ratio.h"

#include <math.h>
#include <stddef.h>

/*
 * Times below this many clock readings are unknown, as the cost of a reading is only approximate.
 */
#define READINGS_LEAST 4
#define INTERVAL_MOST 0.2 /* T_comm's interval over the shorter of T_comm and T_comp */

static double samples_median(const struct samples *s)
{
	return stats_quantile(s, 0.5);
}

/* Width of T_comm's interval, over the samples before and after the points. */
static double reference_width(const struct map *m)
{
	struct summary before, after;

	stats_summarize(&m->before, &before);
	stats_summarize(&m->after, &after);
	return fmax(before.ci_high, after.ci_high) - fmin(before.ci_low, after.ci_low);
}

/* The reason why there is no ratio; null if there is one. */
static const char *blank_reason(const struct map *m, const struct overlap_times *t)
{
	double least = READINGS_LEAST * m->clock_ns, width;

	if (t->comp < least)
		return "T_comp is too short for the clock";
	if (t->comm < least)
		return "T_comm is too short for the clock";
	width = reference_width(m);
	if (width > INTERVAL_MOST * t->comm)
		return "T_comm is not known well enough";
	if (width > INTERVAL_MOST * t->comp)
		return "T_comp is too short for how well T_comm is known";
	return NULL;
}

static void peers_write(const struct map *m, const struct overlap_times *t,
			struct result_point *point)
{
	struct overlap_times by_blocking = *t;
	struct overlap_ratios r, blocking;

	overlap_ratios(t, &r);
	if (m->blocking.cnt) {
		by_blocking.comm = samples_median(&m->blocking);
		overlap_ratios(&by_blocking, &blocking);
		r.mpiperf = blocking.mpiperf;
	}
	result_value(point, "ratio", r.ratio);
	result_value(point, "osu_pct", r.osu_pct);
	result_value(point, "imb_pct", r.imb_pct);
	result_value(point, "imb_io_pct", r.imb_io_pct);
	result_value(point, "mpiperf", r.mpiperf);
	result_value(point, "sandia", r.sandia);
}

/* T_measured - T_comp of each pair. */
static void added_find(const struct samples *measured, const struct samples *alone,
		       struct samples *out)
{
	for (size_t i = 0; i < measured->cnt && i < alone->cnt; i++)
		samples_add(out, measured->value[i] - alone->value[i]);
}

static void interval_write(const struct map *m, const struct map_cell *cell,
			   const struct samples *added, const struct overlap_times *t,
			   struct result_point *point)
{
	struct samples slowest = {0};
	const struct overlap_samples s = {
		.comm = {&m->before, &m->after, &cell->beside},
		.phases = m->pattern->phases ? m->pattern->phases : 1,
		.comp = &cell->alone,
		.added = {added, cell->slowest.cnt ? &slowest : added},
	};
	double low, high, short_ns;
	struct overlap_ratios r;

	added_find(&cell->measured, &cell->slowest, &slowest);
	overlap_ratios(t, &r);
	overlap_interval(&s, &low, &high);
	samples_release(&slowest);
	/* T_comm beside the point may always be longer than the T_comm of the ratio. */
	low = fmin(low, r.ratio);
	high = fmax(high, r.ratio);
	result_value(point, "ratio_low", low);
	result_value(point, "ratio_high", high);
	/*
	 * Wrong if the interval is below 0 by more than the tolerance and both clock readings
	 * explain.
	 */
	short_ns = -high * fmin(t->comm, t->comp);
	if (high < MAP_CLEARLY_BELOW && short_ns > 2 * m->clock_ns)
		result_value(point, "too_short_ns", short_ns);
}

static void times_write(const struct map *m, const struct map_cell *cell,
			const struct samples *comm, const struct samples *added,
			struct result_point *point)
{
	result_time(point, "comm", comm);
	result_time(point, "comm_beside", &cell->beside);
	result_time(point, "comp", &cell->alone);
	result_time(point, "measured", &cell->measured);
	result_time(point, "added", added);
	result_time(point, "in_calls", &cell->in_calls);
	if (m->pattern->sends_only)
		result_time(point, "send_wait", &cell->wait);
	if (samples_median(&cell->test) > 0)
		result_time(point, "test", &cell->test);
	result_time(point, "blocking", &m->blocking);
	result_time(point, "pingpong", &m->pingpong);
}

void map_point_write(struct map *m, const struct map_cell *cell, uint64_t compute_ns)
{
	struct result_point *point = result_point_add(m->run->result);
	double before = samples_median(&m->before);
	struct overlap_times t;
	struct samples comm = {0}, added = {0};
	const char *why;

	added_find(&cell->measured, &cell->alone, &added);
	samples_append(&comm, &m->before);
	samples_append(&comm, &m->after);
	t = (struct overlap_times){.comm = samples_median(&comm),
				   .comp = samples_median(&cell->alone),
				   .in_calls = samples_median(&cell->in_calls)};
	t.measured = t.comp + samples_median(&added);
	result_param(point, "bytes", m->bytes);
	result_param(point, "compute_ns", compute_ns);
	if (m->pattern->params)
		m->pattern->params(m, point);
	times_write(m, cell, &comm, &added, point);
	result_value(point, "drift", samples_median(&m->after) / before - 1);
	why = blank_reason(m, &t);
	if (why) {
		result_param_text(point, "blank", why);
	} else {
		peers_write(m, &t, point);
		interval_write(m, cell, &added, &t, point);
	}
	samples_release(&added);
	samples_release(&comm);
}
