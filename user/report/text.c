/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Prints the report as text: the parts and their order. */
#include <errno.h>

#include "lib/log.h"
#include "report/hang_text.h"
#include "report/section.h"

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
			      "\n  For more, keep a recording (`povtrace record`) and use `povtrace "
			      "report`.\n" :
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
