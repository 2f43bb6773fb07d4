/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Writes the table below the map: when most rank time was lost. */
#include <stdlib.h>

#include "lib/log.h"
#include "report/html.h"

#define STRETCHES_SHOWN 5

/* Adjacent columns. In each one, computing took less than half of the rank time. */
struct lost_stretch {
	uint32_t first, end; /* range of columns; end is exclusive */
	uint64_t ns[MOMENT_STATES], lost_ns, all_ns;
};

static void column_add(const struct html *h, struct lost_stretch *to, uint32_t column)
{
	for (uint32_t row = 0; row < h->rows.n; row++) {
		const struct moment_cell *c = &html_map_row(h, row)[column];

		for (int s = 0; s < MOMENT_STATES; s++) {
			bool computes = s == MOMENT_COMPUTING ||
					(s == MOMENT_UNKNOWN && !h->r->account.sched);

			to->ns[s] += computes ? 0 : c->ns[s];
			to->lost_ns += computes ? 0 : c->ns[s];
			to->all_ns += c->ns[s];
		}
	}
	to->end = column + 1;
}

static bool mostly_lost(const struct html *h, uint32_t column)
{
	struct lost_stretch one = {.first = column};

	column_add(h, &one, column);
	return 2 * one.lost_ns > one.all_ns;
}

static uint32_t stretches_find(const struct html *h, struct lost_stretch *found)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < HTML_MAP_COLUMNS; i++) {
		if (!mostly_lost(h, i))
			continue;
		if (!n || found[n - 1].end != i)
			found[n++] = (struct lost_stretch){.first = i};
		column_add(h, &found[n - 1], i);
	}
	return n;
}

static int stretch_compare(const void *va, const void *vb)
{
	const struct lost_stretch *a = va, *b = vb;

	if (a->lost_ns != b->lost_ns)
		return a->lost_ns > b->lost_ns ? -1 : 1;
	return a->first < b->first ? -1 : 1;
}

static void stretch_row(const struct html *h, struct columns *c, const struct lost_stretch *s,
			struct html_moment *at)
{
	int most = MOMENT_NO_CORE;

	for (int state = 0; state < MOMENT_STATES; state++)
		most = s->ns[state] > s->ns[most] ? state : most;
	*at = (struct html_moment){moment_column_ns(&h->bands, s->first),
				   moment_column_ns(&h->bands, s->end)};
	cell_ns(c, at->to_ns - at->from_ns);
	cell_ns(c, s->lost_ns);
	columns_cell(c, "%.0f %%", 100 * (double)s->lost_ns / (double)s->all_ns);
	columns_cell(c, "%s", html_map_state(h, most));
}

void html_stretches(struct html *h)
{
	struct lost_stretch *found = xcalloc(HTML_MAP_COLUMNS, sizeof(*found));
	uint32_t n = stretches_find(h, found), shown = n < STRETCHES_SHOWN ? n : STRETCHES_SHOWN;
	struct html_moment moment[STRETCHES_SHOWN];
	struct columns *c;

	if (n) {
		qsort(found, n, sizeof(*found), stretch_compare);
		c = columns_new();
		columns_list(c, ">lasted", ">lost", ">of rank time", "<most by");
		for (uint32_t i = 0; i < shown; i++)
			stretch_row(h, c, &found[i], &moment[i]);
		html_table(
			h, c,
			"Where most was lost: stretches in which ranks computed less than half of "
			"their time",
			moment);
		if (shown < n)
			html_paragraph(h, "note", "%u of %u shown.", shown, n);
	}
	free(found);
}
