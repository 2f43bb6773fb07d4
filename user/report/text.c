/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Prints the report as text: the parts and their order. */
#include "report/section.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "report/hang_text.h"

/* ---- notes, headings and cells that sections share ---- */

#define SCREEN_WIDTH 100
void text_section(FILE *out, const char *fmt, ...)
{
	va_list ap;

	fputc('\n', out);
	va_start(ap, fmt);
	vfprintf(out, fmt, ap);
	va_end(ap);
	fputc('\n', out);
}

void text_columns(struct columns *c, FILE *out)
{
	columns_print(c, out);
	columns_free(c);
}

void text_foreign(FILE *out, const char *before, const char *text, unsigned int max)
{
	char *clean = text_printable(text, max);

	fprintf(out, "%s%s", *clean ? before : "", clean);
	free(clean);
}

static void note_print(FILE *out, const char *fmt, va_list ap)
	__attribute__((format(printf, 2, 0)));
static void note_print(FILE *out, const char *fmt, va_list ap)
{
	char *text, *to;

	text = xvasprintf(fmt, ap);
	to = text;
	for (const char *from = text; *from; from++) /* drops repeated and leading blanks */
		if (*from != ' ' || (to > text && to[-1] != ' '))
			*to++ = *from;
	*to = '\0';
	text_wrapped_print(out, "  ", text, TEXT_NOTE_WIDTH - 2);
	free(text);
}

void text_note(FILE *out, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	note_print(out, fmt, ap);
	va_end(ap);
}

void text_explain(const struct report *r, FILE *out, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (r->opt->explain)
		note_print(out, fmt, ap);
	va_end(ap);
}

uint32_t text_rows_shown(const struct report *r, uint32_t n, uint32_t many)
{
	return n <= many || !r->opt->top || r->opt->top >= n ? n : r->opt->top;
}

void text_shown_note(FILE *out, uint32_t shown, uint32_t n)
{
	if (shown < n)
		text_note(out, "%u of %u shown; --rank LIST chooses, --top 0 shows all.", shown, n);
}

void text_ranks_shown_note(const struct report *r, FILE *out, uint32_t shown, uint32_t n)
{
	if (shown < n)
		text_note(out, "%u of %u shown, %s; --rank LIST chooses, --top 0 shows all.", shown,
			  n,
			  r->sort == REPORT_SORT_RANK ? "those that computed least" :
							"as --sort says");
}

void text_rank_cell(const struct report *r, struct columns *c, const struct model_process *p)
{
	columns_cell(c, "%s", RANK_LABEL(r, p));
}

void text_bound_cell(const struct report *r, struct columns *c, const struct model_thread *t,
		     unsigned int ranges)
{
	const struct demand_mask *k = demand_mask_of(&r->findings.demand, t);
	char *cpus;

	if (!k || k->nr >= model_host_get(r->model, k->host_idx)->nr_cpus) {
		columns_cell(c, "%s", k ? "any" : "");
		return;
	}
	cpus = cpus_label(r->model, k->host_idx, &k->cpus, ranges);
	columns_cell(c, "%s", cpus);
	free(cpus);
}

void text_process_columns(const struct report *r, struct columns *c, bool pid)
{
	columns_add(c, "rank", COLUMNS_RIGHT);
	if (model_get_info(r->model)->nhosts > 1)
		columns_add(c, "host", COLUMNS_LEFT);
	columns_add(c, "process", COLUMNS_LEFT);
	if (pid)
		columns_add(c, "pid", COLUMNS_RIGHT);
}

void text_process_cells(const struct report *r, struct columns *c, uint32_t idx, bool pid)
{
	const struct model_process *p = model_process_get(r->model, idx);

	text_rank_cell(r, c, p);
	if (model_get_info(r->model)->nhosts > 1)
		columns_text(c, model_host_get(r->model, p->host_idx)->label, 16);
	columns_text(c, p->name, 14);
	if (pid)
		columns_cell(c, "%u", p->host_pid);
}

void text_process_sum(const struct report *r, struct columns *c, const char *name, bool pid)
{
	columns_cell(c, "%s", name);
	if (model_get_info(r->model)->nhosts > 1)
		cell_empty(c);
	cell_empty(c);
	if (pid)
		cell_empty(c);
}

void text_processes_note(const struct report *r, FILE *out, uint32_t shown)
{
	static const char *const by[] = {
		"the first by rank",  "those running most",   "those runnable most",
		"those blocked most", "those longest in MPI", "those polling most",
	};

	if (shown < r->nrows)
		text_note(out,
			  "%u of %u shown, %s; --rank LIST chooses, --sort orders, --top 0 shows "
			  "all.",
			  shown, r->nrows, by[r->sort]);
}

/* ---- the report ---- */

int report_traffic_check(const struct report *r)
{
	if (r->traffic.posts)
		return 0;
	log_error("report: %s: has no posts to a network; record them with povtrace record "
		  "--layers posts (with Open MPI's own shared memory: posts,ob1)",
		  r->source->path);
	return -ENODATA;
}

void report_traffic(const struct report *r, FILE *out)
{
	text_head(r, out);
	text_traffic(r, out);
}

/* ---- what is shown ---- */

static void print_main_times(const struct report *r, FILE *out)
{
	if (!r->nranks)
		return;
	text_app_time(r, out);
	if (r->facts & FACT_SCHED)
		text_takers(r, out);
}

/* All details, in order of output. */
static const struct {
	uint32_t detail;
	void (*print)(const struct report *r, FILE *out);
	bool needs_sched;
} details[] = {
	{DETAIL_FINDINGS, text_findings, false},
	{DETAIL_MAIN_TIMES, print_main_times, false},
	{DETAIL_HANG, text_hang, false},
	{DETAIL_TIMES, text_ranks, false},
	{DETAIL_THREADS, text_threads, false},
	{DETAIL_TIMES, text_polls, false},
	{DETAIL_REGIONS, text_regions, false},
	{DETAIL_REGIONS, text_parts, false},
	{DETAIL_FUNCTIONS, text_functions, false},
	{DETAIL_FUNCTIONS, text_rank_functions, false},
	{DETAIL_CALL_SITES, text_call_sites, false},
	{DETAIL_PLACES, text_places, false},
	{DETAIL_COLLECTIVES, text_collectives, false},
	{DETAIL_MESSAGES, text_messages, false},
	{DETAIL_POSTS, text_posts, false},
	{DETAIL_OVERLAP, text_overlap, false},
	{DETAIL_CORES, text_holders, true},
	{DETAIL_CORES, text_switches, true},
	{DETAIL_CORES, text_cores, true},
	{DETAIL_CORES, text_matrix, true},
	{DETAIL_SECTION, text_program_section, false},
	{DETAIL_MESSAGES, text_epochs, false},
	{DETAIL_COVERAGE, text_coverage, false},
};

static void details_print(const struct report *r, uint32_t wanted, FILE *out)
{
	for (size_t i = 0; i < sizeof(details) / sizeof(details[0]); i++)
		if (details[i].detail & wanted &&
		    (!details[i].needs_sched || r->facts & FACT_SCHED))
			details[i].print(r, out);
}

static void first_screen(const struct report *r, FILE *out)
{
	text_ends(r, out);
	if (!r->nranks)
		text_no_rank(r, out);
	text_failed(r, out);
	if (!r->opt->details && hang_text_matters(r))
		text_hang(r, out);
	if (r->account.nrank) {
		text_efficiency(r, out);
		text_account(r, out);
		text_reasons(r, out);
		text_account_ranks(r, out);
	} else if (r->nranks) {
		fputc('\n', out);
		text_windows_note(r, out);
	} else {
		details_print(r, DETAIL_TIMES | DETAIL_FUNCTIONS, out);
	}
}

void report_text(const struct report *r, FILE *out)
{
	uint32_t wanted = r->opt->details;

	if (wanted & DETAIL_COVERAGE)
		text_head(r, out);
	else
		text_short_head(r, out);
	if (!wanted || wanted == DETAIL_ALL)
		first_screen(r, out);
	if (!wanted) {
		details_print(r,
			      DETAIL_REGIONS | (r->lost_any || !r->nranks ? DETAIL_COVERAGE : 0) |
				      (r->opt->threads ? DETAIL_MAIN_TIMES : 0),
			      out);
		fputs(r->source->temporary ?
			      "\n  For more, keep a recording (`povtrace record`) and use "
			      "`povtrace report`.\n" :
		      !r->nranks ?
			      "\nMore: povtrace report --times | --functions | --all; povtrace "
			      "export makes a timeline;\nhow to read this: povtrace help report\n" :
			      "\nMore: povtrace report --findings | --times | --functions | "
			      "--messages | --all; povtrace advise;\n"
			      "povtrace export makes a timeline; how to read this: "
			      "povtrace help report\n",
		      out);
		return;
	}
	details_print(r, r->opt->threads ? wanted | DETAIL_THREADS : wanted & ~DETAIL_THREADS, out);
}
