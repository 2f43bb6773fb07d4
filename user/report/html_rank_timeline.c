/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Draws ranks over time. Each column of a row shows the state that took most of it. This needs a
 * second replay, because the first one finds the ranks' main threads and their times between
 * MPI_Init and MPI_Finalize.
 */
#include "report/html.h"

#include <stdlib.h>
#include <string.h>

#include "lib/human.h"
#include "lib/log.h"
#include "lib/table.h"

#define COLUMN_PX 5
#define LEFT_PX 112
#define WIDTH_PX (LEFT_PX + HTML_MAP_COLUMNS * COLUMN_PX + 8)
#define LABEL_CHARS 15

/* ---- gathering ---- */

/* From the first job's begin to the last job's end. */
static void span_find(const struct account *a, uint64_t *from_ns, uint64_t *to_ns)
{
	*from_ns = UINT64_MAX;
	*to_ns = 0;
	for (uint32_t i = 0; i < a->njob; i++) {
		const struct account_job *j = &a->job[i];

		if (!j->n)
			continue;
		*from_ns = j->from_ns < *from_ns ? j->from_ns : *from_ns;
		*to_ns = j->to_ns > *to_ns ? j->to_ns : *to_ns;
	}
}

/*
 * The analyses that find waits for late ranks, as in analysis/finding.c. This replay needs the
 * times of these waits.
 */
struct map_waits {
	struct holders holders;
	struct arrivals arrivals;
	struct late_pairs late;
	struct epochs epochs;
	struct locks locks;
	struct passive passive;
	struct causes causes;
};

#define MAP_SINKS 10

/* Returns the number of sinks. */
static uint32_t waits_init(struct map_waits *w, struct moment_bands *bands,
			   const struct model_sink **sinks)
{
	const struct model_sink *const own[] = {
		&w->holders.sink, &w->arrivals.sink, &w->late.matches.sink, &w->late.probes,
		&w->epochs.sink,  &w->locks.sink,    &w->passive.sink,	    &w->causes.sink,
	};

	holders_init(&w->holders);
	arrivals_init(&w->arrivals);
	late_init(&w->late);
	epochs_init(&w->epochs);
	locks_init(&w->locks, &w->epochs);
	passive_init(&w->passive, &w->epochs);
	causes_init(&w->causes, &w->late, &w->arrivals, &w->epochs, &w->holders);
	observers_add(&w->causes.parts, moment_bands_waited, bands);
	memcpy(sinks, own, sizeof(own));
	return sizeof(own) / sizeof(own[0]);
}

static void waits_release(struct map_waits *w)
{
	holders_release(&w->holders);
	arrivals_release(&w->arrivals);
	late_release(&w->late);
	locks_release(&w->locks);
	passive_release(&w->passive);
	epochs_release(&w->epochs);
	causes_release(&w->causes);
}

int html_map_replay(struct html *h)
{
	const struct model_sink *sinks[MAP_SINKS] = {&h->bands.sink, &h->bands.holders.sink};
	struct map_waits *waits;
	uint64_t from_ns, to_ns;
	int err;

	moment_bands_init(&h->bands, h->r->model, &h->r->findings.app, h->rows.of, h->rows.n);
	span_find(&h->r->account, &from_ns, &to_ns);
	if (!h->rows.n || to_ns <= from_ns || to_ns - from_ns < HTML_MAP_COLUMNS)
		return 0;
	moment_bands_stretch(&h->bands, from_ns, to_ns, HTML_MAP_COLUMNS);
	h->bands.by_account = true;
	waits = xcalloc(1, sizeof(*waits));
	err = model_run(h->r->model, sinks, 2 + waits_init(waits, &h->bands, sinks + 2));
	if (!err)
		moment_bands_finish(&h->bands);
	waits_release(waits);
	free(waits);
	return err;
}

/* Returns the cells of a row, one per column. */
static const struct moment_cell *html_map_row(const struct html *h, uint32_t row)
{
	return &h->bands.cell[(size_t)row * HTML_MAP_COLUMNS];
}

/* ---- names ---- */

/* The account's order of states. */
static const enum moment_state order[MOMENT_STATES] = {
	MOMENT_COMPUTING, MOMENT_NO_CORE, MOMENT_ASLEEP, MOMENT_MPI,
	MOMENT_LATE,	  MOMENT_WAITING, MOMENT_FILES,	 MOMENT_TRACING,
	MOMENT_OPEN,	  MOMENT_UNKNOWN, MOMENT_APART,
};

static const enum account_class class_of_state[MOMENT_STATES] = {
	[MOMENT_COMPUTING] = ACCOUNT_COMPUTING, [MOMENT_NO_CORE] = ACCOUNT_NO_CORE,
	[MOMENT_WAITING] = ACCOUNT_TRANSFER,	[MOMENT_MPI] = ACCOUNT_MPI_WORK,
	[MOMENT_LATE] = ACCOUNT_WAITING,	[MOMENT_OPEN] = ACCOUNT_OPEN,
	[MOMENT_FILES] = ACCOUNT_FILE_IO,	[MOMENT_APART] = ACCOUNT_APART,
	[MOMENT_ASLEEP] = ACCOUNT_ASLEEP,	[MOMENT_TRACING] = ACCOUNT_TRACING,
	[MOMENT_UNKNOWN] = ACCOUNT_UNKNOWN,
};

/* Returns the account's name for a state (enum moment_state). */
static const char *html_map_state(const struct html *h, int state)
{
	return state == MOMENT_UNKNOWN && !h->r->account.sched ?
		       "outside MPI" :
		       account_class_name(class_of_state[state]);
}

static const char *state_class(int state)
{
	return html_account_class(class_of_state[state]);
}

/* ---- drawing ---- */

static int row_pitch(uint32_t n)
{
	return n <= 8 ? 30 : n <= 24 ? 20 : 12;
}

/* Prints path data: a stroke for each run of columns with that state. Returns their number. */
static uint32_t strokes_put(struct html *h, const struct moment_cell *cell, int state)
{
	uint32_t n = 0;

	for (uint32_t from = 0, to = 0, end; from < HTML_MAP_COLUMNS; from = end + 1) {
		for (end = from;
		     end < HTML_MAP_COLUMNS && (int)moment_cell_state(&cell[end]) == state;)
			end++;
		if (end == from)
			continue;
		html_put(h, n++ ? "m%u 0h%u" : "M%u 0h%u", (from - to) * COLUMN_PX,
			 (end - from) * COLUMN_PX);
		to = end;
	}
	return n;
}

static bool state_in(const struct moment_cell *cell, int state)
{
	return table_any(HTML_MAP_COLUMNS, i, (int)moment_cell_state(&cell[i]) == state);
}

/* One line of the picture. */
struct line {
	const struct moment_cell *cell;
	const char *label;
	uint32_t ranks;
	bool bold;
};

/* "rank 0: computing 47.1 %, waiting for a rank 12.0 %" */
static void line_text(struct html *h, const struct line *l)
{
	uint64_t ns[MOMENT_STATES] = {0}, all_ns = 0;
	const char *sep = ": ";

	for (uint32_t i = 0; i < HTML_MAP_COLUMNS; i++)
		for (int s = 0; s < MOMENT_STATES; s++)
			ns[s] += l->cell[i].ns[s];
	for (int s = 0; s < MOMENT_STATES; s++)
		all_ns += ns[s];
	html_text(h, "%s", l->label);
	if (l->ranks > 1)
		html_text(h, " (%u ranks)", l->ranks);
	for (int i = 0; i < MOMENT_STATES; i++) {
		int s = order[i];

		if (!ns[s])
			continue;
		html_text(h, "%s%s %.1f %%", sep, html_map_state(h, s),
			  100 * (double)ns[s] / (double)all_ns);
		sep = ", ";
	}
}

static void line_put(struct html *h, const struct line *l, int y, int height)
{
	int text_px = height < 12 ? 9 : 12;
	char *label = text_printable(l->label, LABEL_CHARS);

	html_put(h, "<g class=\"row\" role=\"img\" aria-label=\"");
	line_text(h, l);
	html_put(h, "\"><title>");
	line_text(h, l);
	html_put(h, "</title>\n<text class=\"label%s\" x=\"%d\" y=\"%d\" style=\"font-size:%dpx\">",
		 l->bold ? " node" : "", LEFT_PX - 8, y + height / 2 + text_px * 3 / 8, text_px);
	html_text(h, "%s", label);
	html_put(h, "</text>\n<g transform=\"translate(%d,%d)\" stroke-width=\"%d\">", LEFT_PX,
		 y + height / 2, height);
	for (int s = 0; s < MOMENT_STATES; s++) {
		if (!state_in(l->cell, s))
			continue;
		html_put(h, "<path class=\"s-%s\" d=\"", state_class(s));
		strokes_put(h, l->cell, s);
		html_put(h, "\"/>");
	}
	html_put(h, "</g></g>\n");
	free(label);
}

/* Draws a node as the sum of its n rows from first on. */
static void node_put(struct html *h, uint32_t first, uint32_t n, int y, int height)
{
	struct moment_cell *sum = xcalloc(HTML_MAP_COLUMNS, sizeof(*sum));
	struct line l = {.cell = sum, .bold = true};

	for (uint32_t row = first; row < first + n; row++) {
		l.ranks += h->rows.ranks[row];
		for (uint32_t i = 0; i < HTML_MAP_COLUMNS; i++)
			table_row_add(&sum[i], &html_map_row(h, row)[i], ns);
	}
	l.label = model_host_get(h->r->model, h->rows.host[first])->label;
	line_put(h, &l, y, height);
	free(sum);
}

/* Draws all rows. A node has a line of its own before its rows, or instead of its only row. */
static void lines_put(struct html *h, int pitch, int height)
{
	uint32_t lines = 0;

	for (uint32_t row = 0, n; row < h->rows.n; row += n) {
		n = h->rows.by_node ? html_rows_of_node(&h->rows, row) : 1;
		if (h->rows.by_node)
			node_put(h, row, n, (int)lines++ * pitch, height);
		for (uint32_t i = row; i < row + n && (n > 1 || !h->rows.by_node); i++) {
			struct line l = {html_map_row(h, i), h->rows.label[i], h->rows.ranks[i],
					 false};

			line_put(h, &l, (int)lines++ * pitch, height);
		}
	}
}

/* Number of lines that lines_put() draws. */
static uint32_t lines_cnt(const struct html *h)
{
	uint32_t lines = 0;

	for (uint32_t row = 0, n; row < h->rows.n; row += n) {
		n = h->rows.by_node ? html_rows_of_node(&h->rows, row) : 1;
		lines += n > 1 ? n + 1 : 1;
	}
	return lines;
}

/* Smallest step of 2, 5 or 10 times a power of ten that divides ns into at most ten parts. */
static uint64_t axis_step(uint64_t ns)
{
	static const int times[] = {2, 5, 10};
	uint64_t step = 1;

	for (;;) {
		for (int i = 0; i < 3; i++)
			if (ns / (step * (uint64_t)times[i]) <= 10)
				return step * (uint64_t)times[i];
		step *= 10;
	}
}

static void axis_put(struct html *h, int y)
{
	uint64_t start_ns = model_get_info(h->r->model)->start_ns;
	uint64_t from_ns = h->bands.from_ns - start_ns, to_ns = h->bands.to_ns - start_ns;
	uint64_t step_ns = axis_step(to_ns - from_ns);
	uint64_t unit_ns = to_ns >= 1000000000 ? 1000000000 : to_ns >= 1000000 ? 1000000 : 1000;
	const char *unit = unit_ns == 1000000000 ? "s" : unit_ns == 1000000 ? "ms" : "us";
	int digits = 0;

	for (uint64_t ns = unit_ns; ns > step_ns; ns /= 10)
		digits++;
	for (uint64_t ns = (from_ns + step_ns - 1) / step_ns * step_ns; ns <= to_ns;
	     ns += step_ns) {
		double x = LEFT_PX + (double)(ns - from_ns) / (double)(to_ns - from_ns) *
					     HTML_MAP_COLUMNS * COLUMN_PX;

		html_put(h,
			 "<path class=\"tick\" d=\"M%.1f %dv5\"/><text class=\"time\" x=\"%.1f\" "
			 "y=\"%d\">%.*f%s%s</text>\n",
			 x, y, x, y + 18, digits, (double)ns / (double)unit_ns,
			 ns + step_ns > to_ns ? " " : "", ns + step_ns > to_ns ? unit : "");
	}
}

static void legend_put(struct html *h)
{
	html_put(h, "<ul class=\"legend\">\n");
	for (int i = 0; i < MOMENT_STATES; i++) {
		bool seen = false;
		int s = order[i];

		for (uint32_t row = 0; row < h->rows.n && !seen; row++)
			seen = state_in(html_map_row(h, row), s);
		if (!seen)
			continue;
		html_put(h, "<li><svg width=\"28\" height=\"14\" aria-hidden=\"true\">");
		html_stroke(h, state_class(s), 0, 28, 14);
		html_put(h, "</svg> ");
		html_text(h, "%s", html_map_state(h, s));
		html_put(h, "</li>\n");
	}
	html_put(h, "</ul>\n");
}

static void picture_put(struct html *h)
{
	uint32_t lines = lines_cnt(h);
	int pitch = row_pitch(lines), height = pitch - (pitch > 12 ? 4 : 2);

	html_put(h,
		 "<div class=\"scroll\" role=\"region\" tabindex=\"0\" "
		 "aria-label=\"Ranks by time\">"
		 "<svg class=\"map\" viewBox=\"0 0 %d %d\" role=\"group\" "
		 "aria-label=\"Ranks by time\">\n",
		 WIDTH_PX, (int)lines * pitch + 26);
	lines_put(h, pitch, height);
	axis_put(h, (int)lines * pitch);
	html_put(h, "</svg></div>\n");
}

/* ---- when most rank time was lost ---- */

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

TABLE_ORDER(stretch_compare, struct lost_stretch, u64_compare(b->lost_ns, a->lost_ns),
	    u64_compare(a->first, b->first))

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

static void html_stretches(struct html *h)
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

void html_map(struct html *h)
{
	html_section_begin(h, "map", "Ranks by time");
	if (!h->bands.columns) {
		html_paragraph(h, "note",
			       "No rank ran long enough between MPI_Init and MPI_Finalize.");
		html_section_end(h);
		return;
	}
	html_paragraph(
		h, NULL,
		"Each column covers %s between MPI_Init and MPI_Finalize, and shows what took most "
		"of it; times are since the recording began.",
		ROUND_NS_TEXT((h->bands.to_ns - h->bands.from_ns) / HTML_MAP_COLUMNS));
	if (h->rows.folded)
		html_paragraph(
			h, "note",
			"%u ranks do not fit into %d rows, so ranks share rows: %s; --rank LIST "
			"chooses some.",
			h->bands.nband, HTML_ROWS_MAX,
			h->rows.by_node ? "each node, and groups of its ranks if there is room" :
					  "groups of neighbours");
	legend_put(h);
	picture_put(h);
	if (h->recordings) {
		html_put(h, "<p class=\"moment\">The whole run as a picture: ");
		html_command(h, (struct html_moment){h->bands.from_ns, h->bands.to_ns});
		html_put(h, "</p>\n");
	}
	html_stretches(h);
	html_section_end(h);
}
