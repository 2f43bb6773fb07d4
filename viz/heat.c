/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Ratios above 2 are shown as 2, delays are held within 0.1 … 10000 times the reference, and so are the colours of all
 * maps the same (Denis & Trahay 2016, III.C and III.D). T_comm is the white line: to its lower right communication is
 * the longer part. What was not measured is grey.
 */
#include "heat.h"

#include "base/log.h"

#include <math.h>
#include <string.h>

#define RATIO_MAX 2.0
#define DELAY_MIN 0.1
#define DELAY_MAX 10000.0

bool heat_takes_ratio(const struct data_result *r)
{
	return !strcmp(r->kind, "map") && r->point_cnt;
}

bool heat_takes_delay(const struct data_result *r)
{
	return !strcmp(r->kind, "load") && r->point_cnt;
}

static double ratio_colour(const json_t *point)
{
	double ratio = data_value(point, "ratio");

	/* A little below 0 is perfect overlap, with T_comm measured a little too long. */
	return isnan(ratio) ? NAN : fmax(0, fmin(RATIO_MAX, ratio));
}

static double delay_colour(const json_t *point)
{
	double delay = data_value(point, "ratio");

	return isnan(delay) ? NAN : fmax(DELAY_MIN, fmin(DELAY_MAX, delay));
}

int heat_init(struct heat *h, const struct data_result *r)
{
	int err;

	*h = (struct heat){.kind = heat_takes_delay(r) ? HEAT_DELAY : HEAT_RATIO, .result = r};
	if (h->kind == HEAT_DELAY)
		err = cells_init(&h->cells, r, "threads", false, delay_colour);
	else
		err = cells_init(&h->cells, r, "compute_ns", true, ratio_colour);
	if (err)
		return err;
	h->x = cells_axis_range(&h->cells.x);
	h->y = cells_axis_range(&h->cells.y);
	return 0;
}

void heat_release(struct heat *h)
{
	cells_release(&h->cells);
}

void heat_write_colours(const struct heat *h, enum palette p, struct script *s)
{
	palette_map(s, p);
	if (h->kind == HEAT_RATIO) {
		script_line(s, "unset logscale cb\nset cbrange [0:2]");
		script_line(s, "set cbtics ('0  perfect' 0, '0.5' 0.5, '1  none' 1, '1.5' 1.5, "
			       "'≥ 2' 2)");
	} else {
		script_line(s, "set logscale cb 10\nset cbrange [0.1:10000]");
		script_line(s, "set cbtics ('≤ 0.1' 0.1, '1' 1, '10' 10, '100' 100, "
			       "'1000' 1000, '≥ 10000' 10000)");
	}
}

void heat_write_scale_name(const struct heat *h, double x, double y, const char *font,
			   struct script *s)
{
	/* The colour box' own label would stand where the font is guessed to end, which SVG viewers do not keep to. */
	script_line(s, "set label '%s' at screen %.5f,%.5f center rotate by 90 %s",
		    h->kind == HEAT_RATIO ? "overhead ratio" : "(T_{loaded} − T_{ref}) / T_{ref}",
		    x, y, font);
}

/* T_comm of each size, once; false if there is none of it. */
static bool write_comm(const struct heat *h, struct script *s)
{
	const struct data_result *r = h->result;
	size_t i, k, cnt = 0;

	script_block_begin(s);
	for (i = 0; i < h->cells.x.cnt; i++) {
		double bytes = h->cells.x.value[i], comm = NAN;

		for (k = 0; k < r->point_cnt && !(comm > 0); k++) {
			if (data_param(r->point[k], "bytes") == bytes)
				comm = data_time(r->point[k], "comm", "median");
		}
		if (comm > 0 && isfinite(comm) && ++cnt)
			script_line(s, "%.9g %.9g", bytes, comm);
	}
	script_block_end(s);
	return cnt > 0;
}

static void write_threads_axis(const struct heat *h, bool labels, struct script *s)
{
	const struct cells_axis *y = &h->cells.y;
	size_t i, step = y->cnt / 9 + 1;

	script_line(s, "unset logscale y\nset yrange [%.9g:%.9g]", h->y.low, h->y.high);
	fputs("set ytics (", s->out);
	for (i = 0; i < y->cnt; i += step) {
		fprintf(s->out, "%s'", i ? ", " : "");
		if (labels)
			fprintf(s->out, "%.9g", y->value[i]);
		fprintf(s->out, "' %.9g", y->value[i]);
	}
	script_line(s, ")");
}

static void write_background(struct script *s)
{
	script_line(s, "set object 1 rectangle from graph 0,0 to graph 1,1 behind "
		       "fillcolor rgb '#c8c8c8' fillstyle solid noborder");
}

void heat_write(const struct heat *h, const struct heat_style *style, struct script *s)
{
	unsigned int cells;
	bool comm = false;

	axis_bytes(s, "x", &h->x, style->x_tics, style->x_labels);
	if (h->kind == HEAT_DELAY)
		write_threads_axis(h, style->y_labels, s);
	else
		axis_time(s, "y", &h->y, style->y_labels);
	cells_write(&h->cells, style->width_px, style->height_px, s);
	cells = s->block_cnt;
	if (h->kind == HEAT_RATIO)
		comm = write_comm(h, s);
	write_background(s);
	fprintf(s->out,
		"plot $d%u using 1:4:2:3:5:6:7 with boxxyerror linecolor palette "
		"fillstyle solid noborder notitle",
		cells);
	/* White on bright yellow is hard to see; the paper's map seldom has that beside the line. */
	if (comm && style->palette == PALETTE_SAFE)
		fprintf(s->out, ", $d%u with lines linecolor rgb 'black' linewidth 5 notitle",
			s->block_cnt);
	if (comm)
		fprintf(s->out, ", $d%u with lines linecolor rgb 'white' linewidth 2.5 notitle",
			s->block_cnt);
	fputc('\n', s->out);
}
