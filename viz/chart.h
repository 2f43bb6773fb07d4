/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Lines over a common axis, the basis of all pictures except heat maps. A point may have an
 * interval, which is drawn as a band behind its line. Lines differ in colour, mark and dashes, so
 * readers need to see only one of these.
 */
#ifndef POVPLOT_CHART_H
#define POVPLOT_CHART_H

#include "script.h"

struct chart_point {
	double x, y, low, high; /* low and high are NaN without an interval */
	bool marked;
};

struct chart_line {
	char *name;		   /* plain text for the key; owned */
	char *note;		   /* follows the name in the key, or NULL; owned */
	struct chart_point *point; /* owned */
	size_t cnt;
};

struct chart {
	struct chart_line *line; /* owned */
	size_t cnt;
	bool rates; /* a point is a time and also has a rate x / y: the bandwidth at a size */
	/* Meaning of a ring around marked points, for the key; NULL if there are no rings. */
	const char *ring;
};

void chart_init(struct chart *c);
void chart_release(struct chart *c);
/* Adds a line; valid until the next one. Takes ownership of the name. */
struct chart_line *chart_line_add(struct chart *c, char *name);
/* Finds or adds the line of that name. Takes ownership of the name. */
struct chart_line *chart_line_get(struct chart *c, char *name);
bool chart_line_has_x(const struct chart_line *l, double x);
/* Drops points that are not finite. */
void chart_point_add(struct chart_line *l, double x, double y, double low, double high);
/* Marks the last point added. */
void chart_point_mark(struct chart_line *l);

struct range chart_range_x(const struct chart *c, bool is_log);
struct range chart_range_y(const struct chart *c, bool is_log);

enum chart_style {
	CHART_MARKS, /* lines with a mark at each point, and bands */
	CHART_PLAIN, /* lines alone */
	CHART_BARS,  /* bars side by side, at integers */
};

/*
 * Writes the data and the plot command. Axes, title, key and table belong to the caller. The table
 * starts with the columns panel (unless that is NULL), line, x, y, and may have low, high and
 * whether the point is marked. With rates these follow, with their low and high.
 */
void chart_write(const struct chart *c, const char *panel, enum palette p, enum chart_style style,
		 struct script *s);
/* Writes the plot command of the rates, after chart_write. */
void chart_write_rates(const struct chart *c, enum palette p, struct script *s);

/* Charts side by side or one below the other, which share their axes. Each has a name. */

#define PANEL_MAX 8

struct panels {
	char *name[PANEL_MAX]; /* owned */
	struct chart chart[PANEL_MAX];
	size_t cnt, all_cnt; /* all_cnt also counts requests beyond PANEL_MAX */
};

void panels_init(struct panels *p);
void panels_release(struct panels *p);
/* Finds or adds the chart of that name; NULL if there are too many. Takes ownership of the name. */
struct chart *panels_get(struct panels *p, char *name);

/* The ranges that all charts share. */
struct range panels_range_x(const struct panels *p); /* of a logarithmic axis */
struct range panels_range_y(const struct panels *p, bool is_log);
/* The number of lines in the chart with the most lines. */
size_t panels_line_cnt(const struct panels *p);

#endif
