/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Charts side by side or one below the other, which share their axes. Each has a name. */
#ifndef POVPLOT_PANELS_H
#define POVPLOT_PANELS_H

#include "chart.h"

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
struct range panels_range_x(const struct panels *p, bool is_log);
struct range panels_range_y(const struct panels *p, bool is_log);
/* The number of lines in the chart with the most lines. */
size_t panels_line_cnt(const struct panels *p);

#endif
