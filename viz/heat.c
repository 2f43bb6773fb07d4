/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Ratios above 2 are shown as 2, and delays are limited to 0.1 … 10000 times the reference. So the
 * colours of all maps mean the same (Denis & Trahay 2016, III.C and III.D). T_comm is the white
 * line; to its lower right communication is the longer part. Cells that were not measured or have
 * no ratio are hatched. Cells whose interval says little are grey. A wrong ratio, below 0 beyond
 * chance, has the colour of 0 and a dot. A delay is that of the means, because the median does not
 * show what happens to one message in ten.
 */
#include "heat.h"

#include "picture.h"

#include <math.h>
#include <string.h>

static const struct range limits[] = {[HEAT_RATIO] = {0, 2}, [HEAT_DELAY] = {0.1, 10000}};

bool heat_takes_ratio(const struct data_result *r)
{
	return !strcmp(r->kind, "map") && cells_are_there(r, "ratio", "compute_ns", true);
}

/* Prefers the means, which results of other programs may lack. */
static const char *delay_name(const struct data_result *r)
{
	return cells_are_there(r, "ratio_mean", "threads", false) ? "ratio_mean" : "ratio";
}

bool heat_takes_delay(const struct data_result *r)
{
	return !strcmp(r->kind, "load") && cells_are_there(r, delay_name(r), "threads", false);
}

/* T_comm of the first point of that size; NaN if there is none. */
static double comm_ns(const struct data_result *r, double bytes)
{
	double comm;

	for (size_t i = 0; i < r->point_cnt; i++) {
		comm = data_time(r->point[i], "comm", "median");
		if (data_param(r->point[i], "bytes") == bytes && comm > 0)
			return comm;
	}
	return NAN;
}

static void find_comm(struct cells *c, const struct data_result *r)
{
	for (size_t i = 0; i < c->cnt; i++)
		c->cell[i].comm_ns = i && c->cell[i - 1].x == c->cell[i].x ?
					     c->cell[i - 1].comm_ns :
					     comm_ns(r, c->cell[i].x);
}

int heat_init(struct heat *h, const struct data_result *r)
{
	bool is_load = !strcmp(r->kind, "load");
	int err;

	*h = (struct heat){.kind = is_load ? HEAT_DELAY : HEAT_RATIO, .result = r};
	err = cells_init(&h->cells, r, is_load ? delay_name(r) : "ratio",
			 is_load ? "threads" : "compute_ns", !is_load);
	if (err)
		return err;
	if (!is_load)
		find_comm(&h->cells, r);
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
		script_line(s, "set cbtics ('≤ 0  perfect' 0, '0.5' 0.5, '1  none' 1, '1.5' 1.5, "
			       "'≥ 2' 2)");
	} else {
		script_line(s, "set logscale cb 10\nset cbrange [0.1:10000]");
		script_line(s, "set cbtics ('≤ 0.1' 0.1, '1' 1, '10' 10, '100' 100, "
			       "'1000' 1000, '≥ 10000' 10000)");
	}
}

const char *heat_scale_name(const struct heat *h)
{
	return h->kind == HEAT_RATIO ? "overhead ratio" : "(T_{loaded} − T_{ref}) / T_{ref}";
}

static bool same_range(const struct range *a, const struct range *b)
{
	return a->low == b->low && a->high == b->high;
}

unsigned int heat_marks(const struct heat *h)
{
	struct range x = cells_axis_range(&h->cells.x), y = cells_axis_range(&h->cells.y);
	unsigned int marks = 0;

	if (cells_have_gaps(&h->cells) || !same_range(&x, &h->x) || !same_range(&y, &h->y))
		marks |= HEAT_MARK_GAPS;
	for (size_t i = 0; i < h->cells.cnt; i++)
		marks |= isfinite(h->cells.cell[i].comm_ns) ? HEAT_MARK_COMM : 0;
	return marks | (cells_have(&h->cells, CELL_WRONG) ? HEAT_MARK_WRONG : 0) |
	       (cells_have(&h->cells, CELL_UNKNOWN) ? HEAT_MARK_UNKNOWN : 0);
}

void heat_write_legend(unsigned int marks, struct script *s)
{
	static const char *const phrase[] = {"white line: T_{comm}",
					     "hatched: not measured, or T_{comm} not known",
					     "dots: wrong, below 0", "grey: unknown"};
	const char *between = "";

	fputs("set label '", s->out);
	for (size_t i = 0; i < sizeof(phrase) / sizeof(phrase[0]); i++) {
		if (!(marks >> i & 1))
			continue;
		fprintf(s->out, "%s%s", between, phrase[i]);
		between = ";  ";
	}
	script_line(s, "' at screen 0,screen 0 offset character 1,0.8 left font small");
}

static void write_threads_axis(const struct heat *h, bool labels, struct script *s)
{
	const struct cells_axis *y = &h->cells.y;
	size_t step = y->cnt / 9 + 1;

	script_line(s, "unset logscale y\nset yrange [%.9g:%.9g]", h->y.low, h->y.high);
	fputs("set ytics (", s->out);
	for (size_t i = 0; i < y->cnt; i += step) {
		fprintf(s->out, "%s'", i ? ", " : "");
		if (labels)
			fprintf(s->out, "%.9g", y->value[i]);
		fprintf(s->out, "' %.9g", y->value[i]);
	}
	script_line(s, ")");
}

/* A dot's size, small enough to leave the cell's colour visible. */
static double dot_size(const struct heat *h, const struct heat_style *style)
{
	double cell_px = fmin(style->width_px / (double)h->cells.x.cnt,
			      style->height_px / (double)h->cells.y.cnt);

	return fmax(0.2, fmin(0.7, cell_px / 40));
}

void heat_write(const struct heat *h, const struct heat_style *style, struct script *s)
{
	unsigned int marks = heat_marks(h);

	axis_bytes(s, "x", &h->x, style->x_tics, style->x_labels);
	if (h->kind == HEAT_DELAY)
		write_threads_axis(h, style->y_labels, s);
	else
		axis_time(s, "y", &h->y, style->y_labels);
	table_begin(s, &h->result, 1,
		    h->kind == HEAT_DELAY ?
			    "bytes\tthreads\tdelay\tjudged" :
			    "bytes\tcompute_ns\tratio\tjudged\tratio_low\tratio_high\tcomm_ns");
	cells_write(&h->cells, &limits[h->kind], style->width_px, style->height_px, s);
	cells_plot(&h->cells, s->block_cnt, s);
	if (marks & HEAT_MARK_COMM)
		cells_plot_comm(s->block_cnt,
				style->palette == PALETTE_SAFE || marks & HEAT_MARK_GAPS, s);
	cells_plot_dots(&h->cells, s->block_cnt, CELL_WRONG, dot_size(h, style), "#b0b0b0", s);
	fputc('\n', s->out);
}
