/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Writes the middle of the page: efficiency, where rank time went, why, and what to do. */
#include <math.h>
#include <stdlib.h>

#include "lib/log.h"
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
