/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Shows the time of one section of the program (report --section) as ranks and as cores see it. */
#include <errno.h>
#include <stdlib.h>

#include "lib/human.h"
#include "lib/log.h"
#include "lib/table.h"
#include "report/section.h"

#define CORES_MANY 32
#define EDGES_LOST (LOSS_OF_CALLS & ~LOSS_SPIN) /* the section may have begun or ended unseen */
#define TIMES .low = LOSS_OF_STATES, .wrong = EDGES_LOST | LOSS_OF_LIVES | LOSS_UNANNOUNCED
#define SCHED .known = FACT_SCHED, .shown = FACT_SCHED

#define ROW struct section_row
static const struct figure rank_figures[] = {
	{FIGURE_COUNT, "entered", "entered", AT(entered), .low = EDGES_LOST},
	{FIGURE_COUNT, "open", AT(open)},
	{FIGURE_TIME, "wall_ns", "wall", AT(wall_ns), .wrong = EDGES_LOST | LOSS_OF_LIVES},
	{FIGURE_TIME, "running_ns", "rank-POV", AT(split.ns[THREAD_RUNNING]), "%", OF(wall_ns),
	 TIMES, SCHED},
	{FIGURE_TIME, "runnable_ns", "runnable", AT(split.ns[THREAD_RUNNABLE]), "%", OF(wall_ns),
	 TIMES, SCHED},
	{FIGURE_TIME, "blocked_ns", "blocked", AT(split.ns[THREAD_BLOCKED]), "%", OF(wall_ns),
	 TIMES, SCHED},
	{FIGURE_TIME, "unknown_ns", AT(split.ns[THREAD_UNKNOWN]), "unkn%", OF(wall_ns),
	 .wrong = EDGES_LOST | LOSS_OF_LIVES | LOSS_UNANNOUNCED,
	 .shown = FACT_SCHED | FACT_UNKNOWN},
	{FIGURE_TIME, "other_threads_ns", "other thr", AT(other_threads_ns), TIMES, SCHED},
	{0},
};
#undef ROW

#define ROW struct section_core_row
#define PART "%", OF(here_ns), TIMES
static const struct figure core_figures[] = {
	{FIGURE_TIME, "here_ns", "here", AT(here_ns), TIMES},
	{FIGURE_TIME, "running_ns", "rank-POV", AT(running_ns), PART},
	{FIGURE_TIME, "other_threads_ns", AT(own_ns), "own thr%", OF(here_ns), TIMES},
	{FIGURE_TIME, "other_ranks_ns", "ranks", AT(ranks_ns), PART},
	{FIGURE_TIME, "other_tasks_ns", "others", AT(other_ns), PART},
	{FIGURE_TIME, "idle_ns", "idle", AT(idle_ns), PART},
	{FIGURE_TIME, "unknown_ns", AT(unknown_ns), "unkn%", OF(here_ns), TIMES},
	{0},
};
#undef ROW

/*
 * True for processes whose time counts: all ranks, not only those shown, because they share cores.
 */
static bool is_one(const struct report *r, uint32_t idx)
{
	const struct model_process *p = model_process_get(r->model, idx);

	return r->nranks ? p->is_rank : p->is_target && p->pid;
}

/* Time of the section from a core's point of view. *ranks: number of ranks that took part. */
static uint64_t core_pov_ns(const struct report *r, uint32_t cpu, uint32_t *ranks)
{
	uint64_t sum = 0, ns;

	*ranks = 0;
	for (uint32_t i = 0; i < r->nprocesses; i++) {
		ns = is_one(r, i) ? program_section_core(&r->program_section, i, cpu)->running_ns :
				    0;
		*ranks += ns != 0;
		sum += ns;
	}
	return sum;
}

int report_section_check(const struct report *r)
{
	if (!r->opt->section.text)
		return 0;
	for (uint32_t i = 0; i < r->nrows; i++)
		if (program_section_row(&r->program_section, r->row[i])->entered)
			return 0;
	log_error("report: --section \"%s\": no reported rank was in it; see --functions "
		  "and --regions for functions, regions and phases",
		  r->opt->section.text);
	return -ENOENT;
}

/* ---- JSON ---- */

static void json_rank_pov(struct json_out *j, const struct report *r, uint32_t idx)
{
	const struct model_process *p = model_process_get(r->model, idx);
	const struct section_core_row *row;

	json_out_object_begin(j);
	json_rank(j, p);
	json_out_known_uint(j, "job", p->is_rank, (uint64_t)p->job_idx);
	json_out_key_uint(j, "pid", p->host_pid);
	json_incomplete(j, r->lost[idx]);
	figures_json(j, rank_figures, program_section_row(&r->program_section, idx), r->facts);
	json_out_key_array(j, "cores");
	for (uint32_t cpu = 0;
	     r->facts & FACT_SCHED && cpu < program_section_cpus(&r->program_section); cpu++) {
		row = program_section_core(&r->program_section, idx, cpu);
		if (!row->here_ns)
			continue;
		json_out_object_begin(j);
		json_out_key_uint(j, "cpu", cpu);
		figures_json(j, core_figures, row, r->facts);
		json_out_object_end(j);
	}
	json_out_array_end(j);
	json_out_object_end(j);
}

void json_program_section(struct json_out *j, const struct report *r)
{
	uint32_t ranks;
	uint64_t ns;

	if (!r->opt->section.text)
		return;
	json_out_key_object(j, "section");
	json_out_key_string(j, "name", r->opt->section.text);
	json_out_key_array(j, "ranks");
	for (uint32_t i = 0; i < r->nrows; i++)
		json_rank_pov(j, r, r->row[i]);
	json_out_array_end(j);
	json_out_key_array(j, "cores");
	for (uint32_t cpu = 0;
	     r->facts & FACT_SCHED && cpu < program_section_cpus(&r->program_section); cpu++) {
		ns = core_pov_ns(r, cpu, &ranks);
		if (!ranks)
			continue;
		json_out_object_begin(j);
		json_out_key_uint(j, "cpu", cpu);
		json_out_key_uint(j, "ranks", ranks);
		json_out_key_uint(j, "running_ns", ns);
		json_incomplete(j, losses_of_core(&r->losses, cpu));
		json_out_object_end(j);
	}
	json_out_array_end(j);
	json_out_object_end(j);
}

/* ---- text ---- */

static void text_of_ranks(const struct report *r, struct text_unit unit, uint32_t shown, FILE *out)
{
	struct figure_table t = {rank_figures, columns_new(), unit, r->facts};
	struct section_row sum = {0};

	text_process_columns(r, t.c, false);
	figures_columns(&t);
	for (uint32_t i = 0; i < r->nrows; i++) {
		const struct section_row *row = program_section_row(&r->program_section, r->row[i]);

		table_row_add(&sum, row, entered);
		if (i >= shown)
			continue;
		text_process_cells(r, t.c, r->row[i], false);
		figures_cells(&t, row, 0, r->lost[r->row[i]]);
	}
	if (r->nrows > 1) {
		columns_rule(t.c);
		text_process_sum(r, t.c, "all", false);
		figures_cells(&t, &sum, 0, r->lost_shown);
	}
	text_columns(t.c, out);
	text_shown_note(out, shown, r->nrows);
	if (sum.open)
		text_note(out,
			  "%s it when the thread or the recording ended; time counts up to then.",
			  PLURAL_TEXT(sum.open, "thread had not left", "threads had not left"));
}

static void text_of_places(const struct report *r, struct text_unit unit, uint32_t shown, FILE *out)
{
	struct figure_table t = {core_figures, columns_new(), unit, r->facts};

	columns_list(t.c, ">rank", ">cpu");
	figures_columns(&t);
	for (uint32_t i = 0; i < shown; i++) {
		for (uint32_t cpu = 0; cpu < program_section_cpus(&r->program_section); cpu++) {
			const struct section_core_row *row =
				program_section_core(&r->program_section, r->row[i], cpu);

			if (!row->here_ns)
				continue;
			text_rank_cell(r, t.c, model_process_get(r->model, r->row[i]));
			columns_cell(t.c, "%s", CPU_LABEL(r, cpu));
			figures_cells(&t, row, 0, r->lost[r->row[i]]);
		}
	}
	text_columns(t.c, out);
}

static void core_cells(const struct report *r, struct columns *c, uint32_t cpu, uint32_t ranks,
		       uint64_t ns)
{
	columns_cell(c, "%s", CPU_LABEL(r, cpu));
	columns_cell(c, "%u", ranks);
	columns_mark(c, text_mark(losses_of_core(&r->losses, cpu), LOSS_OF_STATES,
				  EDGES_LOST | LOSS_OF_LIVES));
	columns_cell(c, "%s", NS_TEXT(ns));
	columns_mark(c, NULL);
}

static void text_of_cores(const struct report *r, FILE *out)
{
	uint32_t cpus = program_section_cpus(&r->program_section), ranks, n = 0, shown;
	struct columns *c = columns_new();
	uint64_t ns;

	for (uint32_t cpu = 0; cpu < cpus; cpu++)
		n += core_pov_ns(r, cpu, &ranks) != 0;
	shown = text_rows_shown(r, n, CORES_MANY);
	columns_add(c, "cpu", COLUMNS_RIGHT);
	columns_add(c, r->nranks ? "ranks" : "processes", COLUMNS_RIGHT);
	columns_add(c, "core-POV", COLUMNS_RIGHT);
	for (uint32_t cpu = 0, row = 0; cpu < cpus && row < shown; cpu++) {
		ns = core_pov_ns(r, cpu, &ranks);
		if (!ns)
			continue;
		core_cells(r, c, cpu, ranks, ns);
		row++;
	}
	text_columns(c, out);
	if (shown < n)
		text_note(out, "%u of %u cores shown; --top 0 shows all.", shown, n);
}

void text_program_section(const struct report *r, FILE *out)
{
	uint32_t shown = text_rows_shown(r, r->nrows, PROCESSES_MANY);
	uint64_t longest_ns = 0;
	struct text_unit unit;

	if (!r->opt->section.text)
		return;
	for (uint32_t i = 0; i < r->nrows; i++) {
		uint64_t ns = program_section_row(&r->program_section, r->row[i])->wall_ns;

		longest_ns = ns > longest_ns ? ns : longest_ns;
	}
	unit = text_unit_for(longest_ns);
	text_section(out, "Section %s: its time as ranks and as cores see it (%s)",
		     r->opt->section.text, unit.name);
	text_of_ranks(r, unit, shown, out);
	if (!(r->facts & FACT_SCHED))
		return;
	text_of_places(r, unit, shown, out);
	text_of_cores(r, out);
	text_explain(r, out,
		     "Sums over the threads in the section. wall: as MPI_Wtime measures it. "
		     "rank-POV: the part of wall in which they ran. other thr: the rank's "
		     "other threads ran meanwhile. here: they ran on that core, waited for "
		     "it, or had run there last; the columns after it show what the core ran "
		     "meanwhile. core-POV: how long ranks in the section ran on that core, "
		     "summed over all ranks.");
}
