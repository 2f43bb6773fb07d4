/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Holds the charts and their common ranges. The picture decides where they are placed. */
#include "panels.h"

#include <stdlib.h>
#include <string.h>

void panels_init(struct panels *p)
{
	*p = (struct panels){0};
}

void panels_release(struct panels *p)
{
	size_t i;

	for (i = 0; i < p->cnt; i++) {
		free(p->name[i]);
		chart_release(&p->chart[i]);
	}
	panels_init(p);
}

struct chart *panels_get(struct panels *p, char *name)
{
	size_t i;

	for (i = 0; i < p->cnt; i++) {
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
	size_t i;

	for (i = 0; i < p->cnt; i++) {
		own = one(&p->chart[i], is_log);
		range_widen(&r, own.low);
		range_widen(&r, own.high);
	}
	return r;
}

struct range panels_range_x(const struct panels *p, bool is_log)
{
	return range_of(p, is_log, chart_range_x);
}

struct range panels_range_y(const struct panels *p, bool is_log)
{
	return range_of(p, is_log, chart_range_y);
}

size_t panels_line_cnt(const struct panels *p)
{
	size_t most = 0, i;

	for (i = 0; i < p->cnt; i++)
		most = p->chart[i].cnt > most ? p->chart[i].cnt : most;
	return most;
}
