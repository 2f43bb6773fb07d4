/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The line comes from points with long computations and short messages. There the interval of
 * T_measured - T_comp within pairs is that of two computations, and the message's own variation is
 * negligible.
 */
#include "core/overlap_map_judge.h"

#include <math.h>

#include "lib/log.h"

#define SHORT_SHARE 0.05 /* T_comm, of T_comp */
#define LEAST_POINTS 3

static double number_of(const json_t *j)
{
	return json_is_number(j) ? json_number_value(j) : NAN;
}

static double time_of(const json_t *point, const char *name, const char *figure)
{
	return number_of(
		json_object_get(json_object_get(json_object_get(point, "times"), name), figure));
}

static double value_of(const json_t *point, const char *name)
{
	return number_of(json_object_get(json_object_get(point, "values"), name));
}

void map_line_add(struct samples *s, const json_t *point)
{
	double comp = time_of(point, "comp", "median"), comm = time_of(point, "comm", "median");
	double width = time_of(point, "added", "ci_high") - time_of(point, "added", "ci_low");

	if (comp >= MAP_LINE_FROM_NS && comm <= SHORT_SHARE * comp && isfinite(width / comp))
		samples_add(s, width / comp / MAP_KNOWN_WIDTH);
}

double map_line(const struct samples *s)
{
	return s->cnt < LEAST_POINTS ? 0 : stats_quantile(s, 0.5);
}

double map_line_of(const json_t *points)
{
	const json_t *point;
	struct samples s;
	double line;
	size_t i;

	samples_init(&s);
	json_array_foreach(points, i, point) map_line_add(&s, point);
	line = map_line(&s);
	samples_release(&s);
	return line;
}

char *map_line_text(double line)
{
	if (!(line > 0))
		return NULL;
	return xasprintf(
		"computation of 100 us and more varies by %.2g %% here: points with T_comm "
		"below %.2g %% of T_comp are unknown",
		100 * line, 100 * line);
}

bool map_is_left(double line, double comm_ns, double comp_ns)
{
	return comp_ns >= MAP_LINE_FROM_NS && comm_ns < line * comp_ns;
}

enum map_judged map_judge(const json_t *point, double line)
{
	double width = value_of(point, "ratio_high") - value_of(point, "ratio_low");
	double comp = time_of(point, "comp", "median"), comm = time_of(point, "comm", "median");

	if (!isfinite(value_of(point, "ratio")))
		return MAP_BLANK;
	if (width > MAP_KNOWN_WIDTH || map_is_left(line, comm, comp))
		return MAP_UNKNOWN;
	if (!(value_of(point, "ratio") < MAP_CLEARLY_BELOW))
		return MAP_KNOWN;
	return isnan(width) || isfinite(value_of(point, "too_short_ns")) ? MAP_WRONG : MAP_UNKNOWN;
}
