/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Readings of several clocks for the same work when ranks share a core (Nigay et al. 2020, table
 * 1): the mean over the ranks of each reading's median, with a group of bars for each number of
 * ranks per core. A clock of the process stays level; a wall clock rises.
 */
#include "chart.h"
#include "picture.h"

#include "lib/log.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool timers_takes(const struct data_result *r)
{
	return !strcmp(r->kind, "timers") && r->point_cnt;
}

/* Mean over all points with that many ranks per core; NaN if none of them has that time. */
static double mean_of(const struct data_result *r, const char *time, double ranks)
{
	double sum = 0, value;
	size_t cnt = 0;

	for (size_t i = 0; i < r->point_cnt; i++) {
		value = data_time(r->point[i], time, "median");
		if (data_param(r->point[i], "ranks_per_core") == ranks && isfinite(value)) {
			sum += value;
			cnt++;
		}
	}
	return cnt ? sum / (double)cnt : NAN;
}

static void fill(struct chart *c, const struct data_result *r)
{
	const char *key;
	json_t *value;

	for (size_t i = 0; i < r->point_cnt; i++) {
		double ranks = data_param(r->point[i], "ranks_per_core");

		json_object_foreach(json_object_get(r->point[i], "times"), key, value)
		{
			struct chart_line *l = chart_line_get(c, xstrdup(key));

			if (!chart_line_has_x(l, ranks))
				chart_point_add(l, ranks, mean_of(r, key, ranks), NAN, NAN);
		}
	}
}

static void write_axes(const struct range *x, const struct range *y, struct script *s)
{
	/* Leave room for the key. */
	struct range high = {0, y->high * 1.35};

	axis_time_linear(s, "y", &high);
	script_line(s, "set xrange [%.9g:%.9g]\nset xtics 1 scale 0", x->low - 0.6, x->high + 0.6);
	script_line(s, "set xlabel 'ranks per core'\nset ylabel 'reading, mean over the ranks'");
	script_line(s, "set tics nomirror\nset grid y\nset key top left reverse Left maxrows 3");
}

static int timers_draw(const struct plot *p, struct script *s)
{
	const struct data_result *r = p->result[0];
	struct range x, y;
	struct chart c;
	int err = 0;

	chart_init(&c);
	fill(&c, r);
	x = chart_range_x(&c, false);
	y = chart_range_y(&c, false);
	if (!(y.high > 0)) {
		err = data_refuse_empty(r);
	} else if (c.cnt > PALETTE_LINE_CNT) {
		log_error("%s: %s: %zu times are too many for one picture", r->file->path,
			  r->benchmark, c.cnt);
		err = -EINVAL;
	} else {
		picture_title(p, r->benchmark, s);
		write_axes(&x, &y, s);
		table_begin(s, &r, 1, "clock\tranks_per_core\treading_ns");
		chart_write(&c, NULL, p->palette, CHART_BARS, s);
	}
	chart_release(&c);
	return err;
}

const struct picture plot_timers = {
	.name = "timers",
	.takes = timers_takes,
	.size = picture_size,
	.draw = timers_draw,
};
