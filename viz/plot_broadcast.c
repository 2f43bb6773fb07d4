/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Each method's time of a broadcast over the number of tasks, as in figure 11 of de Supinski &
 * Karonis 1999: the bounds and max(OL_i). The x axis is the message size if all points have one
 * number of tasks. Each algorithm has a panel of its own. Latencies to single tasks are not drawn.
 * All methods show the median of their reports with its interval. A ring marks points that the
 * benchmark itself doubts.
 */
#include "chart.h"
#include "picture.h"
#include "series.h"

#include "lib/log.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LATENCY_COLUMNS "\tlatency_ns\tlatency_low_ns\tlatency_high_ns\tdoubtful"

static bool broadcast_takes(const struct data_result *r)
{
	return !strcmp(r->kind, "broadcast") && r->point_cnt;
}

static double latency_of(const json_t *point)
{
	return data_time(point, "latency", "median");
}

/* The method "oli" is named max(OL_i), as in the paper. */
static char *line_name(const struct series *series, const json_t *point)
{
	const char *method = data_param_text(point, "method");
	char *name = series_name(series, point, SERIES_VARYING), *at, *named;

	if (!*name && method) {
		free(name);
		name = xstrdup(method);
	}
	at = strstr(name, "oli");
	if (!at || isnan(data_value(point, "max_task")))
		return name;
	named = xasprintf("%.*smax(OLᵢ)%s", (int)(at - name), name, at + 3);
	free(name);
	return named;
}

struct broadcast {
	struct series series;
	struct panels panels;
	bool over_tasks;       /* x axis: tasks; otherwise bytes */
	bool log;	       /* logarithmic axis of times */
	bool unsteady, in_gap; /* some points are */
	size_t below_cnt;      /* points at or below 0, which a logarithmic axis cannot show */
	const json_t *twice;
};

/* "task" is the last task, which is a finding and not a parameter. */
static const char *const axes_tasks[] = {"tasks", "task", NULL};
static const char *const axes_bytes_too[] = {"tasks", "task", "bytes", NULL};

static bool is_whole(const json_t *point)
{
	return isfinite(latency_of(point)) && data_param(point, "tasks") > 0;
}

static bool tasks_vary(const struct plot *p)
{
	double tasks = 0;

	for (size_t i = 0; i < p->cnt; i++) {
		for (size_t k = 0; k < p->result[i]->point_cnt; k++) {
			const json_t *point = p->result[i]->point[k];

			if (tasks > 0 && is_whole(point) && data_param(point, "tasks") != tasks)
				return true;
			tasks = is_whole(point) ? data_param(point, "tasks") : tasks;
		}
	}
	return false;
}

static void collect(struct broadcast *b, const struct plot *p)
{
	const json_t *point;

	*b = (struct broadcast){.over_tasks = tasks_vary(p)};
	series_init(&b->series, b->over_tasks ? axes_tasks : axes_bytes_too);
	for (size_t i = 0; i < p->cnt; i++) {
		for (size_t k = 0; k < p->result[i]->point_cnt; k++) {
			point = p->result[i]->point[k];
			if (is_whole(point) && (b->over_tasks || data_param(point, "bytes") > 0))
				series_add(&b->series, point);
		}
	}
	series_find_params(&b->series);
	/* Linear over the tasks, as in the paper. Sizes span too large a range for that. */
	b->log = !b->over_tasks || series_varies(&b->series, "bytes");
	series_set_apart(&b->series, "algorithm");
	series_set_apart(&b->series, "bytes");
}

/*
 * The benchmark's doubts: no test met the stop rule, or E_i is not above all gaps (OL_i may be too
 * long).
 */
static bool is_unsteady(const json_t *point)
{
	return data_value(point, "steady") == 0;
}

static bool is_in_gap(const json_t *point)
{
	return data_value(point, "above_gaps") == 0;
}

static void add_point(struct broadcast *b, struct chart *c, const json_t *point)
{
	struct chart_line *l = chart_line_get(c, line_name(&b->series, point));
	double x = data_param(point, b->over_tasks ? "tasks" : "bytes"), y = latency_of(point);

	b->twice = chart_line_has_x(l, x) ? point : b->twice;
	if (b->log && !(y > 0)) {
		b->below_cnt++;
		return;
	}
	chart_point_add(l, x, y, data_time(point, "latency", "ci_low"),
			data_time(point, "latency", "ci_high"));
	b->unsteady = b->unsteady || is_unsteady(point);
	b->in_gap = b->in_gap || is_in_gap(point);
	if (is_unsteady(point) || is_in_gap(point))
		chart_point_mark(l);
}

/* The meaning of the rings, for the key that all panels share. */
static const char *doubt_of(const struct broadcast *b)
{
	if (b->unsteady && b->in_gap)
		return "ring: not steady, or Eᵢ not above the gap";
	if (b->unsteady)
		return "ring: not steady";
	return b->in_gap ? "ring: Eᵢ not above the gap" : NULL;
}

static void broadcast_init(struct broadcast *b, const struct plot *p)
{
	struct chart *c;

	collect(b, p);
	panels_init(&b->panels);
	for (size_t i = 0; i < b->series.cnt; i++) {
		c = panels_get(&b->panels,
			       series_name(&b->series, b->series.point[i], SERIES_APART));
		if (c)
			add_point(b, c, b->series.point[i]);
	}
	for (size_t i = 0; i < b->panels.cnt; i++)
		b->panels.chart[i].ring = doubt_of(b);
}

static void broadcast_release(struct broadcast *b)
{
	panels_release(&b->panels);
	series_release(&b->series);
}

/* Panels are arranged in two columns. */
static size_t columns_of(const struct broadcast *b)
{
	return b->panels.cnt > 1 ? 2 : 1;
}

static size_t rows_of(const struct broadcast *b)
{
	return b->panels.cnt > 1 ? (b->panels.cnt + 1) / 2 : 1;
}

static void broadcast_size(const struct plot *p, uint64_t *width_px, uint64_t *height_px)
{
	struct broadcast b;

	broadcast_init(&b, p);
	*width_px = columns_of(&b) == 1 ? 900 : 1180;
	*height_px = rows_of(&b) == 1 ? 640 : 100 + 400 * rows_of(&b);
	broadcast_release(&b);
}

static void write_tasks_axis(const struct range *r, struct script *s)
{
	script_line(s, "set logscale x 2\nset xrange [%.9g:%.9g]", r->low / 1.1, r->high * 1.1);
	fputs("set xtics (", s->out);
	for (double at = 1; at <= r->high && at < 0x1p30; at *= 2)
		fprintf(s->out, "%s'%.9g' %.9g", at > 1 ? ", " : "", at, at);
	script_line(s, ")\nset xlabel 'tasks'");
}

static void write_times_axis(const struct broadcast *b, struct script *s)
{
	struct range y = panels_range_y(&b->panels, b->log);
	double lines = (double)panels_line_cnt(&b->panels) + (doubt_of(b) != NULL);

	if (b->log) {
		/* Leave room for the key above all lines. */
		y = (struct range){y.low / 1.3, y.high * 1.5 * pow(y.high / y.low, 0.06 * lines)};
		axis_time(s, "y", &y, true);
	} else {
		y = (struct range){fmin(0, y.low * 1.05), fmax(y.high * 1.05, 1)};
		axis_time_linear(s, "y", &y);
	}
	script_line(s, "set ylabel 'time of one operation'");
}

static void write_axes(const struct broadcast *b, struct script *s)
{
	struct range x = panels_range_x(&b->panels);

	if (b->over_tasks) {
		write_tasks_axis(&x, s);
	} else {
		x = (struct range){x.low / 1.2, x.high * 1.2};
		axis_bytes(s, "x", &x, columns_of(b) == 1 ? 10 : 6, true);
		script_line(s, "set xlabel 'message size'");
	}
	write_times_axis(b, s);
	script_line(s, "set tics nomirror\nset grid\nset key top left reverse Left");
}

static void write_panels(const struct plot *p, const struct broadcast *b, struct script *s)
{
	char *name = series_title(&b->series, "Latency", ": "), *tasks;

	if (!b->over_tasks) {
		tasks = xasprintf("%s, %.9g tasks", name, data_param(b->series.point[0], "tasks"));
		free(name);
		name = tasks;
	}
	picture_head(p, name, rows_of(b), columns_of(b), s);
	write_axes(b, s);
	table_begin(s, p->result, p->cnt,
		    b->over_tasks ? "panel\tline\ttasks" LATENCY_COLUMNS :
				    "panel\tline\tbytes" LATENCY_COLUMNS);
	for (size_t i = 0; i < b->panels.cnt; i++) {
		fputs("set title ", s->out);
		script_quoted(s, b->panels.name[i]);
		script_line(s, "%s", i ? "\nunset key" : "");
		chart_write(&b->panels.chart[i], b->panels.name[i], p->palette, CHART_MARKS, s);
	}
	script_line(s, "unset multiplot");
	free(name);
}

static int refuse_twice(const struct broadcast *b)
{
	char *name = line_name(&b->series, b->twice);

	log_error(
		"several results of \"%s\" with the same sizes and tasks; draw each file by itself",
		name);
	free(name);
	return -EINVAL;
}

static int broadcast_draw(const struct plot *p, struct script *s)
{
	struct broadcast b;
	size_t line_cnt;
	int err = 0;

	broadcast_init(&b, p);
	line_cnt = panels_line_cnt(&b.panels);
	if (!b.series.cnt || b.series.cnt == b.below_cnt) {
		err = data_refuse_empty(p->result[0]);
	} else if (b.panels.all_cnt > b.panels.cnt) {
		err = series_refuse(&b.series, "broadcast", b.panels.all_cnt, "panels");
	} else if (line_cnt > PALETTE_LINE_CNT) {
		err = series_refuse(&b.series, "broadcast", line_cnt, "lines");
	} else if (b.twice) {
		err = refuse_twice(&b);
	} else {
		if (b.below_cnt)
			log_warn("%zu latencies of 0 or less, which the axis has no place for, "
				 "are not drawn",
				 b.below_cnt);
		write_panels(p, &b, s);
	}
	broadcast_release(&b);
	return err;
}

const struct picture plot_broadcast = {
	.name = "broadcast",
	.many = true,
	.takes = broadcast_takes,
	.size = broadcast_size,
	.draw = broadcast_draw,
};
