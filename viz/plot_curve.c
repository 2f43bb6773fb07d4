/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The references: time of a transfer over message size, and the resulting bandwidth. The
 * confidence interval of the median is a band. Several results, from one file or several, share
 * the picture.
 */
#include "chart.h"
#include "picture.h"

#include "lib/log.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool curve_takes(const struct data_result *r)
{
	return !strcmp(r->kind, "curve") && r->point_cnt;
}

static void curve_size(const struct plot *p, uint64_t *width_px, uint64_t *height_px)
{
	*width_px = 1180;
	*height_px = 560;
}

/* The benchmark and, with several files, the library. */
static char *name_of(const struct plot *p, const struct data_result *r)
{
	char *library, *name, *title = data_title(r->benchmark);
	size_t i;

	for (i = 0; i < p->cnt && p->result[i]->file == r->file; i++)
		;
	if (i == p->cnt)
		return title;
	library = data_library(r->file);
	name = xasprintf("%s, %s", title, library);
	free(library);
	free(title);
	return name;
}

static void add_points(struct chart_line *l, const struct data_result *r)
{
	for (size_t i = 0; i < r->point_cnt; i++) {
		double bytes = data_param(r->point[i], "bytes");
		double median = data_time(r->point[i], "measured", "median");

		if (bytes > 0 && median > 0)
			chart_point_add(l, bytes, median,
					data_time(r->point[i], "measured", "ci_low"),
					data_time(r->point[i], "measured", "ci_high"));
	}
}

static void write_time(const struct chart *c, const struct plot *p, struct script *s)
{
	struct range y = chart_range_y(c, true);

	/* Leave room for the key above all lines. */
	y.low /= 1.3;
	y.high *= 2 * pow(y.high / y.low, 0.06 * (double)c->cnt);
	axis_time(s, "y", &y, true);
	script_line(s, "set title 'Time'\nset ylabel 'median, and its 95 %% confidence interval'");
	script_line(s, "set key top left reverse Left font small");
	table_begin(s, p->result, p->cnt,
		    "line\tbytes\ttime_ns\ttime_low_ns\ttime_high_ns\t"
		    "bandwidth_gb_s\tbandwidth_low_gb_s\tbandwidth_high_gb_s");
	chart_write(c, NULL, p->palette, CHART_MARKS, s);
}

/* The unit works out because bytes per ns are GB/s. */
static void write_bandwidth(const struct chart *c, const struct plot *p, struct script *s)
{
	script_line(s, "unset logscale y\nset yrange [0:*]\nset ytics autofreq\n"
		       "set title 'Bandwidth'\nset ylabel 'GB/s'\nunset key");
	chart_write_rates(c, p->palette, s);
}

static void write_panels(const struct chart *c, const struct plot *p, struct script *s)
{
	char *title = data_title(p->result[0]->benchmark);
	struct range x = chart_range_x(c, true);

	x = (struct range){x.low / 1.2, x.high * 1.2};
	picture_head(p, p->cnt > 1 ? "Reference times" : title, 1, 2, s);
	free(title);
	axis_bytes(s, "x", &x, 7, true);
	script_line(s, "set tics nomirror\nset grid\nset xlabel 'message size'");
	write_time(c, p, s);
	write_bandwidth(c, p, s);
	script_line(s, "unset multiplot");
}

static int curve_draw(const struct plot *p, struct script *s)
{
	struct chart c;
	struct range x;
	int err = 0;

	if (p->cnt > PALETTE_LINE_CNT) {
		log_error("%zu lines are too many for one picture; choose with --benchmark",
			  p->cnt);
		return -EINVAL;
	}
	chart_init(&c);
	c.rates = true;
	for (size_t i = 0; i < p->cnt; i++)
		add_points(chart_line_add(&c, name_of(p, p->result[i])), p->result[i]);
	x = chart_range_x(&c, true);
	if (range_is_empty(&x)) {
		err = data_refuse_empty(p->result[0]);
	} else {
		write_panels(&c, p, s);
	}
	chart_release(&c);
	return err;
}

const struct picture plot_curve = {
	.name = "curve",
	.many = true,
	.takes = curve_takes,
	.size = curve_size,
	.draw = curve_draw,
};
