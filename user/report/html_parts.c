/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Writes the middle of the page: efficiency, where rank time went, why, and what to do; who waited
 * for whom, and who sent how much to whom.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/human.h"
#include "lib/log.h"
#include "lib/table.h"
#include "report/html.h"

#define WIDE 1000 /* width of the bar across the page */
#define BAR 240	  /* width of a full bar in a table */
#define NAME_PX 8 /* approximate width of a character in a bar */

const char *html_account_class(int class)
{
	static const char *const classes[ACCOUNT_CLASSES + 1] = {
		[ACCOUNT_COMPUTING] = "c", [ACCOUNT_OUTSIDE] = "c",  [ACCOUNT_NO_CORE] = "q",
		[ACCOUNT_ASLEEP] = "a",	   [ACCOUNT_MPI_WORK] = "x", [ACCOUNT_MPI_NO_CORE] = "q",
		[ACCOUNT_WAITING] = "w",   [ACCOUNT_TRANSFER] = "v", [ACCOUNT_FILE_IO] = "f",
		[ACCOUNT_TRACING] = "t",   [ACCOUNT_OPEN] = "o",     [ACCOUNT_UNKNOWN] = "u",
		[ACCOUNT_APART] = "p",	   [ACCOUNT_CLASSES] = "e",
	};

	return classes[class];
}

/* ---- efficiency ---- */

static void factor_put(struct html *h, const struct efficiency_factor *f, uint32_t i)
{
	const char *sign = !i ? "" : i == 1 ? "=" : "×";

	if (i)
		html_put(h, "<span class=\"sign\">%s</span> ", sign);
	html_put(h, "<span class=\"factor%s\"><span class=\"name\">", i ? "" : " whole");
	html_text(h, "%s", f->name);
	html_put(h, "</span> <span class=\"value\">");
	html_text(h, "%s", f->text);
	html_put(h, "</span><svg class=\"meter\" width=\"100\" height=\"8\" aria-hidden=\"true\">");
	html_stroke(h, "ground", 0, 100, 8);
	if (f->ratio > 0)
		html_stroke(h, "x", 0, f->ratio < 1 ? 100 * f->ratio : 100, 8);
	html_put(h, "</svg></span>\n");
}

static void job_put(struct html *h, uint32_t job)
{
	struct efficiency_factors f = efficiency_factors_of(h->r, job);

	if (h->r->account.njob > 1)
		html_put(h, "<h3>Job %u</h3>\n", job);
	html_put(h, "<p class=\"factors\">\n");
	for (uint32_t i = 0; i < f.n; i++)
		factor_put(h, &f.factor[i], i);
	html_put(h, "</p>\n");
}

void html_efficiency(struct html *h)
{
	uint32_t jobs = h->r->account.njob;

	html_section_begin(h, "efficiency", "Efficiency");
	for (uint32_t i = 0; i < jobs && i < EFFICIENCY_JOBS_SHOWN; i++)
		if (efficiency_is_shown(h->r, i))
			job_put(h, i);
	if (!jobs)
		html_paragraph(h, "note",
			       "No rank was recorded between MPI_Init and MPI_Finalize.");
	if (jobs > EFFICIENCY_JOBS_SHOWN)
		html_paragraph(h, "note", "%u of %u jobs shown; --json has all.",
			       EFFICIENCY_JOBS_SHOWN, jobs);
	html_put(h, "<details><summary>What the factors mean</summary>\n");
	html_paragraph(
		h, NULL,
		"Efficiency is the share of all rank time that was computing: the product of "
		"the factors after it.");
	html_paragraph(h, NULL,
		       "Load balance: ranks share the work equally. Serialisation: ranks need "
		       "not wait for each other's work. Transfer: messages take no time. On a "
		       "core: ranks were on a core while they were outside MPI. 100 %% is the "
		       "best of each.");
	html_put(h, "</details>\n");
	html_section_end(h);
}

/* ---- where it went ---- */

/* Draws one bar across the page. Parts that are wide enough carry their name. */
static void stack_put(struct html *h, const struct account_bar *bar, uint32_t n)
{
	double at = 0;

	html_put(h, "<svg class=\"stack\" viewBox=\"0 0 %d 40\" role=\"img\" aria-label=\"", WIDE);
	for (uint32_t i = 0; i < n; i++)
		html_text(h, "%s%s %.0f %%", i ? ", " : "", bar[i].name, bar[i].pct);
	html_put(h, "\">\n");
	for (uint32_t i = 0; i < n; i++) {
		double width = bar[i].pct * WIDE / 100;

		html_stroke(h, html_account_class(bar[i].class), at, width, 40);
		html_put(h, "<path class=\"edge\" d=\"M%g 0v40\"/>\n", at + width);
		if (width > NAME_PX * (double)text_chars(bar[i].name) + 12) {
			html_put(h, "<text class=\"in\" x=\"%g\" y=\"25\">", at + width / 2);
			html_text(h, "%s", bar[i].name);
			html_put(h, "</text>\n");
		}
		at += width;
	}
	html_put(h, "</svg>\n");
}

static void bar_row(struct html *h, const struct account_bar *b)
{
	struct account_unit unit = account_unit(&h->r->account);

	html_put(h, "<tr><th scope=\"row\">");
	html_text(h, "%s", b->name);
	html_put(h, "</th><td class=\"n\">%s%.*f</td><td class=\"n\">%.0f %%</td><td>",
		 account_mark(h->r), unit.digits, (double)b->ns / unit.ns, b->pct);
	html_put(h, "<svg class=\"bar\" width=\"%d\" height=\"14\" aria-hidden=\"true\">", BAR);
	html_stroke(h, html_account_class(b->class), 0, b->pct * BAR / 100, 14);
	html_put(h, "</svg></td></tr>\n");
}

static void ranks_put(struct html *h)
{
	uint32_t shown, n;
	struct columns *c = table_account_ranks(h->r, &shown, &n);

	html_put(h, "<h3 id=\"ranks\">Ranks</h3>\n");
	html_table(h, c, "Ranks, in % of their time between MPI_Init and MPI_Finalize", NULL);
	if (shown < n)
		html_paragraph(h, "note",
			       "%u of %u shown, %s; --rank LIST chooses, --top 0 shows all.", shown,
			       n,
			       h->r->sort == REPORT_SORT_RANK ? "those that computed least" :
								"as --sort says");
}

void html_account(struct html *h)
{
	const struct report *r = h->r;
	struct account_unit unit = account_unit(&r->account);
	struct account_bar bar[ACCOUNT_CLASSES + 1];
	uint32_t n = account_bars(r, bar);
	char *title = r->account.nrank ?
			      xasprintf("Where %.*f %s went", unit.digits,
					(double)r->account.total_ns / unit.ns, unit.name) :
			      xstrdup("Where rank time went");

	html_section_begin(h, "account", title);
	free(title);
	if (r->account.nrank) {
		stack_put(h, bar, n);
		html_put(h,
			 "<div class=\"scroll\" role=\"region\" tabindex=\"0\" "
			 "aria-label=\"Classes of rank time\">"
			 "<table><caption>Classes of rank time</caption><thead><tr>"
			 "<th scope=\"col\">class</th><th scope=\"col\" class=\"n\">%s</th>"
			 "<th scope=\"col\" class=\"n\">share</th><th></th></tr></thead><tbody>\n",
			 unit.name);
		for (uint32_t i = 0; i < n; i++)
			bar_row(h, &bar[i]);
		html_put(h, "</tbody></table></div>\n");
		ranks_put(h);
	}
	html_notes(h, text_windows_note);
	html_section_end(h);
}

/* ---- causes ---- */

static void cause_put(struct html *h, const struct reason *reason, uint32_t number)
{
	const struct report *r = h->r;
	struct account_unit unit = account_unit(&r->account);
	char *cost = reason_cost_text(&r->reasons, reason, account_mark(r)),
	     *gain = reason_gain_text(reason);
	double share = r->account.total_ns ? (double)reason->ns / (double)r->account.total_ns : 0;

	html_put(h, "<li><article aria-labelledby=\"cause-%u\"><h3 id=\"cause-%u\">", number,
		 number);
	html_text(h, "%s", reason->title);
	html_put(h,
		 "</h3>\n<p class=\"cost\"><span><b>%s</b> %s</span><svg class=\"bar\" "
		 "width=\"100\" height=\"8\" aria-hidden=\"true\">",
		 cost, unit.name);
	html_stroke(h, "ground", 0, 100, 8);
	html_stroke(h, "x", 0, 100 * share, 8);
	html_put(h, "</svg> <span>shorter by <b>%s</b></span></p>\n", gain);
	if (*reason->evidence)
		html_paragraph(h, NULL, "%s", reason->evidence);
	if (reason->action)
		html_paragraph(h, "do", "→ %s", reason->action);
	if (reason->root && reason->root->worst.ns && h->recordings) {
		html_put(h, "<p class=\"moment\">Its costliest wait: ");
		html_command(h, html_around(r, (struct html_moment){reason->root->worst.from_ns,
								    reason->root->worst.to_ns}));
		html_put(h, "</p>\n");
	}
	html_put(h, "</article></li>\n");
	free(cost);
	free(gain);
}

void html_causes(struct html *h)
{
	struct reasons_left left;
	uint32_t shown;
	const struct reason **list = reasons_shown(h->r, &shown, &left);
	char *text;

	html_section_begin(h, "causes", "Why, and what to do");
	if (shown)
		html_put(h, "<ol class=\"causes\">\n");
	for (uint32_t i = 0; i < shown; i++)
		cause_put(h, list[i], i + 1);
	if (shown)
		html_put(h, "</ol>\n");
	else
		html_paragraph(h, NULL, "Nothing costs %u %% of the run or more.",
			       h->r->opt->min_pct);
	if (left.n) {
		text = reasons_left_text(&left, shown);
		html_paragraph(h, "note", "%s: povtrace report --all lists them.", text);
		free(text);
	}
	html_notes(h, text_reasons_doubts);
	html_section_end(h);
	free(list);
}

#define SHOWN_MAX 200 /* most rows of a table, even with --top 0 */
#define SHADES 5      /* shades of a matrix, as in page.css */
#define CELL_PX 12
#define LABEL_PX 100
#define LABEL_CHARS 14

static uint32_t shown_of(const struct report *r, size_t n)
{
	uint32_t most = r->opt->top && r->opt->top < SHOWN_MAX ? r->opt->top : SHOWN_MAX;

	return n < most ? (uint32_t)n : most;
}

static void shown_note(struct html *h, uint32_t shown, size_t n)
{
	if (shown < n)
		html_paragraph(h, "note", "%u of %zu shown, the largest.", shown, n);
}

/* ---- who waited for whom ---- */

/* Waits of one rank for another, or of all members of collective calls for one rank. */
struct wait {
	uint32_t waiter, late; /* process indices; waiter FINDING_NOBODY: all others */
	const char *why;
	uint64_t cnt, ns, worst_ns;
	struct html_moment worst;
	const struct func_info *in;
};

struct waits {
	struct wait *wait; /* owned */
	uint32_t n;
};

static void wait_add(struct waits *w, const struct wait *one)
{
	*table_append(w->wait, w->n) = *one;
}

static void pairs_add(struct waits *w, const struct report *r, const struct map *pairs,
		      const char *why)
{
	const struct waited_for *p;

	for (size_t at = 0; (p = map_next(pairs, &at, NULL));)
		if (p->ns && p->waiter < r->nprocesses && r->chosen[p->waiter])
			wait_add(w, &(struct wait){p->waiter,
						   p->late,
						   why,
						   p->cnt,
						   p->ns,
						   p->worst_ns,
						   {p->worst_from_ns, p->worst_to_ns},
						   p->worst_in});
}

static void collectives_add(struct waits *w, const struct report *r)
{
	for (uint32_t i = 0; i < r->nrows; i++) {
		const struct arrival_row *a;

		if (r->row[i] >= r->findings.arrivals.nprocess)
			continue;
		a = &r->findings.arrivals.process[r->row[i]];
		if (a->waited_ns)
			wait_add(w, &(struct wait){FINDING_NOBODY,
						   r->row[i],
						   "came late to collectives",
						   a->last,
						   a->waited_ns,
						   a->worst.waited_ns,
						   {a->worst.begin_ns - a->worst.late_ns,
						    a->worst.begin_ns},
						   a->worst.func});
	}
}

TABLE_ORDER(wait_compare, struct wait, u64_compare(b->ns, a->ns), u64_compare(a->late, b->late),
	    u64_compare(a->waiter, b->waiter), strcmp(a->why, b->why))

static void waits_find(struct waits *w, const struct report *r)
{
	static const char *const late[LATE_KINDS] = {
		[LATE_SENDER] = "sent late", [LATE_RECEIVER] = "received late"};
	static const char *const epochs[EPOCH_KINDS] = {
		[EPOCH_LATE_POST] = "called MPI_Win_post late",
		[EPOCH_LATE_COMPLETE] = "called MPI_Win_complete late",
		[EPOCH_LOCKED] = "held the lock",
		[EPOCH_NO_PROGRESS] = "did not call MPI",
	};

	for (int k = 0; k < LATE_KINDS; k++)
		pairs_add(w, r, &r->findings.late.pairs[k], late[k]);
	for (int k = 0; k < EPOCH_KINDS; k++)
		pairs_add(w, r, &r->findings.epochs.waits[k], epochs[k]);
	collectives_add(w, r);
	table_sort(w->wait, w->n, wait_compare);
}

static void wait_cells(const struct report *r, struct columns *c, const struct wait *w)
{
	if (w->waiter == FINDING_NOBODY)
		columns_cell(c, "the others");
	else
		columns_take(c, html_rank_name(r, w->waiter), 40);
	columns_take(c, html_rank_name(r, w->late), 40);
	columns_cell(c, "%s", w->why);
	cell_count(c, w->cnt);
	cell_ns(c, w->ns);
	cell_ns(c, w->worst_ns);
	columns_text(c, w->in ? w->in->name : "", 32);
}

static void waits_table(struct html *h, const struct waits *w)
{
	static const struct {
		const char *name;
		enum columns_align align;
	} column[] = {{"waited", COLUMNS_LEFT},	 {"for", COLUMNS_LEFT},
		      {"which", COLUMNS_LEFT},	 {"times", COLUMNS_RIGHT},
		      {"in all", COLUMNS_RIGHT}, {"longest", COLUMNS_RIGHT},
		      {"in", COLUMNS_LEFT}};
	uint32_t shown = shown_of(h->r, w->n);
	struct html_moment *moment = xcalloc(shown + 1, sizeof(*moment));
	struct columns *c = columns_new();

	for (size_t i = 0; i < sizeof(column) / sizeof(column[0]); i++)
		columns_add(c, column[i].name, column[i].align);
	for (uint32_t i = 0; i < shown; i++) {
		wait_cells(h->r, c, &w->wait[i]);
		moment[i] = w->wait[i].worst;
	}
	html_table(h, c, "Who waited for whom, the longest first", moment);
	shown_note(h, shown, w->n);
	html_paragraph(h, "note",
		       "In all: the sum over all waits of the pair. For collectives: the sum "
		       "over all members that waited for this rank; times is how often it came "
		       "last. When: the begin of the longest wait; open it for the command that "
		       "draws it. A rank may itself have waited for another one.");
	free(moment);
}

void html_waits(struct html *h)
{
	struct waits w = {0};

	waits_find(&w, h->r);
	html_section_begin(h, "waits", "Who waited for whom");
	if (w.n)
		waits_table(h, &w);
	else
		html_paragraph(h, NULL, "No rank is known to have waited for another one.");
	html_section_end(h);
	free(w.wait);
}

/* ---- messages ---- */

TABLE_ORDER(pair_compare, struct pair *, u64_compare((*b)->bytes, (*a)->bytes),
	    u64_compare((*b)->messages, (*a)->messages), u64_compare((*a)->from, (*b)->from),
	    u64_compare((*a)->to, (*b)->to))

/* Pairs with both ends among the ranks shown, most bytes first. Caller frees. */
static const struct pair **pairs_list(const struct html *h, size_t *n)
{
	const struct map *pairs = &h->r->messages.pairs;
	const struct pair **list = xmalloc((pairs->cnt + 1) * sizeof(const void *)), *p;

	*n = 0;
	for (size_t at = 0; (p = map_next(pairs, &at, NULL));)
		if (h->rows.of[p->from] != MOMENT_NO_ROW && h->rows.of[p->to] != MOMENT_NO_ROW)
			list[(*n)++] = p;
	qsort(list, *n, sizeof(const void *), pair_compare);
	return list;
}

static void pairs_table(struct html *h, const struct pair **list, size_t n)
{
	uint32_t shown = shown_of(h->r, n);
	struct columns *c = columns_new();

	columns_list(c, "<from", "<to", ">messages", ">bytes");
	for (uint32_t i = 0; i < shown; i++) {
		columns_take(c, html_rank_name(h->r, list[i]->from), 40);
		columns_take(c, html_rank_name(h->r, list[i]->to), 40);
		columns_mark(c, text_mark(h->r->lost_shown, LOSS_OF_CALLS, 0));
		cell_count(c, list[i]->messages);
		columns_mark(c, text_mark(h->r->lost_shown, LOSS_OF_CALLS, 0));
		cell_bytes(c, list[i]->bytes);
	}
	html_table(h, c, "Pairs of ranks that sent most", NULL);
	shown_note(h, shown, n);
}

/* Sums the pairs into a matrix of rows × rows cells. *most: bytes of the largest. Caller frees. */
static struct pair *folded(const struct html *h, const struct pair **list, size_t n, uint64_t *most)
{
	struct pair *cell = xcalloc((size_t)h->rows.n * h->rows.n + 1, sizeof(*cell));

	*most = 0;
	for (size_t i = 0; i < n; i++) {
		struct pair *c = &cell[(size_t)h->rows.of[list[i]->from] * h->rows.n +
				       h->rows.of[list[i]->to]];

		table_row_add(c, list[i], messages);
		*most = c->bytes > *most ? c->bytes : *most;
	}
	return cell;
}

static void shaded_cell(struct html *h, const struct pair *c, uint32_t from, uint32_t to,
			uint64_t most)
{
	int shade = most ? 1 + (int)((double)c->bytes / (double)most * (SHADES - 1) + 0.5) : 1;

	html_put(h, "<rect class=\"m%d\" x=\"%u\" y=\"%u\" width=\"%d\" height=\"%d\"><title>",
		 shade, LABEL_PX + to * CELL_PX, from * CELL_PX, CELL_PX - 1, CELL_PX - 1);
	html_text(h, "%s → %s: %s in %s", h->rows.label[from], h->rows.label[to],
		  BYTES_TEXT(c->bytes), PLURAL_TEXT(c->messages, "message", "messages"));
	html_put(h, "</title></rect>\n");
}

static void row_label(struct html *h, uint32_t row)
{
	char *label = text_printable(h->rows.label[row], LABEL_CHARS);

	html_put(h, "<text class=\"label\" x=\"%d\" y=\"%u\" style=\"font-size:9px\">",
		 LABEL_PX - 5, row * CELL_PX + CELL_PX - 3);
	html_text(h, "%s", label);
	html_put(h, "</text>\n");
	free(label);
}

/* Draws a large matrix. A cell's shade shows its size relative to the largest cell. */
static void shaded_put(struct html *h, const struct pair **list, size_t n)
{
	uint32_t rows = h->rows.n;
	uint64_t most;
	struct pair *cell = folded(h, list, n, &most);

	html_paragraph(h, NULL,
		       "From each %s (down) to each other one (across); the darkest is %s.",
		       h->rows.folded ? "group of ranks" : "rank", BYTES_TEXT(most));
	html_put(h,
		 "<div class=\"scroll\" role=\"region\" tabindex=\"0\" "
		 "aria-label=\"Message matrix\">"
		 "<svg class=\"matrix\" width=\"%u\" height=\"%u\" role=\"img\" "
		 "aria-label=\"Message matrix; the table after it has the largest pairs\">\n",
		 LABEL_PX + rows * CELL_PX + 2, rows * CELL_PX + 2);
	html_put(h, "<rect class=\"frame\" x=\"%d\" y=\"0\" width=\"%u\" height=\"%u\"/>\n",
		 LABEL_PX, rows * CELL_PX, rows * CELL_PX);
	for (uint32_t from = 0; from < rows; from++) {
		row_label(h, from);
		for (uint32_t to = 0; to < rows; to++)
			if (cell[(size_t)from * rows + to].messages)
				shaded_cell(h, &cell[(size_t)from * rows + to], from, to, most);
	}
	html_put(h, "</svg></div>\n");
	free(cell);
}

static void matrix_put(struct html *h)
{
	const struct report *r = h->r;
	const char *unit;
	struct columns *c;
	size_t n;
	const struct pair **list = pairs_list(h, &n);

	html_section_begin(h, "messages", "Messages between ranks");
	if (!n) {
		html_paragraph(h, NULL, "No rank is known to have sent another one a message.");
	} else if (r->nrows <= MATRIX_RANKS_MAX) {
		c = table_sent_to(r, &unit);
		html_paragraph(h, NULL, "From rank (down) to rank (across), in %s.", unit);
		if (c)
			html_table(h, c, "Bytes from rank to rank", NULL);
	} else {
		shaded_put(h, list, n);
		pairs_table(h, list, n);
	}
	html_notes(h, text_peers_notes);
	html_section_end(h);
	free(list);
}

static void sizes_put(struct html *h)
{
	struct columns *c = table_message_sizes(h->r);

	html_section_begin(h, "sizes", "Message sizes");
	if (c)
		html_table(h, c, "Operations that send, by bytes", NULL);
	else
		html_paragraph(h, NULL, "No operation that sends was recorded.");
	html_notes(h, text_messages_notes);
	html_section_end(h);
}

void html_messages(struct html *h)
{
	matrix_put(h);
	sizes_put(h);
}
