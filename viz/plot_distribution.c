/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Distribution functions, as in figures 3, 4 and 7 of Nigay et al. 2020: the share of the samples
 * that took at most a time. It uses all samples if they were kept, otherwise the quantiles. P50,
 * P99 and P99.9 are in the key.
 */
#include "chart.h"
#include "picture.h"
#include "series.h"

#include "lib/log.h"
#include "lib/table.h"
#include "lib/text.h"
#include "core/stats.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct sorted {
	double *value;
	size_t cnt;
	bool quantiles; /* value has evenly spaced quantiles, from the least to the largest */
};

/* The times of most interest, used if none is named. */
static const char *const usual[] = {"waitall", "measured", "latency", NULL};

static bool has_list(const json_t *point, const char *name)
{
	return data_list(point, name, "samples") || data_list(point, name, "quantiles");
}

static bool has_time(const struct data_result *r, const char *name)
{
	return table_any(r->point_cnt, i, has_list(r->point[i], name));
}

/* One of the usual times, or else the first time of the points that has samples. */
static const char *usual_time(const struct data_result *r)
{
	const char *key;
	json_t *value;

	for (size_t i = 0; usual[i]; i++) {
		if (has_time(r, usual[i]))
			return usual[i];
	}
	for (size_t i = 0; i < r->point_cnt; i++) {
		json_object_foreach(json_object_get(r->point[i], "times"), key, value)
		{
			if (has_list(r->point[i], key))
				return key;
		}
	}
	return NULL;
}

static bool distribution_takes(const struct data_result *r)
{
	return usual_time(r);
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
			s.value[s.cnt++] = json_number_value(value);
	}
	qsort(s.value, s.cnt, sizeof(*s.value), stats_compare);
	return s;
}

static void add_points(struct chart_line *l, const struct sorted *s)
{
	for (size_t i = 0; i < s->cnt && s->quantiles; i++)
		chart_point_add(l, s->value[i], (double)i / fmax((double)s->cnt - 1, 1), NAN, NAN);
	/* Samples make a staircase with one step each. */
	for (size_t i = 0; i < s->cnt && !s->quantiles; i++) {
		chart_point_add(l, s->value[i], (double)i / (double)s->cnt, NAN, NAN);
		chart_point_add(l, s->value[i], (double)(i + 1) / (double)s->cnt, NAN, NAN);
	}
}

/* Appends ", P50 12 µs" if there are enough samples for this quantile. */
static char *append_quantile(char *note, const struct sorted *s, double q, const char *label)
{
	char time[AXIS_TEXT_BYTES];
	size_t idx;

	if (!s->cnt || (1 - q) * (double)s->cnt < (s->quantiles ? 0.99 : 0.5))
		return note;
	idx = (size_t)(q * (double)(s->cnt - 1) + 0.5);
	axis_time_text(s->value[idx], time, sizeof(time));
	return text_joined(note, ", ", xasprintf("%s %s", label, time));
}

static void add_line(struct chart *c, const struct series *series, const json_t *point,
		     const char *time)
{
	struct sorted s = sort(point, time);
	struct chart_line *l = chart_line_add(c, series_name(series, point, SERIES_VARYING));

	l->note = append_quantile(xstrdup(""), &s, 0.5, "P50");
	l->note = append_quantile(l->note, &s, 0.99, "P99");
	l->note = append_quantile(l->note, &s, 0.999, "P99.9");
	add_points(l, &s);
	free(s.value);
}

static int collect(struct series *series, const struct data_result *r, const char *time)
{
	static const char *const none[] = {NULL};

	series_init(series, none);
	for (size_t i = 0; i < r->point_cnt; i++) {
		if (has_list(r->point[i], time))
			series_add(series, r->point[i]);
	}
	series_find_params(series);
	if (!series->cnt) {
		log_error("%s: %s: no samples of time \"%s\"", r->file->path, r->benchmark, time);
		return -ENODATA;
	}
	if (series->cnt > PALETTE_LINE_CNT)
		return series_refuse(series, r->benchmark, series->cnt, "lines");
	return 0;
}

/* Logarithmic, unless a time is not above 0, as differences of times may be. */
static void write_time_axis(const struct chart *c, struct script *s)
{
	struct range x = chart_range_x(c, false);
	double margin = 0.02 * (x.high - x.low);

	if (x.low > 0) {
		x = (struct range){x.low / 1.1, x.high * 1.1};
		axis_time(s, "x", &x, true);
	} else {
		margin = margin > 0 ? margin : 1;
		x = (struct range){x.low - margin, x.high + margin};
		axis_time_linear(s, "x", &x);
	}
}

static void write_chart(const struct plot *p, const struct series *series, const char *time,
			struct chart *c, struct script *s)
{
	char *title = data_title(p->result[0]->benchmark);
	char *what = xasprintf("%s: distribution of %s", title, time);
	char *name = series_title(series, what, ", ");
	char *columns = xasprintf("line\t%s_ns\tfraction", time);

	picture_title(p, name, s);
	write_time_axis(c, s);
	script_line(s, "set yrange [0:1]\nset ytics 0.1\nset tics nomirror\nset grid");
	script_line(s, "set xlabel 'time'\nset ylabel 'fraction of the samples'");
	/* The key is below, because lines with many steps leave no corner free. */
	script_line(s, "set bmargin %.1f", 4 + 0.85 * (double)c->cnt);
	script_line(s, "set key bmargin center vertical maxcols 1 reverse Left font small");
	table_begin(s, p->result, 1, columns);
	chart_write(c, NULL, p->palette, CHART_PLAIN, s);
	free(columns);
	free(name);
	free(what);
	free(title);
}

static bool lines_hold_points(const struct chart *c)
{
	struct range x = chart_range_x(c, false);

	return !range_is_empty(&x);
}

static int distribution_draw(const struct plot *p, struct script *s)
{
	const struct data_result *r = p->result[0];
	const char *time = p->time ? p->time : usual_time(r);
	struct series series;
	struct chart chart;
	int err = collect(&series, r, time);

	chart_init(&chart);
	for (size_t i = 0; i < series.cnt && !err; i++)
		add_line(&chart, &series, series.point[i], time);
	if (!err && !lines_hold_points(&chart)) {
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
	.takes = distribution_takes,
	.size = picture_size,
	.draw = distribution_draw,
};
