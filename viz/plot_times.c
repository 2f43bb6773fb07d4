/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * T_comp, T_comm and T_full of the stencil over message size, a panel for each number of ranks per core, as in figure 5 of
 * Nigay et al. 2020: where T_full lies on the larger of the others, the smaller is hidden; where it is their sum,
 * nothing is. All panels have the same scale.
 */
#include "chart.h"
#include "picture.h"
#include "series.h"
#include "single.h"

#include "base/log.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PANEL_MAX 8

static const char *const times[] = {"comp", "comm", "full"};

/* V sets the computation as well; it need not be told. */
static const char *const axes[] = {"bytes", "compute_ns", NULL};

struct panels {
	struct series series;
	char *name[PANEL_MAX]; /* owned */
	struct chart chart[PANEL_MAX];
	size_t cnt, all_cnt; /* all_cnt: with those that were too many */
};

static bool times_takes(const struct data_result *r)
{
	return !strcmp(r->kind, "stencil") && r->point_cnt;
}

static bool is_drawable(const json_t *point)
{
	return data_param(point, "bytes") > 0 && data_time(point, "full", "median") >= 0;
}

static size_t panel_get(struct panels *p, const json_t *point)
{
	char *name = series_name(&p->series, point, true);
	size_t i;

	for (i = 0; i < p->cnt; i++) {
		if (!strcmp(p->name[i], name)) {
			free(name);
			return i;
		}
	}
	p->all_cnt++;
	if (p->cnt == PANEL_MAX) {
		free(name);
		return PANEL_MAX;
	}
	p->name[p->cnt] = name;
	chart_init(&p->chart[p->cnt]);
	return p->cnt++;
}

static void add_point(struct chart *c, const json_t *point)
{
	size_t i;

	for (i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		struct chart_line *l = chart_line_get(c, xasprintf("T %s", times[i]));

		chart_point_add(l, data_param(point, "bytes"), data_time(point, times[i], "median"),
				data_time(point, times[i], "ci_low"),
				data_time(point, times[i], "ci_high"));
	}
}

static void panels_init(struct panels *p, const struct data_result *r)
{
	size_t i, panel;

	*p = (struct panels){0};
	series_init(&p->series, axes);
	for (i = 0; i < r->point_cnt; i++) {
		if (is_drawable(r->point[i]))
			series_add(&p->series, r->point[i]);
	}
	series_find_params(&p->series);
	for (i = 0; i < p->series.cnt; i++) {
		panel = panel_get(p, p->series.point[i]);
		if (panel < PANEL_MAX)
			add_point(&p->chart[panel], p->series.point[i]);
	}
}

static void panels_release(struct panels *p)
{
	size_t i;

	for (i = 0; i < p->cnt; i++) {
		free(p->name[i]);
		chart_release(&p->chart[i]);
	}
	series_release(&p->series);
}

static void times_size(const struct plot *p, uint64_t *width_px, uint64_t *height_px)
{
	struct panels panels;

	panels_init(&panels, p->result[0]);
	*width_px = 860;
	*height_px = 120 + 260 * (panels.cnt ? panels.cnt : 1);
	panels_release(&panels);
}

static void ranges(const struct panels *p, struct range *x, struct range *y)
{
	size_t i;

	*x = *y = range_empty();
	for (i = 0; i < p->cnt; i++) {
		struct range own_x = chart_range_x(&p->chart[i], true);
		struct range own_y = chart_range_y(&p->chart[i], false);

		range_widen(x, own_x.low);
		range_widen(x, own_x.high);
		range_widen(y, own_y.high);
	}
	*x = (struct range){x->low / 1.1, x->high * 1.1};
}

static void write_panels(const struct panels *p, const struct plot *plot, struct script *s)
{
	struct range x, y;
	size_t i;

	ranges(p, &x, &y);
	axis_bytes(s, "x", &x, 12, true);
	axis_time_linear(s, "y", y.high * 1.05);
	script_line(s, "set tics nomirror\nset grid\nset ylabel 'median time'");
	script_line(s, "set lmargin 12\nset key top left reverse Left");
	for (i = 0; i < p->cnt; i++) {
		fputs("set title ", s->out);
		script_quoted(s, p->name[i]);
		script_line(s, "%s", i + 1 == p->cnt ? "\nset xlabel 'message size'" : "");
		chart_write(&p->chart[i], plot->palette, CHART_MARKS, s);
		script_line(s, "unset key");
	}
	script_line(s, "unset multiplot");
}

static int times_draw(const struct plot *p, struct script *s)
{
	const struct data_result *r = p->result[0];
	struct panels panels;
	char *fixed, *name;
	int err = 0;

	panels_init(&panels, r);
	if (!panels.cnt) {
		log_error("%s: %s: no point to draw", r->file->path, r->benchmark);
		err = -ENODATA;
	} else if (panels.all_cnt > panels.cnt) {
		err = series_refuse(&panels.series, r->benchmark, panels.all_cnt);
	} else {
		fixed = series_name(&panels.series, panels.series.point[0], false);
		name = xasprintf("%s%s%s", r->benchmark, *fixed ? ": " : "", fixed);
		single_head(p, name, panels.cnt, 1, s);
		write_panels(&panels, p, s);
		free(name);
		free(fixed);
	}
	panels_release(&panels);
	return err;
}

const struct picture plot_times = {
	.name = "times",
	.brief = "T_comp, T_comm and T_full over message size, for each number of ranks per core.",
	.takes = times_takes,
	.size = times_size,
	.draw = times_draw,
};
