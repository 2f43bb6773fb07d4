/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Many maps at once, as in figure 2 of Denis & Trahay 2016: a row is a library with its transport (a file), a column is a
 * benchmark, in the paper's order. All maps have the same axes and colours; the N-threads load has its own scale.
 */
#include "heat.h"
#include "picture.h"
#include "single.h"

#include "base/log.h"

#include <stdlib.h>
#include <string.h>

/* Pixels. A map needs room for three labels of its axis. */
enum {
	MAP_WIDTH = 190,
	MAP_HEIGHT = 140,
	GAP = 14,
	ROW_HEAD = 26, /* the row's name, above it */
	LEFT = 90,
	TOP = 76,
	THREADS = 56, /* before maps whose axis is the threads */
	BOTTOM = 70,
	SCALE = 120, /* a colour scale with its labels */
};

static const char *const order[] = {"sender",	    "receiver", "both_sides", "noncontig",
				    "cpu_overhead", "nload",	NULL};

struct grid {
	const char **column;  /* benchmarks; owned, not the strings */
	enum heat_kind *kind; /* of each column; owned */
	const struct data_file **row;
	size_t column_cnt, row_cnt;
	struct heat *heat; /* [row × column]; without result where there is none */
	bool scale[2];	   /* kinds of colour scales that are needed, by enum heat_kind */
};

static bool grid_takes(const struct data_result *r)
{
	return heat_takes_ratio(r) || heat_takes_delay(r);
}

static void column_add(struct grid *g, const struct data_result *r)
{
	size_t i;

	for (i = 0; i < g->column_cnt; i++) {
		if (!strcmp(g->column[i], r->benchmark))
			return;
	}
	g->kind[g->column_cnt] = heat_takes_delay(r) ? HEAT_DELAY : HEAT_RATIO;
	g->column[g->column_cnt++] = r->benchmark;
}

static void row_add(struct grid *g, const struct data_file *file)
{
	if (!g->row_cnt || g->row[g->row_cnt - 1] != file)
		g->row[g->row_cnt++] = file;
}

/* Rows are files in their order, columns benchmarks in the paper's; others follow, those of load last. */
static void grid_init(struct grid *g, const struct plot *p)
{
	size_t i, k;

	*g = (struct grid){.column = xcalloc(p->cnt, sizeof(char *)),
			   .kind = xcalloc(p->cnt, sizeof(enum heat_kind)),
			   .row = xcalloc(p->cnt, sizeof(struct data_file *))};
	for (i = 0; i < p->cnt; i++)
		row_add(g, p->result[i]->file);
	for (k = 0; order[k]; k++) {
		for (i = 0; i < p->cnt; i++) {
			if (!strcmp(p->result[i]->benchmark, order[k]))
				column_add(g, p->result[i]);
		}
	}
	for (i = 0; i < p->cnt; i++)
		column_add(g, p->result[i]);
	g->heat = xcalloc(g->row_cnt * g->column_cnt, sizeof(*g->heat));
}

static void grid_release(struct grid *g)
{
	size_t i;

	for (i = 0; i < g->row_cnt * g->column_cnt; i++) {
		if (g->heat[i].result)
			heat_release(&g->heat[i]);
	}
	free(g->heat);
	free(g->column);
	free(g->kind);
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
	while (strcmp(g->column[column], r->benchmark))
		column++;
	return heat_at(g, row, column);
}

static int grid_fill(struct grid *g, const struct plot *p)
{
	size_t i;
	int err;

	for (i = 0; i < p->cnt; i++) {
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
		g->scale[h->kind] = true;
	}
	return 0;
}

/* The same axes everywhere; threads and computation times have nothing in common. */
static void unify(struct grid *g)
{
	struct range x = range_empty(), y[2] = {range_empty(), range_empty()};
	size_t i;

	for (i = 0; i < g->row_cnt * g->column_cnt; i++) {
		const struct heat *h = &g->heat[i];

		if (!h->result)
			continue;
		range_widen(&x, h->x.low);
		range_widen(&x, h->x.high);
		range_widen(&y[h->kind], h->y.low);
		range_widen(&y[h->kind], h->y.high);
	}
	for (i = 0; i < g->row_cnt * g->column_cnt; i++) {
		g->heat[i].x = x;
		g->heat[i].y = y[g->heat[i].kind];
	}
}

/* Columns up to this one that have an axis of their own. */
static size_t axes_before(const struct grid *g, size_t column)
{
	size_t i, cnt = 0;

	for (i = 1; i <= column; i++)
		cnt += g->kind[i] != g->kind[i - 1];
	return cnt;
}

static void grid_size(const struct plot *p, uint64_t *width_px, uint64_t *height_px)
{
	struct grid g;

	grid_init(&g, p);
	*width_px = LEFT + g.column_cnt * (MAP_WIDTH + GAP) + 2 * SCALE +
		    axes_before(&g, g.column_cnt - 1) * THREADS;
	*height_px = TOP + g.row_cnt * (MAP_HEIGHT + ROW_HEAD) + BOTTOM;
	grid_release(&g);
}

/* Where the map of a row and column is, from the lower left, as parts of the picture. */
struct box {
	double left, right, bottom, top;
};

static struct box box_of(const struct grid *g, const struct plot *p, size_t row, size_t column)
{
	double axes_px = THREADS * (double)axes_before(g, g->column_cnt - 1);
	double map_width =
		((double)p->width_px - LEFT - axes_px - 2 * SCALE) / (double)g->column_cnt - GAP;
	double row_height = ((double)p->height_px - TOP - BOTTOM) / (double)g->row_cnt;
	double left = LEFT + (double)column * (map_width + GAP) +
		      THREADS * (double)axes_before(g, column);
	double top = (double)p->height_px - TOP - (double)row * row_height - ROW_HEAD;
	struct box b = {left, left + map_width, top - row_height + ROW_HEAD, top};

	b.left /= (double)p->width_px;
	b.right /= (double)p->width_px;
	b.bottom /= (double)p->height_px;
	b.top /= (double)p->height_px;
	return b;
}

static void write_label(const char *text, const char *where, struct script *s)
{
	fputs("set label ", s->out);
	script_quoted(s, text);
	script_line(s, " at screen %s", where);
}

/* Names of columns, on top, and of rows, each above its maps. */
static void write_names(const struct grid *g, const struct plot *p, struct script *s)
{
	char where[96], *name;
	struct box b;
	size_t i;

	for (i = 0; i < g->column_cnt; i++) {
		b = box_of(g, p, 0, i);
		name = data_title(g->column[i]);
		snprintf(where, sizeof(where), "%.5f,%.5f center font small",
			 (b.left + b.right) / 2, b.top + 32.0 / (double)p->height_px);
		write_label(name, where, s);
		free(name);
	}
	for (i = 0; i < g->row_cnt; i++) {
		b = box_of(g, p, i, 0);
		name = data_origin(g->row[i]);
		snprintf(where, sizeof(where), "%.5f,%.5f left font small", b.left,
			 b.top + 10.0 / (double)p->height_px);
		write_label(*name ? name : g->row[i]->path, where, s);
		free(name);
	}
}

/* One colour scale beside the maps: ratios, then delays. */
static void write_scale(const struct grid *g, const struct plot *p, const struct heat *h,
			struct script *s)
{
	struct box b = box_of(g, p, 0, g->column_cnt - 1);
	struct box low = box_of(g, p, g->row_cnt - 1, 0);
	bool second = h->kind == HEAT_DELAY && g->scale[HEAT_RATIO];
	double left = b.right + (20.0 + second * SCALE) / (double)p->width_px;

	script_line(s, "set colorbox user origin screen %.5f,%.5f size screen %.5f,%.5f", left,
		    low.bottom, 16.0 / (double)p->width_px, b.top - low.bottom);
	heat_write_scale_name(h, left + 94.0 / (double)p->width_px, (low.bottom + b.top) / 2,
			      "font small", s);
}

static void write_absent(struct script *s)
{
	script_line(s, "unset colorbox\nunset logscale\nset xrange [0:1]\nset yrange [0:1]\n"
		       "set xtics ('' -1)\nset ytics ('' -1)");
	script_line(s, "set label 'not measured' at graph 0.5,0.5 center\nplot -1 notitle");
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
		.x_tics = 4,
		.x_labels = row + 1 == g->row_cnt,
		.y_labels = !column || g->kind[column] != g->kind[column - 1],
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
	const char *name[] = {
		[HEAT_RATIO] = "computation time", [HEAT_DELAY] = "computing threads"};
	double offset_px[] = {[HEAT_RATIO] = 74, [HEAT_DELAY] = 44};
	double bottom = box_of(g, p, g->row_cnt - 1, 0).bottom, top = box_of(g, p, 0, 0).top;
	char where[64];
	size_t i;

	for (i = 0; i < g->column_cnt; i++) {
		enum heat_kind kind = g->kind[i];

		if (i && kind == g->kind[i - 1])
			continue;
		snprintf(where, sizeof(where), "%.5f,%.5f center rotate by 90",
			 box_of(g, p, 0, i).left - offset_px[kind] / (double)p->width_px,
			 (bottom + top) / 2);
		write_label(name[kind], where, s);
	}
	snprintf(where, sizeof(where), "%.5f,%.5f center",
		 (box_of(g, p, 0, 0).left + box_of(g, p, 0, g->column_cnt - 1).right) / 2,
		 20.0 / (double)p->height_px);
	write_label("message size", where, s);
}

static void write_grid(const struct grid *g, const struct plot *p, struct script *s)
{
	bool scale_drawn[2] = {false, false};
	size_t row, column;

	single_head(p, "Overlap of communication and computation", 0, 0, s);
	write_names(g, p, s);
	write_axis_names(g, p, s);
	script_line(s, "set tics out nomirror font small");
	for (row = 0; row < g->row_cnt; row++) {
		for (column = 0; column < g->column_cnt; column++) {
			write_map(g, p, row, column, scale_drawn, s);
			/* Labels belong to the picture; each plot would draw them again. */
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
		unify(&g);
		write_grid(&g, p, s);
	}
	grid_release(&g);
	return err;
}

const struct picture plot_grid = {
	.name = "grid",
	.brief = "All maps: a row for each file, a column for each benchmark.",
	.many = true,
	.takes = grid_takes,
	.size = grid_size,
	.draw = grid_draw,
};
