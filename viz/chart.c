/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Points are sorted by x when they are written: files hold them as they were measured, and resumed suites measure out of
 * order.
 */
#include "chart.h"

#include "base/log.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void chart_init(struct chart *c)
{
	*c = (struct chart){0};
}

void chart_release(struct chart *c)
{
	size_t i;

	for (i = 0; i < c->cnt; i++) {
		free(c->line[i].name);
		free(c->line[i].point);
	}
	free(c->line);
	chart_init(c);
}

struct chart_line *chart_line_add(struct chart *c, char *name)
{
	c->line = xrealloc(c->line, (c->cnt + 1) * sizeof(*c->line));
	c->line[c->cnt] = (struct chart_line){.name = name};
	return &c->line[c->cnt++];
}

struct chart_line *chart_line_get(struct chart *c, char *name)
{
	size_t i;

	for (i = 0; i < c->cnt; i++) {
		if (!strcmp(c->line[i].name, name)) {
			free(name);
			return &c->line[i];
		}
	}
	return chart_line_add(c, name);
}

bool chart_line_has_x(const struct chart_line *l, double x)
{
	size_t i;

	for (i = 0; i < l->cnt; i++) {
		if (l->point[i].x == x)
			return true;
	}
	return false;
}

void chart_point_add(struct chart_line *l, double x, double y, double low, double high)
{
	bool both = isfinite(low) && isfinite(high);

	if (!isfinite(x) || !isfinite(y))
		return;
	if (l->cnt == l->room) {
		l->room = l->room ? 2 * l->room : 64;
		l->point = xrealloc(l->point, l->room * sizeof(*l->point));
	}
	l->point[l->cnt++] = (struct chart_point){x, y, both ? low : NAN, both ? high : NAN, false};
}

void chart_point_doubt(struct chart_line *l)
{
	if (l->cnt)
		l->point[l->cnt - 1].doubtful = true;
}

struct range chart_range_x(const struct chart *c, bool is_log)
{
	struct range r = range_empty();
	size_t i, k;

	for (i = 0; i < c->cnt; i++) {
		for (k = 0; k < c->line[i].cnt; k++)
			(is_log ? range_widen_log : range_widen)(&r, c->line[i].point[k].x);
	}
	return r;
}

struct range chart_range_y(const struct chart *c, bool is_log)
{
	void (*widen)(struct range * r, double value) = is_log ? range_widen_log : range_widen;
	struct range r = range_empty();
	size_t i, k;

	for (i = 0; i < c->cnt; i++) {
		for (k = 0; k < c->line[i].cnt; k++) {
			widen(&r, c->line[i].point[k].y);
			widen(&r, c->line[i].point[k].low);
			widen(&r, c->line[i].point[k].high);
		}
	}
	return r;
}

static int compare_points(const void *a, const void *b)
{
	const struct chart_point *p = a, *q = b;

	if (p->x != q->x)
		return p->x < q->x ? -1 : 1;
	return p->y < q->y ? -1 : p->y > q->y;
}

/* "x y low high doubtful"; without an interval, it is y itself. True if one of them has an interval. */
static bool write_data(const struct chart_line *l, struct script *s)
{
	bool some = false;
	size_t i;

	if (l->cnt)
		qsort(l->point, l->cnt, sizeof(*l->point), compare_points);
	script_block_begin(s);
	for (i = 0; i < l->cnt; i++) {
		const struct chart_point *p = &l->point[i];
		bool has = isfinite(p->low);

		script_line(s, "%.9g %.9g %.9g %.9g %d", p->x, p->y, has ? p->low : p->y,
			    has ? p->high : p->y, p->doubtful);
		some = some || has;
	}
	script_block_end(s);
	return some;
}

static void write_band(unsigned int block, const char *colour, struct script *s)
{
	fprintf(s->out,
		"$d%u using 1:3:4 with filledcurves linecolor rgb '%s' fillstyle transparent "
		"solid 0.2 noborder notitle, ",
		block, colour);
}

static void write_line(const struct chart_line *l, unsigned int block, size_t idx,
		       const char *colour, enum chart_style style, struct script *s)
{
	/* Filled and empty marks of gnuplot that every terminal has. */
	static const int mark[] = {7, 5, 9, 11, 6, 4, 8, 10};
	static const int dash[] = {1, 2, 4, 5};

	fprintf(s->out, "$d%u using 1:2 with %s linecolor rgb '%s' dashtype %d linewidth 2 ", block,
		style == CHART_MARKS ? "linespoints" : "lines", colour, dash[idx % 4]);
	if (style == CHART_MARKS)
		fprintf(s->out, "pointtype %d pointsize 0.8 ", mark[idx % 8]);
	fputs("title ", s->out);
	script_quoted(s, l->name);
}

/* Bars of one number fill three quarters of the room to the next. Patterns tell them apart without colours. */
static void write_bars(const struct chart_line *l, unsigned int block, size_t idx, size_t cnt,
		       const char *colour, struct script *s)
{
	double width = 0.75 / (double)cnt;

	fprintf(s->out,
		"$d%u using ($1%+.4f):2:(%.4f) with boxes linecolor rgb '%s' fillstyle pattern %zu "
		"border linecolor rgb '%s' title ",
		block, ((double)idx - (double)(cnt - 1) / 2) * width, width * 0.9, colour,
		(idx + 3) % 8, colour);
	script_quoted(s, l->name);
}

static bool is_doubtful(const struct chart_line *l)
{
	size_t i;

	for (i = 0; i < l->cnt; i++) {
		if (l->point[i].doubtful)
			return true;
	}
	return false;
}

/* Rings in the lines' colours, and a black one for the key. */
static void write_rings(const struct chart *c, unsigned int first, enum palette p, struct script *s)
{
	size_t i;

	for (i = 0; i < c->cnt; i++) {
		if (is_doubtful(&c->line[i]))
			fprintf(s->out,
				"$d%u using 1:($5 > 0 ? $2 : 1/0) with points pointtype 6 pointsize "
				"1.8 linecolor rgb '%s' notitle, ",
				first + (unsigned int)i, palette_line(p, i));
	}
	fputs("1/0 with points pointtype 6 pointsize 1.8 linecolor rgb 'black' title ", s->out);
	script_quoted(s, c->doubt);
	fputs("\n", s->out);
}

void chart_write(const struct chart *c, enum palette p, enum chart_style style, struct script *s)
{
	unsigned int first = s->block_cnt + 1;
	bool *band = xcalloc(c->cnt, sizeof(*band));
	size_t i;

	for (i = 0; i < c->cnt; i++)
		band[i] = write_data(&c->line[i], s) && style == CHART_MARKS;
	fputs("plot ", s->out);
	for (i = 0; i < c->cnt; i++) {
		if (band[i])
			write_band(first + (unsigned int)i, palette_line(p, i), s);
	}
	for (i = 0; i < c->cnt; i++) {
		if (style == CHART_BARS)
			write_bars(&c->line[i], first + (unsigned int)i, i, c->cnt,
				   palette_line(p, i), s);
		else
			write_line(&c->line[i], first + (unsigned int)i, i, palette_line(p, i),
				   style, s);
		fputs(i + 1 < c->cnt || c->doubt ? ", " : "\n", s->out);
	}
	if (c->doubt)
		write_rings(c, first, p, s);
	free(band);
}
