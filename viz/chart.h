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
	bool doubtful;
};

struct chart_line {
	char *name;		   /* in the key; plain text; owned */
	struct chart_point *point; /* owned */
	size_t cnt, room;
};

struct chart {
	struct chart_line *line; /* owned */
	size_t cnt;
	const char *doubt; /* what a ring around a mark means, for the key; null: there is none */
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
/* The point that was added last gets a ring, where marks are drawn. */
void chart_point_doubt(struct chart_line *l);

struct range chart_range_x(const struct chart *c, bool is_log);
struct range chart_range_y(const struct chart *c, bool is_log);

enum chart_style {
	CHART_MARKS, /* lines with a mark at each point, and bands */
	CHART_PLAIN, /* lines alone */
	CHART_BARS,  /* bars beside each other, at whole numbers */
};

/* Data and the plot command; axes, title and key are the caller's. */
void chart_write(const struct chart *c, enum palette p, enum chart_style style, struct script *s);

#endif
