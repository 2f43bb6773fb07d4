/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Shows places in the code: MPI functions by call site (--callsite), and in which functions ranks
 * computed, by samples (analysis/samples.h).
 */
#include "report/section.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "abi/event.h"
#include "analysis/loss.h"
#include "lib/human.h"
#include "lib/log.h"
#include "site/site_names.h"

/* ---- call sites ---- */

#define SITES_MANY 0 /* --top limits a table of any length */
#define ROW struct site_total
#define CALLS .low = LOSS_OF_CALLS

static const struct figure site_figures[] = {
	{FIGURE_COUNT, "calls", "calls", AT(sums.calls), CALLS},
	{FIGURE_COUNT, "empty_polls", "polls", AT(sums.polls), CALLS, .no_zero = true},
	{FIGURE_NS, "total_ns", "total", AT(sums.total_ns), "%wall", FIGURE_WHOLE, CALLS,
	 .share_wrong = LOSS_OF_LIVES, .no_zero = true},
	{FIGURE_NS, "max_ns", "longest", AT(sums.max_ns), CALLS},
	{0},
};

/* Range of total_ns over the ranks. The column after it names the rank with the maximum. */
static const struct figure spread_figures[] = {
	{FIGURE_NS, "min_ns", "min", AT(least_ns), CALLS},
	{FIGURE_NS, "mean_ns", "mean", AT(mean_ns), CALLS},
	{FIGURE_NS, "max_ns", "max", AT(most_ns), CALLS},
	{0},
};

static uint32_t lost_of(const struct site_total *t, uint32_t lost)
{
	return t->func->polls ? lost : lost & ~LOSS_SPIN;
}

/* ---- JSON ---- */

static void place_print(struct json_out *j, const struct report *r, const struct model_site *site)
{
	const struct site_name *name = sites_find(r->sites, site);
	char *text = sites_text(r->sites, site);

	json_out_key_string(j, "site", text);
	json_out_key_string(j, "source_function", name ? name->function : NULL);
	json_out_key_string(j, "source_file", name ? name->file : NULL);
	json_out_known_uint(j, "source_line", name && name->file, name ? name->line : 0);
	json_out_key_string(j, "module", site->module ? site->module->path : NULL);
	json_out_known_uint(j, "offset", site->module, site->offset);
	json_out_known_uint(j, "address", !site->module && site->address, site->address);
	free(text);
}

static void spread_print(struct json_out *j, const struct report *r, const struct site_total *t)
{
	const struct model_process *p = model_process_get(r->model, t->most_idx);

	json_out_key_object(j, "over_processes");
	json_out_key_uint(j, "callers", t->processes);
	figures_json(j, spread_figures, t, r->facts);
	json_out_known_uint(j, "max_rank", p->is_rank && p->rank >= 0, (uint64_t)p->rank);
	json_out_known_uint(j, "max_job", p->is_rank, (uint64_t)p->job_idx);
	json_out_key_uint(j, "max_pid", p->host_pid);
	json_out_object_end(j);
}

void json_call_sites(struct json_out *j, const struct report *r, const bool *wanted, uint32_t lost)
{
	struct site_total *t;
	uint32_t n;

	if (!(r->opt->details & DETAIL_CALL_SITES))
		return;
	t = site_times_sum(&r->site_times, wanted, r->nprocesses, &n);
	json_out_key_array(j, "call_sites");
	for (uint32_t i = 0; i < n; i++) {
		json_out_object_begin(j);
		json_out_key_string(j, "function", t[i].func->name);
		place_print(j, r, &t[i].site);
		json_incomplete(j, lost_of(&t[i], lost));
		figures_json(j, site_figures, &t[i], r->facts);
		spread_print(j, r, &t[i]);
		json_out_object_end(j);
	}
	json_out_array_end(j);
	free(t);
}

/* ---- text ---- */

static void call_sites_notes(const struct report *r, bool unnamed, FILE *out)
{
	if (r->nrows > 1)
		text_explain(
			r, out,
			"min, mean, max: of total, over the %u ranks above; ranks without such a "
			"call count as 0. by: the rank with max.",
			r->nrows);
	if (unnamed)
		text_note(out,
			  "FILE+0x…: the place in the source is unknown. To see it, keep the file "
			  "as it was recorded, with debug information (cc -g). With symbols alone, "
			  "FUNCTION+0x… is printed.");
	if (r->site_times.left_out)
		text_note(out, "%s from other call sites are not in this table.",
			  PLURAL_TEXT(r->site_times.left_out, "call", "calls"));
}

static void site_cells(const struct report *r, const struct figure_table *t,
		       const struct figure_table *spread, const struct site_total *row)
{
	columns_text(t->c, row->func->name, 28);
	columns_take(t->c, sites_text(r->sites, &row->site), 48);
	figures_cells(t, row, r->sum.time.walls_ns, lost_of(row, r->lost_shown));
	if (r->nrows < 2)
		return;
	figures_cells(spread, row, 0, lost_of(row, r->lost_shown));
	text_rank_cell(r, t->c, model_process_get(r->model, row->most_idx));
}

struct columns *table_call_sites(const struct report *r, struct call_sites_shown *what)
{
	struct figure_table t = {site_figures, .facts = r->facts}, spread = t;
	struct site_total *row = site_times_sum(&r->site_times, r->chosen, r->nprocesses, &what->n);

	what->shown = text_rows_shown(r, what->n, SITES_MANY);
	what->unnamed = false;
	spread.figures = spread_figures;
	spread.c = t.c = columns_new();
	columns_list(t.c, "<function", "<called from");
	figures_columns(&t);
	if (r->nrows > 1) {
		figures_columns(&spread);
		columns_add(t.c, "by", COLUMNS_RIGHT);
	}
	for (uint32_t i = 0; i < what->shown; i++) {
		what->unnamed |= row[i].site.module && !sites_find(r->sites, &row[i].site);
		site_cells(r, &t, &spread, &row[i]);
	}
	free(row);
	return t.c;
}

void text_call_sites(const struct report *r, FILE *out)
{
	struct call_sites_shown what;
	struct columns *c = table_call_sites(r, &what);

	text_section(out, "Call sites%s", r->nrows > 1 ? ", over the ranks above" : "");
	if (!what.n)
		text_note(out, "No MPI call of the processes shown was recorded.");
	else
		columns_print(c, out);
	columns_free(c);
	text_shown_note(out, what.shown, what.n);
	if (what.n)
		call_sites_notes(r, what.unnamed, out);
}

/* ---- samples ---- */

#define NAME_CHARS 44

static uint64_t time_of(uint64_t samples)
{
	return (uint64_t)llround((double)samples * 1e9 / POV_SAMPLES_HZ);
}

static void cells(struct columns *c, const struct samples_function *f, bool called)
{
	columns_text(c, f->name ? f->name->function : "(unknown)", NAME_CHARS);
	if (f->name && f->name->file)
		columns_take(c, xasprintf("%s:%u", text_base_name(f->name->file), f->name->line),
			     NAME_CHARS);
	else
		columns_text(c, f->module ? text_base_name(f->module->path) : "code in no file",
			     NAME_CHARS);
	cell_count(c, f->samples);
	cell_ns(c, time_of(f->samples));
	cell_pct(c, f->samples, f->of);
	if (called)
		cell_pct(c, f->called, f->of);
}

struct columns *table_places(const struct report *r, struct places_shown *what)
{
	struct samples_function *f = samples_functions(&r->findings.samples, r->model, r->sites,
						       r->chosen, &what->n);
	struct columns *c = columns_new();

	what->shown = text_rows_shown(r, what->n, r->opt->top);
	what->called = false;
	for (uint32_t i = 0; i < what->n; i++)
		what->called |= f[i].called > 0;
	columns_list(c, "<function", "<source", ">samples", ">time", ">%");
	if (what->called)
		columns_add(c, "% in libraries", COLUMNS_RIGHT);
	for (uint32_t i = 0; i < what->shown; i++)
		cells(c, &f[i], what->called);
	free(f);
	return c;
}

const char *places_none_text(const struct report *r)
{
	return r->facts & FACT_SCHED ?
		       "There are no samples: no rank computed for long outside MPI, or the kernel "
		       "refused the clocks that sample." :
		       "There are no samples: they are recorded with the scheduler, which was not "
		       "recorded.";
}

void text_places(const struct report *r, FILE *out)
{
	struct places_shown what;
	struct columns *c = table_places(r, &what);

	if (!what.n && (r->opt->details & DETAIL_ALL) == DETAIL_ALL) {
		columns_free(c);
		return;
	}
	text_section(out, PLACES_TITLE);
	if (!what.n) {
		columns_free(c);
		text_note(out, "%s", places_none_text(r));
		return;
	}
	text_columns(c, out);
	text_shown_note(out, what.shown, what.n);
	text_explain(
		r, out,
		"Each sample stands for %.1f ms of a core: it is where a thread was when its CPU's "
		"clock ticked. A line is the function's most frequent one. The error of n samples "
		"is about the square root of n.%s",
		1e3 / POV_SAMPLES_HZ,
		what.called ? " In libraries: of a function's samples, those in libraries that it "
			      "called." :
			      "");
}

void json_places(struct json_out *j, const struct report *r)
{
	struct samples_function *f;
	uint32_t n;

	if (!(r->opt->details & DETAIL_PLACES))
		return;
	f = samples_functions(&r->findings.samples, r->model, r->sites, r->chosen, &n);
	json_out_key_array(j, "places");
	for (uint32_t i = 0; i < n; i++) {
		json_out_object_begin(j);
		samples_function_json(j, &f[i]);
		json_out_object_end(j);
	}
	json_out_array_end(j);
	free(f);
}
