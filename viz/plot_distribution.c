/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Distribution functions, as in figures 3, 4 and 7 of Nigay et al. 2020: the part of the samples that took no longer than
 * this. From all samples where they were kept, else from the quantiles; P50, P99 and P99.9 stand in the key.
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

#define SMALLEST_NS 1.0 /* where a logarithmic axis begins for a time of 0 */

struct sorted {
	double *value;
	size_t cnt;
	bool quantiles; /* evenly spaced ones, from the least to the largest */
};

/* Times that are worth the most, if none is named. */
static const char *const usual[] = {"waitall", "measured", "latency", NULL};

static bool has_time(const struct data_result *r, const char *name)
{
	size_t i;

	for (i = 0; i < r->point_cnt; i++) {
		if (data_list(r->point[i], name, "samples") ||
		    data_list(r->point[i], name, "quantiles"))
			return true;
	}
	return false;
}

static const char *usual_time(const struct data_result *r)
{
	size_t i;

	for (i = 0; usual[i]; i++) {
		if (has_time(r, usual[i]))
			return usual[i];
	}
	return NULL;
}

static bool distribution_takes(const struct data_result *r)
{
	return usual_time(r);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static struct sorted sort(const json_t *point, const char *time)
{
	const json_t *list = data_list(point, time, "samples"), *value;
	struct sorted s = {.quantiles = !list};
	size_t i;

	if (!list)
		list = data_list(point, time, "quantiles");
	s.value = xcalloc(json_array_size(list), sizeof(*s.value));
	json_array_foreach(list, i, value)
	{
		if (json_is_number(value))
			s.value[s.cnt++] = fmax(json_number_value(value), SMALLEST_NS);
	}
	qsort(s.value, s.cnt, sizeof(*s.value), compare);
	return s;
}

static void add_points(struct chart_line *l, const struct sorted *s)
{
	size_t i;

	for (i = 0; i < s->cnt && s->quantiles; i++)
		chart_point_add(l, s->value[i], (double)i / fmax((double)s->cnt - 1, 1), NAN, NAN);
	/* Of samples it is a staircase: each is a step. */
	for (i = 0; i < s->cnt && !s->quantiles; i++) {
		chart_point_add(l, s->value[i], (double)i / (double)s->cnt, NAN, NAN);
		chart_point_add(l, s->value[i], (double)(i + 1) / (double)s->cnt, NAN, NAN);
	}
}

/* ", P50 12 µs", if there are samples enough to tell. */
static char *append_quantile(char *name, const struct sorted *s, double q, const char *label)
{
	char time[AXIS_TEXT_BYTES], *longer;
	size_t idx;

	if (!s->cnt || (1 - q) * (double)s->cnt < (s->quantiles ? 0.99 : 0.5))
		return name;
	idx = (size_t)(q * (double)(s->cnt - 1) + 0.5);
	axis_time_text(s->value[idx], time, sizeof(time));
	longer = xasprintf("%s%s%s %s", name, *name ? ", " : "", label, time);
	free(name);
	return longer;
}

static void add_line(struct chart *c, const struct series *series, const json_t *point,
		     const char *time)
{
	struct sorted s = sort(point, time);
	char *name = series_name(series, point, true);

	name = append_quantile(name, &s, 0.5, "P50");
	name = append_quantile(name, &s, 0.99, "P99");
	name = append_quantile(name, &s, 0.999, "P99.9");
	add_points(chart_line_add(c, name), &s);
	free(s.value);
}

static int collect(struct series *series, const struct data_result *r, const char *time)
{
	static const char *const none[] = {NULL};
	size_t i;

	series_init(series, none);
	for (i = 0; i < r->point_cnt; i++) {
		if (data_list(r->point[i], time, "samples") ||
		    data_list(r->point[i], time, "quantiles"))
			series_add(series, r->point[i]);
	}
	series_find_params(series);
	if (!series->cnt) {
		log_error("%s: %s: no samples of time \"%s\"", r->file->path, r->benchmark, time);
		return -ENODATA;
	}
	if (series->cnt > PALETTE_LINE_CNT)
		return series_refuse(series, r->benchmark, series->cnt);
	return 0;
}

static void write_chart(const struct plot *p, const struct series *series, const char *time,
			struct chart *c, struct script *s)
{
	char *title = data_title(p->result[0]->benchmark);
	char *fixed = series_name(series, series->point[0], false);
	char *name = xasprintf("%s: distribution of %s%s%s", title, time, *fixed ? ", " : "",
			       fixed);
	struct range x = chart_range_x(c, true);

	x = (struct range){x.low / 1.1, x.high * 1.1};
	single_title(p, name, s);
	axis_time(s, "x", &x, true);
	script_line(s, "set yrange [0:1]\nset ytics 0.1\nset tics nomirror\nset grid");
	script_line(s, "set xlabel 'time'\nset ylabel 'part of the samples'");
	script_line(s, "set key bottom right reverse Left");
	chart_write(c, p->palette, CHART_PLAIN, s);
	free(name);
	free(fixed);
	free(title);
}

static int distribution_draw(const struct plot *p, struct script *s)
{
	const struct data_result *r = p->result[0];
	const char *time = p->time ? p->time : usual_time(r);
	struct series series;
	struct chart chart;
	int err = collect(&series, r, time);
	size_t i;

	chart_init(&chart);
	for (i = 0; i < series.cnt && !err; i++)
		add_line(&chart, &series, series.point[i], time);
	if (!err && !(chart_range_x(&chart, true).high > 0)) {
		log_error("%s: %s: the samples are no numbers", r->file->path, r->benchmark);
		err = -ENODATA;
	}
	if (!err)
		write_chart(p, &series, time, &chart, s);
	chart_release(&chart);
	series_release(&series);
	return err;
}

const struct picture plot_distribution = {
	.name = "distribution",
	.brief = "Distribution function of a time's samples.",
	.takes = distribution_takes,
	.size = single_size,
	.draw = distribution_draw,
};
