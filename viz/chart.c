/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Points are sorted by x when they are written. Files have them in the order of measuring, and
 * resumed suites measure out of order.
 */
#include "chart.h"

#include "lib/log.h"
#include "lib/table.h"
#include "lib/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void chart_init(struct chart *c)
{
	*c = (struct chart){0};
}

void chart_release(struct chart *c)
{
	for (size_t i = 0; i < c->cnt; i++) {
		free(c->line[i].name);
		free(c->line[i].note);
		free(c->line[i].point);
	}
	free(c->line);
	chart_init(c);
}

struct chart_line *chart_line_add(struct chart *c, char *name)
{
	struct chart_line *line = table_append(c->line, c->cnt);

	line->name = name;
	return line;
}

struct chart_line *chart_line_get(struct chart *c, char *name)
{
	for (size_t i = 0; i < c->cnt; i++) {
		if (!strcmp(c->line[i].name, name)) {
			free(name);
			return &c->line[i];
		}
	}
	return chart_line_add(c, name);
}

bool chart_line_has_x(const struct chart_line *l, double x)
{
	return table_any(l->cnt, i, l->point[i].x == x);
}

void chart_point_add(struct chart_line *l, double x, double y, double low, double high)
{
	bool both = isfinite(low) && isfinite(high);

	if (!isfinite(x) || !isfinite(y))
		return;
	*table_append(l->point, l->cnt) = (struct chart_point){x, y, both ? low : NAN,
							       both ? high : NAN, false};
}

void chart_point_mark(struct chart_line *l)
{
	if (l->cnt)
		l->point[l->cnt - 1].marked = true;
}

struct range chart_range_x(const struct chart *c, bool is_log)
{
	struct range r = range_empty();

	for (size_t i = 0; i < c->cnt; i++) {
		for (size_t k = 0; k < c->line[i].cnt; k++)
			(is_log ? range_widen_log : range_widen)(&r, c->line[i].point[k].x);
	}
	return r;
}

struct range chart_range_y(const struct chart *c, bool is_log)
{
	void (*widen)(struct range * r, double value) = is_log ? range_widen_log : range_widen;
	struct range r = range_empty();

	for (size_t i = 0; i < c->cnt; i++) {
		for (size_t k = 0; k < c->line[i].cnt; k++) {
			widen(&r, c->line[i].point[k].y);
			widen(&r, c->line[i].point[k].low);
			widen(&r, c->line[i].point[k].high);
		}
	}
	return r;
}

TABLE_ORDER(compare_points, struct chart_point, table_compare(a->x, b->x),
	    table_compare(a->y, b->y))

static void write_data(const struct chart_line *l, const char *panel, bool rates, struct script *s)
{
	const char *const words[] = {panel, l->name, NULL};

	table_sort(l->point, l->cnt, compare_points);
	script_block_begin(s, panel ? words : words + 1);
	for (size_t i = 0; i < l->cnt; i++) {
		const struct chart_point *p = &l->point[i];

		if (rates)
			script_row(s, "%.9g\t%.9g\t%.9g\t%.9g\t%.9g\t%.9g\t%.9g", p->x, p->y,
				   p->low, p->high, p->x / p->y, p->x / p->high, p->x / p->low);
		else
			script_row(s, "%.9g\t%.9g\t%.9g\t%.9g\t%d", p->x, p->y, p->low, p->high,
				   p->marked);
	}
	script_block_end(s);
}

static bool has_interval(const struct chart_line *l)
{
	return table_any(l->cnt, i, isfinite(l->point[i].low));
}

/* Low and high of the band are the two columns after y's. Without them the band is y itself. */
static void write_band(unsigned int block, int y, const char *colour, struct script *s)
{
	fprintf(s->out,
		"$d%u using 1:($%d == $%d ? $%d : $%d):($%d == $%d ? $%d : $%d) with filledcurves "
		"linecolor rgb '%s' fillstyle transparent solid 0.2 noborder notitle, ",
		block, y + 1, y + 1, y + 1, y, y + 2, y + 2, y + 2, y, colour);
}

static void write_key(const struct chart_line *l, struct script *s)
{
	char *key = text_joined(xstrdup(l->name), ", ", xstrdup(l->note ? l->note : ""));

	fputs("title ", s->out);
	script_quoted(s, key);
	free(key);
}

static void write_line(const struct chart_line *l, unsigned int block, int y, size_t idx,
		       const char *colour, enum chart_style style, struct script *s)
{
	/* gnuplot's filled and empty marks that every terminal has. */
	static const int mark[] = {7, 5, 9, 11, 6, 4, 8, 10};
	static const int dash[] = {1, 2, 4, 5};

	fprintf(s->out, "$d%u using 1:%d with %s linecolor rgb '%s' dashtype %d linewidth 2 ",
		block, y, style == CHART_MARKS ? "linespoints" : "lines", colour, dash[idx % 4]);
	if (style == CHART_MARKS)
		fprintf(s->out, "pointtype %d pointsize 0.8 ", mark[idx % 8]);
	write_key(l, s);
}

/*
 * The bars of one number fill three quarters of the distance to the next. Patterns replace
 * colours.
 */
static void write_bars(const struct chart_line *l, unsigned int block, size_t idx, size_t cnt,
		       const char *colour, struct script *s)
{
	double width = 0.75 / (double)cnt;

	fprintf(s->out,
		"$d%u using ($1%+.4f):2:(%.4f) with boxes linecolor rgb '%s' fillstyle pattern %zu "
		"border linecolor rgb '%s' ",
		block, ((double)idx - (double)(cnt - 1) / 2) * width, width * 0.9, colour,
		(idx + 3) % 8, colour);
	write_key(l, s);
}

static bool has_marked(const struct chart_line *l)
{
	return table_any(l->cnt, i, l->point[i].marked);
}

/* Writes rings in the lines' colours, and a black one for the key. */
static void write_rings(const struct chart *c, unsigned int first, enum palette p, struct script *s)
{
	for (size_t i = 0; i < c->cnt; i++) {
		if (has_marked(&c->line[i]))
			fprintf(s->out,
				"$d%u using 1:($5 > 0 ? $2 : 1/0) with points pointtype 6 "
				"pointsize 1.8 linecolor rgb '%s' notitle, ",
				first + (unsigned int)i, palette_line(p, i));
	}
	fputs("1/0 with points pointtype 6 pointsize 1.8 linecolor rgb 'black' title ", s->out);
	script_quoted(s, c->ring);
	fputs("\n", s->out);
}

/* y: the column to draw. first: the first block. */
static void chart_plot(const struct chart *c, unsigned int first, int y, enum palette p,
		       enum chart_style style, struct script *s)
{
	fputs("plot ", s->out);
	for (size_t i = 0; i < c->cnt && style == CHART_MARKS; i++) {
		if (has_interval(&c->line[i]))
			write_band(first + (unsigned int)i, y, palette_line(p, i), s);
	}
	for (size_t i = 0; i < c->cnt; i++) {
		if (style == CHART_BARS)
			write_bars(&c->line[i], first + (unsigned int)i, i, c->cnt,
				   palette_line(p, i), s);
		else
			write_line(&c->line[i], first + (unsigned int)i, y, i, palette_line(p, i),
				   style, s);
		fputs(i + 1 < c->cnt || c->ring ? ", " : "\n", s->out);
	}
	if (c->ring)
		write_rings(c, first, p, s);
}

void chart_write(const struct chart *c, const char *panel, enum palette p, enum chart_style style,
		 struct script *s)
{
	unsigned int first = s->block_cnt + 1;

	for (size_t i = 0; i < c->cnt; i++)
		write_data(&c->line[i], panel, c->rates, s);
	chart_plot(c, first, 2, p, style, s);
}

void chart_write_rates(const struct chart *c, enum palette p, struct script *s)
{
	chart_plot(c, s->block_cnt + 1 - (unsigned int)c->cnt, 5, p, CHART_MARKS, s);
}

/* ---- panels ---- */

/* Holds the charts and their common ranges. The picture decides where they are placed. */

void panels_init(struct panels *p)
{
	*p = (struct panels){0};
}

void panels_release(struct panels *p)
{
	for (size_t i = 0; i < p->cnt; i++) {
		free(p->name[i]);
		chart_release(&p->chart[i]);
	}
	panels_init(p);
}

struct chart *panels_get(struct panels *p, char *name)
{
	for (size_t i = 0; i < p->cnt; i++) {
		if (!strcmp(p->name[i], name)) {
			free(name);
			return &p->chart[i];
		}
	}
	p->all_cnt++;
	if (p->cnt == PANEL_MAX) {
		free(name);
		return NULL;
	}
	p->name[p->cnt] = name;
	chart_init(&p->chart[p->cnt]);
	return &p->chart[p->cnt++];
}

static struct range range_of(const struct panels *p, bool is_log,
			     struct range (*one)(const struct chart *c, bool is_log))
{
	struct range r = range_empty(), own;

	for (size_t i = 0; i < p->cnt; i++) {
		own = one(&p->chart[i], is_log);
		range_widen(&r, own.low);
		range_widen(&r, own.high);
	}
	return r;
}

struct range panels_range_x(const struct panels *p)
{
	return range_of(p, true, chart_range_x);
}

struct range panels_range_y(const struct panels *p, bool is_log)
{
	return range_of(p, is_log, chart_range_y);
}

size_t panels_line_cnt(const struct panels *p)
{
	size_t most = 0;

	for (size_t i = 0; i < p->cnt; i++)
		most = p->chart[i].cnt > most ? p->chart[i].cnt : most;
	return most;
}
