/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * One benchmark in two files: the second file's times relative to the first's. A map becomes a
 * map, a curve a curve. The intervals are those of the medians, over launches if there are
 * several. If they overlap, or if there are none, no difference is shown, and a dot marks the
 * point. "povbench compare" reports which conclusions the launches allow.
 */
#include "core/param_text.h"
#include "heat.h"
#include "chart.h"
#include "picture.h"

#include "lib/log.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TIME "measured"
#define SCALE_LEAST 1.1 /* least range of the colours */
#define SCALE_MOST 16.0
#define RATIO_NAME "time of B / time of A"
#define RATIO_COLUMN "b_over_a"

struct ratio {
	double bytes, compute_ns;
	double value, low, high; /* B to A; the interval is NaN if one of them has none */
};

struct difference {
	struct ratio *ratio; /* for points that both have; owned */
	size_t cnt;
};

static bool has_place(const json_t *point)
{
	return data_param(point, "bytes") > 0 && data_param(point, "compute_ns") > 0;
}

static bool difference_takes(const struct data_result *r)
{
	if (!strcmp(r->kind, "curve"))
		return r->point_cnt;
	return !strcmp(r->kind, "map") && data_has(r, has_place);
}

/* ---- common points ---- */

/* The index of each point, from 1, by its parameters. The caller releases it. */
static json_t *index_of(const struct data_result *r)
{
	json_t *index = json_object();

	for (size_t i = 0; i < r->point_cnt; i++) {
		char *key = params_key(r->point[i]);

		json_object_set_new(index, key, json_integer((json_int_t)i + 1));
		free(key);
	}
	return index;
}

static void add(struct difference *d, const json_t *a, const json_t *b)
{
	double value = data_time(b, TIME, "median") / data_time(a, TIME, "median");

	if (value > 0 && isfinite(value))
		d->ratio[d->cnt++] = (struct ratio){
			.bytes = data_param(a, "bytes"),
			.compute_ns = data_param(a, "compute_ns"),
			.value = value,
			.low = data_time(b, TIME, "ci_low") / data_time(a, TIME, "ci_high"),
			.high = data_time(b, TIME, "ci_high") / data_time(a, TIME, "ci_low"),
		};
}

static int difference_init(struct difference *d, const struct data_result *a,
			   const struct data_result *b)
{
	json_t *index = index_of(b);
	size_t at;
	char *key;

	*d = (struct difference){.ratio = xcalloc(a->point_cnt + 1, sizeof(*d->ratio))};
	for (size_t i = 0; i < a->point_cnt; i++) {
		key = params_key(a->point[i]);
		at = (size_t)json_integer_value(json_object_get(index, key));
		if (at)
			add(d, a->point[i], b->point[at - 1]);
		free(key);
	}
	json_decref(index);
	if (d->cnt)
		return 0;
	log_error("%s: %s and %s have no point in common", a->benchmark, a->file->path,
		  b->file->path);
	free(d->ratio);
	return -ENODATA;
}

/* ---- a map ---- */

static int collect_cells(const struct difference *d, const struct data_result *r, struct cells *c)
{
	cells_begin(c, d->cnt, true);
	for (size_t i = 0; i < d->cnt; i++) {
		const struct ratio *one = &d->ratio[i];
		bool differs = one->low > 1 || one->high < 1;

		cells_add(c, &(struct cell){.x = one->bytes,
					    .y = one->compute_ns,
					    .value = one->value,
					    .low = one->low,
					    .high = one->high,
					    .judged = differs ? CELL_DIFFERS : CELL_ALIKE,
					    .comm_ns = NAN});
	}
	return cells_end(c, r, "compute_ns");
}

/* Range of the colours on both sides of 1. */
static double scale_of(const struct difference *d)
{
	double most = SCALE_LEAST;

	for (size_t i = 0; i < d->cnt; i++)
		most = fmax(most, fmax(d->ratio[i].value, 1 / d->ratio[i].value));
	return fmin(most, SCALE_MOST);
}

static void write_colours(enum palette p, double most, struct script *s)
{
	/* From shorter to longer. Blue and orange can be distinguished with any colour vision. */
	static const char *const colour[][4] = {
		[PALETTE_PAPER] = {"#1040a0", "#80a0e0", "#f09080", "#b01010"},
		[PALETTE_SAFE] = {"#00568c", "#6aaed6", "#f0b050", "#b05000"},
	};
	static const double place[] = {-1, -0.5, 0, 0.5, 1};

	script_line(s, "set palette defined (-1 '%s', -0.5 '%s', 0 '#f7f7f7', 0.5 '%s', 1 '%s')",
		    colour[p][0], colour[p][1], colour[p][2], colour[p][3]);
	script_line(s, "set logscale cb 2\nset cbrange [%.9g:%.9g]", 1 / most, most);
	fputs("set cbtics (", s->out);
	for (size_t i = 0; i < sizeof(place) / sizeof(place[0]); i++)
		fprintf(s->out, "%s'%.3g' %.9g", i ? ", " : "", pow(most, place[i]),
			pow(most, place[i]));
	script_line(s, ")");
}

static void write_legend(const struct cells *c, struct script *s)
{
	bool alike = cells_have(c, CELL_ALIKE), gaps = cells_have_gaps(c);

	script_line(
		s, "set label '%s%s%s' at screen 0,screen 0 offset character 1,0.8 left font small",
		alike ? "dots: intervals overlap" : "", alike && gaps ? ";  " : "",
		gaps ? "hatched: not measured in both" : "");
}

static int draw_map(const struct plot *p, const struct difference *d, struct script *s)
{
	double most = scale_of(d);
	const struct range limits = {1 / most, most};
	struct range x, y;
	struct cells cells;
	int err = collect_cells(d, p->result[0], &cells);

	if (err)
		return err;
	x = cells_axis_range(&cells.x);
	y = cells_axis_range(&cells.y);
	script_line(s, "set xlabel 'message size'\nset ylabel 'computation time'");
	picture_scale(p, RATIO_NAME, s);
	write_colours(p->palette, most, s);
	axis_bytes(s, "x", &x, picture_map_tics(p), true);
	axis_time(s, "y", &y, true);
	write_legend(&cells, s);
	table_begin(s, p->result, p->cnt,
		    "bytes\tcompute_ns\t" RATIO_COLUMN "\tjudged\t" RATIO_COLUMN
		    "_low\t" RATIO_COLUMN "_high");
	cells_write(&cells, &limits, picture_map_px(p), PICTURE_MAP_HEIGHT * (double)p->height_px,
		    s);
	cells_plot(&cells, s->block_cnt, s);
	cells_plot_dots(&cells, s->block_cnt, CELL_ALIKE, 0.4, "#606060", s);
	fputc('\n', s->out);
	cells_release(&cells);
	return 0;
}

/* ---- a curve ---- */

static void draw_curve(const struct plot *p, const struct difference *d, struct script *s)
{
	struct chart_line *line;
	struct chart chart;
	struct range x;

	chart_init(&chart);
	line = chart_line_add(&chart, xstrdup("B / A"));
	for (size_t i = 0; i < d->cnt; i++)
		chart_point_add(line, d->ratio[i].bytes, d->ratio[i].value, d->ratio[i].low,
				d->ratio[i].high);
	x = chart_range_x(&chart, true);
	x = (struct range){x.low / 1.2, x.high * 1.2};
	axis_bytes(s, "x", &x, 10, true);
	script_line(s, "set tics nomirror\nset grid\nunset key\nset xlabel 'message size'");
	script_line(s, "set ylabel '" RATIO_NAME "'\nset yrange [*:*]");
	script_line(
		s,
		"set arrow from graph 0,first 1 to graph 1,first 1 nohead linecolor rgb 'black'");
	table_begin(s, p->result, p->cnt,
		    "line\tbytes\t" RATIO_COLUMN "\t" RATIO_COLUMN "_low\t" RATIO_COLUMN "_high");
	chart_write(&chart, NULL, p->palette, CHART_MARKS, s);
	chart_release(&chart);
}

/* ---- both ---- */

/*
 * "A: old.json, Open MPI v4.1.4, vader, node7, 2026-11-21, medians of 10 launches". The caller
 * frees.
 */
static char *line_of(char letter, const struct data_result *r)
{
	char *origin = data_origin(r->file), *line, *more;

	line = xasprintf("%c: %s%s%s", letter, r->file->path, *origin ? ", " : "", origin);
	free(origin);
	if (r->launch_cnt < 2)
		return line;
	more = xasprintf("%s, medians of %zu launches", line, r->launch_cnt);
	free(line);
	return more;
}

static void write_title(const struct plot *p, struct script *s)
{
	char *name = data_title(p->result[0]->benchmark);
	char *full = xasprintf("%s: B to A", name);
	char *a = line_of('A', p->result[0]), *b = line_of('B', p->result[1]);
	const char *lines[] = {a, b, NULL};

	fputs("set title ", s->out);
	picture_lines(p, full, lines, s);
	free(a);
	free(b);
	free(full);
	free(name);
}

static int check_two(const struct plot *p)
{
	const struct data_result *a = p->result[0], *b = p->result[p->cnt - 1];

	if (p->cnt == 2 && a->file != b->file && !strcmp(a->benchmark, b->benchmark) &&
	    !strcmp(a->kind, b->kind))
		return 0;
	log_error("picture difference is of one benchmark in two files; choose with --benchmark");
	return -EINVAL;
}

static int difference_draw(const struct plot *p, struct script *s)
{
	struct difference d;
	int err = check_two(p);

	if (!err)
		err = difference_init(&d, p->result[0], p->result[1]);
	if (err)
		return err;
	write_title(p, s);
	if (!strcmp(p->result[0]->kind, "map"))
		err = draw_map(p, &d, s);
	else
		draw_curve(p, &d, s);
	free(d.ratio);
	return err;
}

const struct picture plot_difference = {
	.name = "difference",
	.many = true,
	.takes = difference_takes,
	.size = picture_size,
	.draw = difference_draw,
};
