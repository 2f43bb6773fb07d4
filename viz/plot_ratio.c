/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The overhead ratio over computation time with its confidence interval, as a line for each
 * message size: the columns of a map as lines. Operations without data, such as a barrier, have
 * this picture instead of a map.
 */
#include "chart.h"
#include "picture.h"
#include "series.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_drawable(const json_t *point)
{
	return data_param(point, "compute_ns") > 0 && isfinite(data_value(point, "ratio"));
}

static bool ratio_takes(const struct data_result *r)
{
	return !strcmp(r->kind, "map") && data_has(r, is_drawable);
}

static void collect(struct series *series, struct chart *c, const struct data_result *r)
{
	static const char *const axes[] = {"compute_ns", NULL};

	series_init_from(series, axes, r, is_drawable);
	chart_init(c);
	for (size_t i = 0; i < series->cnt; i++) {
		const json_t *point = series->point[i];

		chart_point_add(chart_line_get(c, series_name(series, point, SERIES_VARYING)),
				data_param(point, "compute_ns"), data_value(point, "ratio"),
				data_value(point, "ratio_low"), data_value(point, "ratio_high"));
	}
}

static void write_axes(const struct chart *c, struct script *s)
{
	struct range x = chart_range_x(c, true), y = chart_range_y(c, false);

	x = (struct range){x.low / 1.2, x.high * 1.2};
	axis_time(s, "x", &x, true);
	script_line(s, "set yrange [%.9g:%.9g]", fmin(y.low - 0.1, -0.1), fmax(y.high + 0.1, 1.5));
	script_line(s, "set xlabel 'computation time'\n"
		       "set ylabel 'overhead ratio (0: perfect overlap, 1: none)'");
	script_line(
		s,
		"set tics nomirror\nset grid\n"
		"set arrow from graph 0,first 1 to graph 1,first 1 nohead linecolor rgb 'black'");
	script_line(s, c->cnt > 1 ? "set key outside right reverse Left" : "unset key");
}

static int ratio_draw(const struct plot *p, struct script *s)
{
	const struct data_result *r = p->result[0];
	char *title = data_title(r->benchmark), *name;
	struct series series;
	struct chart c;
	int err = 0;

	collect(&series, &c, r);
	if (c.cnt > PALETTE_LINE_CNT) {
		err = series_refuse(&series, r->benchmark, c.cnt, "lines");
	} else {
		name = series_title(&series, title, ": ");
		picture_title(p, name, s);
		write_axes(&c, s);
		table_begin(s, p->result, 1, "line\tcompute_ns\tratio\tratio_low\tratio_high");
		chart_write(&c, NULL, p->palette, CHART_MARKS, s);
		free(name);
	}
	chart_release(&c);
	series_release(&series);
	free(title);
	return err;
}

const struct picture plot_ratio = {
	.name = "ratio",
	.takes = ratio_takes,
	.size = picture_size,
	.draw = ratio_draw,
};
