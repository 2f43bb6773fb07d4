/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * T_comp, T_comm and T_full of the stencil over message size, with a panel for each number of
 * ranks per core, as in figure 5 of Nigay et al. 2020. If T_full equals the larger of the others,
 * the smaller one is hidden; if it is their sum, nothing is. All panels have the same scale.
 */
#include "chart.h"
#include "picture.h"
#include "series.h"

#include "lib/log.h"

#include <stdlib.h>
#include <string.h>

static const char *const times[] = {"comp", "comm", "full"};

/* The computation time follows from V, so it needs no mention. */
static const char *const axes[] = {"bytes", "compute_ns", NULL};

static bool times_takes(const struct data_result *r)
{
	return !strcmp(r->kind, "stencil") && r->point_cnt;
}

static bool is_drawable(const json_t *point)
{
	return data_param(point, "bytes") > 0 && data_time(point, "full", "median") >= 0;
}

static void add_point(struct chart *c, const json_t *point)
{
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		struct chart_line *l = chart_line_get(c, xasprintf("T_%s", times[i]));

		chart_point_add(l, data_param(point, "bytes"), data_time(point, times[i], "median"),
				data_time(point, times[i], "ci_low"),
				data_time(point, times[i], "ci_high"));
	}
}

static void collect(struct series *series, struct panels *panels, const struct data_result *r)
{
	struct chart *c;

	series_init_from(series, axes, r, is_drawable);
	panels_init(panels);
	for (size_t i = 0; i < series->cnt; i++) {
		c = panels_get(panels, series_name(series, series->point[i], SERIES_VARYING));
		if (c)
			add_point(c, series->point[i]);
	}
}

static void times_size(const struct plot *p, uint64_t *width_px, uint64_t *height_px)
{
	struct panels panels;
	struct series series;

	collect(&series, &panels, p->result[0]);
	*width_px = 860;
	*height_px = 120 + 260 * (panels.cnt ? panels.cnt : 1);
	panels_release(&panels);
	series_release(&series);
}

static void write_panels(const struct panels *p, const struct plot *plot, struct script *s)
{
	struct range x = panels_range_x(p), y = {0, panels_range_y(p, false).high * 1.05};

	x = (struct range){x.low / 1.1, x.high * 1.1};
	axis_bytes(s, "x", &x, 9, true);
	axis_time_linear(s, "y", &y);
	script_line(s, "set tics nomirror\nset grid\nset ylabel 'median time'");
	script_line(s, "set lmargin 12\nset key top left reverse Left");
	table_begin(s, plot->result, 1, "panel\tline\tbytes\ttime_ns\ttime_low_ns\ttime_high_ns");
	for (size_t i = 0; i < p->cnt; i++) {
		fputs("set title ", s->out);
		script_quoted(s, p->name[i]);
		script_line(s, "%s", i + 1 == p->cnt ? "\nset xlabel 'message size'" : "");
		chart_write(&p->chart[i], p->name[i], plot->palette, CHART_MARKS, s);
		script_line(s, "unset key");
	}
	script_line(s, "unset multiplot");
}

static int times_draw(const struct plot *p, struct script *s)
{
	const struct data_result *r = p->result[0];
	struct panels panels;
	struct series series;
	char *name;
	int err = 0;

	collect(&series, &panels, r);
	if (!panels.cnt) {
		err = data_refuse_empty(r);
	} else if (panels.all_cnt > panels.cnt) {
		err = series_refuse(&series, r->benchmark, panels.all_cnt, "panels");
	} else {
		name = series_title(&series, r->benchmark, ": ");
		picture_head(p, name, panels.cnt, 1, s);
		write_panels(&panels, p, s);
		free(name);
	}
	panels_release(&panels);
	series_release(&series);
	return err;
}

const struct picture plot_times = {
	.name = "times",
	.takes = times_takes,
	.size = times_size,
	.draw = times_draw,
};
