/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Lines over a common axis: what the pictures that are no heat maps are made of. A point may have an interval, which is
 * drawn as a band behind its line. Lines differ in colour, mark and dashes, so that none of these alone has to be seen.
 */
#ifndef POVPLOT_CHART_H
#define POVPLOT_CHART_H

#include "axis.h"
#include "palette.h"

struct chart_point {
	double x, y, low, high; /* low and high are NaN without an interval */
	bool marked;
};

struct chart_line {
	char *name;		   /* in the key; plain text; owned */
	char *note;		   /* behind it in the key, or NULL; owned */
	struct chart_point *point; /* owned */
	size_t cnt, room;
};

struct chart {
	struct chart_line *line; /* owned */
	size_t cnt;
	bool rates; /* a point is a time, and has x / y, too: sizes' bandwidth */
	const char *
		ring; /* what a ring around marked points means, for the key; NULL: there is none */
};

void chart_init(struct chart *c);
void chart_release(struct chart *c);
/* A new line; valid until the next one. Takes the name over. */
struct chart_line *chart_line_add(struct chart *c, char *name);
/* The line of that name, made if it is not there; takes the name over. */
struct chart_line *chart_line_get(struct chart *c, char *name);
bool chart_line_has_x(const struct chart_line *l, double x);
/* A point that is not finite is left out. */
void chart_point_add(struct chart_line *l, double x, double y, double low, double high);
/* Of the point that was added last. */
void chart_point_mark(struct chart_line *l);

struct range chart_range_x(const struct chart *c, bool is_log);
struct range chart_range_y(const struct chart *c, bool is_log);

enum chart_style {
	CHART_MARKS, /* lines with a mark at each point, and bands */
	CHART_PLAIN, /* lines alone */
	CHART_BARS,  /* bars beside each other, at whole numbers */
};

/*
 * Data and the plot command; axes, title and key are the caller's, and so is the table, which begins with the columns (panel,
 * unless that is NULL,) line, x, y and may have low, high and whether it is marked; with rates then these, their low and high.
 */
void chart_write(const struct chart *c, const char *panel, enum palette p, enum chart_style style,
		 struct script *s);
/* The plot command of the rates, behind chart_write. */
void chart_write_rates(const struct chart *c, enum palette p, struct script *s);

#endif
