/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Prints a map as a table for people: the hidden share of the shorter of communication and
 * computation, which is 100 % minus the ratio of equation (1), and half the width of its 95 %
 * confidence interval.
 */
#include "core/result_print.h"

#include "core/map_judge.h"
#include "core/param_text.h"

#include <math.h>

static void print_hidden(const struct result_point *p, enum map_judged judged, const char *blank,
			 FILE *out)
{
	static const char *const said[] = {
		[MAP_BLANK] = "",
		[MAP_KNOWN] = "",
		[MAP_UNKNOWN] = "  unknown",
		[MAP_WRONG] = "  wrong: shorter than one of them alone",
	};
	double ratio = result_number(p, "ratio");
	double width = result_number(p, "ratio_high") - result_number(p, "ratio_low");

	if (isnan(ratio)) {
		fprintf(out, "  %8s  %7s  %s\n", "-", "-", blank ?: "");
		return;
	}
	fprintf(out, "  %8.1f", 100 * (1 - ratio));
	if (isnan(width))
		fprintf(out, "  %7s", "-");
	else
		fprintf(out, "  %7.1f", 100 * width / 2);
	fprintf(out, "%s\n", said[judged]);
}

static void print_us(const struct result_point *p, const char *time, FILE *out)
{
	double ns = result_number(p, time);

	if (isnan(ns))
		fprintf(out, "  %13s", "-");
	else
		fprintf(out, "  %13.3f", ns / 1e3);
}

void result_print_map(const struct result *r, FILE *out)
{
	json_t *points = json_object_get(result_json(r), "points");
	char size[HUMAN_BYTES], time[HUMAN_BYTES];
	double line = map_line_of(points);
	size_t i;

	fprintf(out, "%10s  %11s  %13s  %13s  %13s  %8s  %7s\n", "size", "computation",
		"T_comm (us)", "T_comp (us)", "T_meas. (us)", "hidden %", "+/- %");
	for (i = 0; i < result_point_cnt(r); i++) {
		const struct result_point *p = result_point_at(r, i);

		fprintf(out, "%10s  %11s",
			param_bytes(size, sizeof(size), (uint64_t)result_number(p, "bytes")),
			param_ns(time, sizeof(time), (uint64_t)result_number(p, "compute_ns")));
		print_us(p, "comm", out);
		print_us(p, "comp", out);
		print_us(p, "measured", out);
		print_hidden(p, map_judge(json_array_get(points, i), line),
			     json_string_value(json_object_get(json_array_get(points, i), "blank")),
			     out);
	}
}
