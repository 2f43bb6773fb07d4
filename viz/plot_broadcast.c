/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What each method says that a broadcast takes, over the number of tasks, as in figure 11 of de Supinski & Karonis 1999: the
 * bounds beside max(OL_i). Latencies to single tasks are not drawn.
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

static bool broadcast_takes(const struct data_result *r)
{
	return !strcmp(r->kind, "broadcast") && r->point_cnt;
}

static void broadcast_size(const struct plot *p, uint64_t *width_px, uint64_t *height_px)
{
	(void)p;
	*width_px = 900;
	*height_px = 640;
}

/* The mean that the paper takes where it is told, else the median. */
static double latency_of(const json_t *point)
{
	double max_oli = data_value(point, "max_oli");

	return isnan(max_oli) ? data_time(point, "latency", "median") : max_oli;
}

/* "oli" is what the paper calls max(OL_i). */
static char *line_name(const struct series *series, const json_t *point)
{
	const char *method = data_param_text(point, "method");
	char *name = series_name(series, point, true), *at, *said;

	if (!*name && method) {
		free(name);
		name = xstrdup(method);
	}
	at = strstr(name, "oli");
	if (!at || isnan(data_value(point, "max_oli")))
		return name;
	said = xasprintf("%.*smax(OLᵢ)%s", (int)(at - name), name, at + 3);
	free(name);
	return said;
}

static void collect(struct series *series, const struct plot *p)
{
	/* Which task was the last one is a finding, and no parameter of the whole. */
	static const char *const axes[] = {"tasks", "task", NULL};
	size_t i, k;

	series_init(series, axes);
	for (i = 0; i < p->cnt; i++) {
		for (k = 0; k < p->result[i]->point_cnt; k++) {
			const json_t *point = p->result[i]->point[k];

			if (latency_of(point) > 0 && data_param(point, "tasks") > 0)
				series_add(series, point);
		}
	}
	series_find_params(series);
}

static void fill(struct chart *c, const struct series *series)
{
	struct chart_line *l;
	size_t i;

	for (i = 0; i < series->cnt; i++) {
		const json_t *point = series->point[i];
		/* The interval is the median's, not the mean's. */
		bool mean = !isnan(data_value(point, "max_oli"));

		l = chart_line_get(c, line_name(series, point));
		chart_point_add(l, data_param(point, "tasks"), latency_of(point),
				mean ? NAN : data_time(point, "latency", "ci_low"),
				mean ? NAN : data_time(point, "latency", "ci_high"));
	}
}

static void write_tasks_axis(const struct range *r, struct script *s)
{
	double at;

	script_line(s, "set logscale x 2\nset xrange [%.9g:%.9g]", r->low / 1.1, r->high * 1.1);
	fputs("set xtics (", s->out);
	for (at = 1; at <= r->high && at < 0x1p30; at *= 2)
		fprintf(s->out, "%s'%.9g' %.9g", at > 1 ? ", " : "", at, at);
	script_line(s, ")\nset xlabel 'tasks'");
}

static void write_chart(const struct plot *p, const struct series *series, struct chart *c,
			struct script *s)
{
	char *fixed = series_name(series, series->point[0], false);
	char *name = xasprintf("Latency%s%s", *fixed ? ": " : "", fixed);
	struct range x = chart_range_x(c, true), y = chart_range_y(c, false);

	single_title(p, name, s);
	write_tasks_axis(&x, s);
	axis_time_linear(s, "y", y.high * 1.05);
	script_line(s, "set ylabel 'time of one operation'\nset tics nomirror\nset grid");
	script_line(s, "set key top left reverse Left");
	chart_write(c, p->palette, CHART_MARKS, s);
	free(name);
	free(fixed);
}

static int broadcast_draw(const struct plot *p, struct script *s)
{
	struct series series;
	struct chart chart;
	int err = 0;

	collect(&series, p);
	chart_init(&chart);
	fill(&chart, &series);
	if (!series.cnt) {
		log_error("%s: %s: no point to draw", p->result[0]->file->path,
			  p->result[0]->benchmark);
		err = -ENODATA;
	} else if (chart.cnt > PALETTE_LINE_CNT) {
		err = series_refuse(&series, "broadcast", chart.cnt);
	} else {
		write_chart(p, &series, &chart, s);
	}
	chart_release(&chart);
	series_release(&series);
	return err;
}

const struct picture plot_broadcast = {
	.name = "broadcast",
	.brief = "What the methods of measuring a broadcast say, over the number of tasks.",
	.many = true,
	.takes = broadcast_takes,
	.size = broadcast_size,
	.draw = broadcast_draw,
};
