/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Shows the program's functions recorded as regions, and how efficient ranks were in each phase and
 * region (analysis/parts.h).
 */
#include <math.h>
#include <string.h>

#include "lib/human.h"
#include "lib/json_get.h"
#include "lib/table.h"
#include "report/section.h"
#include "trace/trace_read.h"

/* ---- regions ---- */

#define ROW struct region_row
#define LOSS_OF_REGIONS (LOSS_OF_CALLS & ~LOSS_SPIN)
#define COUNTS .low = LOSS_OF_REGIONS
#define TIMES .wrong = LOSS_OF_REGIONS

static const struct figure region_figures[] = {
	{FIGURE_COUNT, "calls", "calls", AT(calls), COUNTS},
	{FIGURE_COUNT, "nested", "nested", AT(nested), COUNTS, .no_zero = true},
	{FIGURE_COUNT, "open", AT(open)},
	{FIGURE_COUNT, "unwound", AT(unwound)},
	{FIGURE_NS, "wall_ns", "time", AT(wall_ns), "%wall", FIGURE_WHOLE, TIMES,
	 .share_wrong = LOSS_OF_LIVES},
	{FIGURE_TABLE, "split", AT(split), .sub = split_figures},
	{FIGURE_NS, NULL, "running", AT(split.ns[THREAD_RUNNING]), "%time", OF(wall_ns), TIMES,
	 .shown = FACT_SCHED},
	{FIGURE_NS, "mpi_ns", "in MPI", AT(mpi_ns), "%time", OF(wall_ns), TIMES},
	{0},
};

/* True if some recorded file had the function, and it was probed there. */
static bool is_found(const struct report *r, uint32_t region)
{
	const char *name = model_region_name(r->model, region);
	const json_t *meta;

	for (size_t i = 0; i < trace_meta_count(r->trace); i++) {
		meta = trace_meta_get(r->trace, i);
		if (json_is_type(meta, "regions") &&
		    json_has_text(json_object_get(meta, "functions"), name))
			return true;
	}
	return false;
}

void json_regions(struct json_out *j, const struct report *r, const bool *wanted, uint32_t lost)
{
	struct region_row sum;

	json_out_key_array(j, "regions");
	for (uint32_t i = 0; i < model_region_count(r->model); i++) {
		json_out_object_begin(j);
		json_out_key_string(j, "name", model_region_name(r->model, i));
		json_out_key_bool(j, "found", is_found(r, i));
		json_out_key_uint(j, "processes",
				  regions_sum(&r->regions, i, wanted, r->nprocesses, &sum));
		json_incomplete(j, lost & LOSS_OF_REGIONS);
		figures_json(j, region_figures, &sum, r->facts);
		json_out_object_end(j);
	}
	json_out_array_end(j);
}

static void regions_notes(const struct report *r, const struct region_row *all, FILE *out)
{
	for (uint32_t i = 0; i < model_region_count(r->model); i++)
		if (!is_found(r, i))
			text_note(out,
				  "%s: no recorded program or library has a function of this name "
				  "that can be probed.",
				  model_region_name(r->model, i));
	if (all->open)
		text_note(out,
			  "%s when the thread or the recording ended; its time counts up to then.",
			  PLURAL_TEXT(all->open, "call had not returned",
				      "calls had not returned"));
	if (all->unwound)
		text_note(out,
			  "%s without returning (longjmp, an exception, exec); time counts until "
			  "that was noticed.",
			  PLURAL_TEXT(all->unwound, "call was left", "calls were left"));
	text_explain(r, out,
		     "time: sum over all threads; a region within another one counts in both. "
		     "nested: calls from within the same function, not in the times.");
}

void text_regions(const struct report *r, FILE *out)
{
	struct figure_table t = {region_figures, .facts = r->facts};
	struct region_row row, all = {0};
	uint32_t used;

	if (!model_region_count(r->model))
		return;
	text_section(out, "Regions%s",
		     r->nrows < 2		       ? "" :
		     r->opt->details == DETAIL_REGIONS ? ", over all ranks reported" :
							 ", over the ranks above");
	t.c = columns_new();
	columns_add(t.c, "region", COLUMNS_LEFT);
	columns_add(t.c, r->nranks ? "ranks" : "processes", COLUMNS_RIGHT);
	figures_columns(&t);
	for (uint32_t i = 0; i < model_region_count(r->model); i++) {
		used = regions_sum(&r->regions, i, r->chosen, r->nprocesses, &row);
		columns_text(t.c, model_region_name(r->model, i), 40);
		cell_count(t.c, used);
		figures_cells(&t, &row, r->sum.time.walls_ns, r->lost_shown);
		all.open += row.open;
		all.unwound += row.unwound;
	}
	text_columns(t.c, out);
	regions_notes(r, &all, out);
}

#undef ROW

/* ---- efficiency in phases and regions ---- */

#define ROWS_MANY 32
#define FIRST_ROWS 5 /* most rows on the first screen */
#define NAME_CHARS 25

#define ROW struct part_row
#define EDGES_LOST (LOSS_OF_CALLS & ~LOSS_SPIN) /* the part may have begun or ended unseen */
#define DOUBT .wrong = LOSS_OF_ACCOUNT
static const struct figure part_figures[] = {
	{FIGURE_COUNT, NULL, "ranks", AT(e.ranks), .low = EDGES_LOST},
	{FIGURE_NS, NULL, "time", AT(e.span_ns), .wrong = EDGES_LOST | LOSS_OF_LIVES},
	{FIGURE_RATIO, NULL, "inside", AT(inside), .wrong = EDGES_LOST | LOSS_OF_LIVES},
	{FIGURE_RATIO, NULL, "parallel", AT(e.parallel), DOUBT},
	{FIGURE_RATIO, NULL, "balance", AT(e.load_balance), DOUBT},
	{FIGURE_RATIO, NULL, "serial.", AT(e.serialisation), DOUBT, .high = LOSS_OF_PATH},
	{FIGURE_RATIO, NULL, "transfer", AT(e.transfer), DOUBT, .low = LOSS_OF_PATH},
	{FIGURE_RATIO, NULL, "on core", AT(e.had_core), DOUBT, .shown = FACT_SCHED},
	{0},
};
static const struct figure json_figures[] = {
	{FIGURE_COUNT, "entered", NULL, AT(entered)},
	{FIGURE_NS, "inside_ns", NULL, AT(inside_ns)},
	{FIGURE_RATIO, "inside", NULL, AT(inside)},
	{0},
};
#undef ROW

/* ---- text ---- */

static uint32_t rows_count(const struct report *r, bool phases)
{
	return table_sum(r->parts.nrow, i, r->parts.row[i].is_phase == phases);
}

/* Notes why serialisation and transfer are unknown for some parts. */
static void unknown_note(const struct report *r, bool phases, FILE *out)
{
	bool too_long = false, too_many = false;

	for (uint32_t i = 0; i < r->parts.nrow; i++) {
		const struct part_row *row = &r->parts.row[i];

		if (row->is_phase != phases)
			continue;
		too_long |= row->e.unknown == EFFICIENCY_TOO_LONG;
		too_many |= row->e.unknown == EFFICIENCY_NOT_REPLAYED;
	}
	if (too_long)
		text_note(out,
			  "Serialisation and transfer are unknown: the recording is too long to be "
			  "replayed.");
	else if (too_many)
		text_note(out,
			  "Serialisation and transfer are known only for the %u phases and regions "
			  "that took longest.",
			  PARTS_PATHS_MAX);
}

static void rows_print(const struct report *r, bool phases, uint32_t shown, FILE *out)
{
	struct figure_table t = {part_figures, columns_new(), .facts = r->facts};
	bool jobs = r->account.njob > 1;

	columns_add(t.c, phases ? "phase" : "region", COLUMNS_LEFT);
	if (jobs)
		columns_add(t.c, "job", COLUMNS_RIGHT);
	figures_columns(&t);
	for (uint32_t i = 0; i < r->parts.nrow && shown; i++) {
		const struct part_row *row = &r->parts.row[i];

		if (row->is_phase != phases)
			continue;
		columns_text(t.c, row->name, NAME_CHARS);
		if (jobs)
			columns_cell(t.c, "%u", row->job);
		figures_cells(&t, row, 0, efficiency_lost(r, row->job));
		shown--;
	}
	text_columns(t.c, out);
}

static void table_print(const struct report *r, bool phases, uint32_t most, FILE *out)
{
	uint32_t n = rows_count(r, phases), shown = text_rows_shown(r, n, ROWS_MANY);

	if (!n)
		return;
	shown = shown < most ? shown : most;
	text_section(out, "Efficiency in %s", phases ? "phases" : "regions");
	rows_print(r, phases, shown, out);
	if (shown < n)
		text_note(out, "%u of %u shown; --regions --top 0 shows all.", shown, n);
	unknown_note(r, phases, out);
}

static void text_parts_first(const struct report *r, FILE *out)
{
	uint32_t n = rows_count(r, true);

	table_print(r, false, FIRST_ROWS, out);
	if (n)
		text_note(out,
			  "The program marked %s: povtrace report --regions prints the efficiency "
			  "of %s.",
			  PLURAL_TEXT(n, "phase", "phases"), n == 1 ? "it" : "each");
}

void text_parts(const struct report *r, FILE *out)
{
	if (!r->opt->details) {
		text_parts_first(r, out);
		return;
	}
	table_print(r, false, UINT32_MAX, out);
	table_print(r, true, UINT32_MAX, out);
	if (r->parts.full)
		text_note(out,
			  "Efficiencies of phases and regions are unknown: they were entered too "
			  "often.");
	if (r->parts.left_out)
		text_note(out, "Phases beyond the first %u names are left out.", PARTS_MAX);
	if (!r->parts.nrow && !r->parts.full && !model_region_count(r->model) &&
	    r->opt->details == DETAIL_REGIONS)
		text_note(out,
			  "The program marked no phases (MPI_Pcontrol), and no region was recorded "
			  "(record --region).");
	if (r->parts.nrow)
		text_explain(r, out,
			     "Only main threads count. time: while any rank was in it. inside: the "
			     "mean share of that time that ranks were in it. parallel = balance × "
			     "serial. × transfer: the share of all that time outside MPI. on core: "
			     "the share of time outside MPI on a core.");
}

/* ---- JSON ---- */

void json_parts(struct json_out *j, const struct report *r)
{
	json_out_key_array(j, "region_efficiency");
	for (uint32_t i = 0; i < r->parts.nrow; i++) {
		const struct part_row *row = &r->parts.row[i];

		json_out_object_begin(j);
		json_out_key_string(j, "name", row->name);
		json_out_key_string(j, "kind", row->is_phase ? "phase" : "region");
		json_out_key_uint(j, "job", row->job);
		figures_json(j, json_figures, row, r->facts);
		json_efficiency_members(j, &row->e, r->facts);
		json_out_object_end(j);
	}
	json_out_array_end(j);
}
