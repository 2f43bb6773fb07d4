/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Charts beside or below each other that share their axes, each with a name. */
#ifndef POVPLOT_PANELS_H
#define POVPLOT_PANELS_H

#include "chart.h"

#define PANEL_MAX 8

struct panels {
	char *name[PANEL_MAX]; /* owned */
	struct chart chart[PANEL_MAX];
	size_t cnt, all_cnt; /* all_cnt: with requests for which there was no room */
};

void panels_init(struct panels *p);
void panels_release(struct panels *p);
/* The chart of that name, made if it is not there; NULL if it would be too many. Takes the name over. */
struct chart *panels_get(struct panels *p, char *name);

/* The ranges that all share. */
struct range panels_range_x(const struct panels *p, bool is_log);
struct range panels_range_y(const struct panels *p, bool is_log);
/* Lines of the chart that has most of them. */
size_t panels_line_cnt(const struct panels *p);

#endif
