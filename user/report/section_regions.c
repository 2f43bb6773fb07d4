/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Shows the program's functions recorded as regions, in the order of record's options. */
#include <string.h>

#include "lib/human.h"
#include "lib/json_get.h"
#include "report/section.h"
#include "trace/trace_read.h"

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

static void notes(const struct report *r, const struct region_row *all, FILE *out)
{
	char a[80];

	for (uint32_t i = 0; i < model_region_count(r->model); i++)
		if (!is_found(r, i))
			text_note(
				out,
				"%s: no recorded program or library has a function of this name that can "
				"be probed.",
				model_region_name(r->model, i));
	if (all->open)
		text_note(out,
			  "%s when the thread or the recording ended; its time counts up to then.",
			  human_plural(a, sizeof(a), all->open, "call had not returned",
				       "calls had not returned"));
	if (all->unwound)
		text_note(out,
			  "%s without returning (longjmp, an exception, exec); time counts until "
			  "that was noticed.",
			  human_plural(a, sizeof(a), all->unwound, "call was left",
				       "calls were left"));
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
	notes(r, &all, out);
}
