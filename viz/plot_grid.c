/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Many maps at once, as in figure 2 of Denis & Trahay 2016. A row is a library with its transport
 * (a file), a column is a benchmark, in the paper's order. All maps have the same axes and
 * colours, except that the N-threads load has its own scale.
 */
#include "heat.h"
#include "picture.h"

#include "lib/log.h"

#include <stdlib.h>
#include <string.h>

/* Sizes in pixels. A map needs room for three labels on its axis. */
enum {
	MAP_WIDTH = 190,
	MAP_HEIGHT = 140,
	GAP = 14,
	BAND_HEAD = 28, /* names of the columns */
	ROW_HEAD = 28,	/* the row's name, above it */
	BAND_FOOT = 34, /* labels of the sizes */
	LEFT = 90,
	TOP = 52,
	THREADS = 56, /* left of maps with an axis of threads */
	BOTTOM = 50,
	SCALE = 120, /* a colour scale with labels */
};

#define TIC_PX 46      /* width of a size's label */
#define BAND_COLUMNS 7 /* more would be too small on a page, so a further band takes them */

static const char *const order[] = {"sender",	    "receiver", "both_sides", "noncontig",
				    "cpu_overhead", "nload",	NULL};

struct grid_column {
	const char *benchmark;
	enum heat_kind kind;
	size_t band, place; /* place: in the band, from the left */
	size_t axis_cnt;    /* columns of its band, up to this one, with an axis of their own */
};

struct grid {
	struct grid_column *column; /* owned */
	const struct data_file **row;
	size_t column_cnt, row_cnt, band_cnt;
	struct grid_column most; /* largest place and axis_cnt */
	struct heat *heat;	 /* [row × column]; no result if the file has no such map */
	bool scale[2];		 /* needed colour scales, by enum heat_kind */
};

static bool grid_takes(const struct data_result *r)
{
	return heat_takes_ratio(r) || heat_takes_delay(r);
}

static void column_add(struct grid *g, const struct data_result *r)
{
	struct grid_column *c = &g->column[g->column_cnt];

	for (size_t i = 0; i < g->column_cnt; i++) {
		if (!strcmp(g->column[i].benchmark, r->benchmark))
			return;
	}
	c->benchmark = r->benchmark;
	c->kind = heat_takes_delay(r) ? HEAT_DELAY : HEAT_RATIO;
	g->scale[c->kind] = true;
	g->column_cnt++;
}

static void row_add(struct grid *g, const struct data_file *file)
{
	if (!g->row_cnt || g->row[g->row_cnt - 1] != file)
		g->row[g->row_cnt++] = file;
}

/* The paper's columns get a band of their own if all columns do not fit into one. */
static void place_columns(struct grid *g, size_t paper_cnt)
{
	for (size_t i = 0; i < g->column_cnt; i++) {
		struct grid_column *c = &g->column[i], *before = c - 1;
		bool begins = !i || before->place + 1 == BAND_COLUMNS ||
			      (i == paper_cnt && g->column_cnt > BAND_COLUMNS);

		g->band_cnt += begins;
		c->band = g->band_cnt - 1;
		if (!begins) {
			c->place = before->place + 1;
			c->axis_cnt = before->axis_cnt + (c->kind != before->kind);
		}
		g->most.place = c->place > g->most.place ? c->place : g->most.place;
		g->most.axis_cnt = c->axis_cnt > g->most.axis_cnt ? c->axis_cnt : g->most.axis_cnt;
	}
}

/*
 * Rows are the files in their order. Columns are the paper's benchmarks in its order, then others.
 */
static void grid_init(struct grid *g, const struct plot *p)
{
	size_t paper_cnt;

	*g = (struct grid){.column = xcalloc(p->cnt, sizeof(*g->column)),
			   .row = xcalloc(p->cnt, sizeof(struct data_file *))};
	for (size_t i = 0; i < p->cnt; i++)
		row_add(g, p->result[i]->file);
	for (size_t k = 0; order[k]; k++) {
		for (size_t i = 0; i < p->cnt; i++) {
			if (!strcmp(p->result[i]->benchmark, order[k]))
				column_add(g, p->result[i]);
		}
	}
	paper_cnt = g->column_cnt;
	for (size_t i = 0; i < p->cnt; i++)
		column_add(g, p->result[i]);
	place_columns(g, paper_cnt);
	g->heat = xcalloc(g->row_cnt * g->column_cnt, sizeof(*g->heat));
}

static void grid_release(struct grid *g)
{
	for (size_t i = 0; i < g->row_cnt * g->column_cnt; i++) {
		if (g->heat[i].result)
			heat_release(&g->heat[i]);
	}
	free(g->heat);
	free(g->column);
	free(g->row);
}

static struct heat *heat_at(const struct grid *g, size_t row, size_t column)
{
	return &g->heat[row * g->column_cnt + column];
}

static struct heat *place_of(const struct grid *g, const struct data_result *r)
{
	size_t row = 0, column = 0;

	while (g->row[row] != r->file)
		row++;
	while (strcmp(g->column[column].benchmark, r->benchmark))
		column++;
	return heat_at(g, row, column);
}

static int grid_fill(struct grid *g, const struct plot *p)
{
	int err;

	for (size_t i = 0; i < p->cnt; i++) {
		struct heat *h = place_of(g, p->result[i]);

		if (h->result) {
			log_warn("%s: several results of %s; the first is drawn",
				 p->result[i]->file->path, p->result[i]->benchmark);
			continue;
		}
		err = heat_init(h, p->result[i]);
		if (err) {
			h->result = NULL;
			return err;
		}
	}
	return 0;
}

/* Gives all maps the same x axis, and maps of one kind the same y axis. */
static void axes_unify(struct grid *g)
{
	struct range x = range_empty(), y[2] = {range_empty(), range_empty()};

	for (size_t i = 0; i < g->row_cnt * g->column_cnt; i++) {
		const struct heat *h = &g->heat[i];

		if (!h->result)
			continue;
		range_widen(&x, h->x.low);
		range_widen(&x, h->x.high);
		range_widen(&y[h->kind], h->y.low);
		range_widen(&y[h->kind], h->y.high);
	}
	for (size_t i = 0; i < g->row_cnt * g->column_cnt; i++) {
		g->heat[i].x = x;
		g->heat[i].y = y[g->heat[i].kind];
	}
}

static double scales_px(const struct grid *g)
{
	return SCALE * (g->scale[HEAT_RATIO] + g->scale[HEAT_DELAY]);
}

static void grid_size(const struct plot *p, uint64_t *width_px, uint64_t *height_px)
{
	struct grid g;

	grid_init(&g, p);
	*width_px = LEFT + (g.most.place + 1) * (MAP_WIDTH + GAP) + g.most.axis_cnt * THREADS +
		    (uint64_t)scales_px(&g);
	*height_px = TOP + BOTTOM +
		     g.band_cnt * (BAND_HEAD + g.row_cnt * (MAP_HEIGHT + ROW_HEAD) + BAND_FOOT);
	grid_release(&g);
}

/* Place of a row's and column's map, in fractions of the picture from the lower left. */
struct box {
	double left, right, bottom, top;
};

static struct box box_of(const struct grid *g, const struct plot *p, size_t row, size_t column)
{
	const struct grid_column *c = &g->column[column];
	double width = (double)p->width_px, height = (double)p->height_px;
	double axes_px = THREADS * (double)g->most.axis_cnt;
	double map_width = (width - LEFT - axes_px - scales_px(g)) / (double)(g->most.place + 1) -
			   GAP;
	double band_height = (height - TOP - BOTTOM) / (double)g->band_cnt;
	double row_height = (band_height - BAND_HEAD - BAND_FOOT) / (double)g->row_cnt;
	double left = LEFT + (double)c->place * (map_width + GAP) + THREADS * (double)c->axis_cnt;
	double top = height - TOP - (double)c->band * band_height - BAND_HEAD -
		     (double)row * row_height - ROW_HEAD;
	struct box b = {left, left + map_width, top - row_height + ROW_HEAD, top};

	b.left /= width;
	b.right /= width;
	b.bottom /= height;
	b.top /= height;
	return b;
}

static void write_label(const char *text, const char *where, struct script *s)
{
	fputs("set label ", s->out);
	script_quoted(s, text);
	script_line(s, " at screen %s", where);
}

/* Writes the rows' names, each above the first map of the row in the column's band. */
static void write_row_names(const struct grid *g, const struct plot *p, size_t column,
			    struct script *s)
{
	char where[96], *name;
	struct box b;

	for (size_t i = 0; i < g->row_cnt; i++) {
		b = box_of(g, p, i, column);
		name = data_row_name(g->row[i]);
		snprintf(where, sizeof(where), "%.5f,%.5f left font small", b.left,
			 b.top + 13.0 / (double)p->height_px);
		write_label(name, where, s);
		free(name);
	}
}

static void write_names(const struct grid *g, const struct plot *p, struct script *s)
{
	char where[96], *name;
	struct box b;

	for (size_t i = 0; i < g->column_cnt; i++) {
		b = box_of(g, p, 0, i);
		name = data_title(g->column[i].benchmark);
		snprintf(where, sizeof(where), "%.5f,%.5f center font small",
			 (b.left + b.right) / 2, b.top + 33.0 / (double)p->height_px);
		write_label(name, where, s);
		free(name);
		if (!g->column[i].place)
			write_row_names(g, p, i, s);
	}
}

/* Writes one colour scale beside the maps: ratios first, then delays. */
static void write_scale(const struct grid *g, const struct plot *p, const struct heat *h,
			struct script *s)
{
	double top = box_of(g, p, 0, 0).top;
	double bottom = box_of(g, p, g->row_cnt - 1, g->column_cnt - 1).bottom;
	bool second = h->kind == HEAT_DELAY && g->scale[HEAT_RATIO];
	double width = (double)p->width_px;
	double left = 1 - (scales_px(g) - 6 - second * SCALE) / width;

	script_line(s, "set colorbox user origin screen %.5f,%.5f size screen %.5f,%.5f", left,
		    bottom, 16.0 / width, top - bottom);
	script_line(s, "set label '%s' at screen %.5f,%.5f center rotate by 90 font small",
		    heat_scale_name(h), left + 102.0 / width, (bottom + top) / 2);
}

static void write_absent(struct script *s)
{
	script_line(s, "unset colorbox\nunset logscale\nset xrange [0:1]\nset yrange [0:1]\n"
		       "set xtics ('' -1)\nset ytics ('' -1)");
	script_line(s, "set label 'not measured' at graph 0.5,0.5 center boxed front\n"
		       "set style textbox opaque noborder\nplot -1 notitle");
}

/* Maps side by side share their y labels if they are of one kind. */
static bool has_axis(const struct grid *g, size_t column)
{
	const struct grid_column *c = &g->column[column];

	return !c->place || c->kind != c[-1].kind;
}

static void write_map(const struct grid *g, const struct plot *p, size_t row, size_t column,
		      bool *scale_drawn, struct script *s)
{
	const struct heat *h = heat_at(g, row, column);
	struct box b = box_of(g, p, row, column);
	struct heat_style style = {
		.palette = p->palette,
		.width_px = (b.right - b.left) * (double)p->width_px,
		.height_px = (b.top - b.bottom) * (double)p->height_px,
		.x_tics = (b.right - b.left) * (double)p->width_px / TIC_PX,
		.x_labels = row + 1 == g->row_cnt,
		.y_labels = has_axis(g, column),
	};

	script_line(s,
		    "set lmargin at screen %.5f\nset rmargin at screen %.5f\n"
		    "set bmargin at screen %.5f\nset tmargin at screen %.5f",
		    b.left, b.right, b.bottom, b.top);
	if (!h->result) {
		write_absent(s);
		return;
	}
	heat_write_colours(h, p->palette, s);
	if (scale_drawn[h->kind])
		script_line(s, "unset colorbox");
	else
		write_scale(g, p, h, s);
	scale_drawn[h->kind] = true;
	heat_write(h, &style, s);
}

static void write_axis_names(const struct grid *g, const struct plot *p, struct script *s)
{
	static const char *const name[] = {
		[HEAT_RATIO] = "computation time", [HEAT_DELAY] = "computing threads"};
	static const double offset_px[] = {[HEAT_RATIO] = 76, [HEAT_DELAY] = 44};
	char where[64];

	for (size_t i = 0; i < g->column_cnt; i++) {
		struct box top = box_of(g, p, 0, i), low = box_of(g, p, g->row_cnt - 1, i);

		if (!has_axis(g, i))
			continue;
		snprintf(where, sizeof(where), "%.5f,%.5f center rotate by 90",
			 top.left - offset_px[g->column[i].kind] / (double)p->width_px,
			 (low.bottom + top.top) / 2);
		write_label(name[g->column[i].kind], where, s);
	}
	snprintf(where, sizeof(where), "%.5f,%.5f center",
		 (1 + (LEFT - scales_px(g)) / (double)p->width_px) / 2,
		 36.0 / (double)p->height_px);
	write_label("message size", where, s);
}

static unsigned int marks_of_all(const struct grid *g)
{
	unsigned int marks = 0;

	for (size_t i = 0; i < g->row_cnt * g->column_cnt; i++)
		marks |= g->heat[i].result ? heat_marks(&g->heat[i]) : HEAT_MARK_GAPS;
	return marks;
}

static void write_grid(const struct grid *g, const struct plot *p, struct script *s)
{
	bool scale_drawn[2] = {false, false};

	picture_head(p,
		     g->scale[HEAT_RATIO] ? "Overlap of communication and computation" :
					    "Delay of communication by computation",
		     0, 0, s);
	write_names(g, p, s);
	write_axis_names(g, p, s);
	heat_write_legend(marks_of_all(g), s);
	script_line(s, "set tics out nomirror font small");
	for (size_t row = 0; row < g->row_cnt; row++) {
		for (size_t column = 0; column < g->column_cnt; column++) {
			write_map(g, p, row, column, scale_drawn, s);
			/*
			 * Labels belong to the whole picture, and each plot would draw them again.
			 */
			script_line(s, "unset label");
		}
	}
	script_line(s, "unset multiplot");
}

static int grid_draw(const struct plot *p, struct script *s)
{
	struct grid g;
	int err;

	grid_init(&g, p);
	err = grid_fill(&g, p);
	if (!err) {
		axes_unify(&g);
		write_grid(&g, p, s);
	}
	grid_release(&g);
	return err;
}

const struct picture plot_grid = {
	.name = "grid",
	.many = true,
	.takes = grid_takes,
	.size = grid_size,
	.draw = grid_draw,
};
