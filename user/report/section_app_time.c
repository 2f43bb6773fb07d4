/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Shows what each rank's main thread did between MPI_Init and MPI_Finalize. */
#include <stdlib.h>
#include <string.h>

#include "analysis/label.h"
#include "lib/human.h"
#include "lib/log.h"
#include "report/section.h"

#define RANKS_MANY 16  /* with more ranks, shows only those that computed least */
#define RANKS_SHOWN 8  /* number of ranks shown then */
#define BUSY_PART 100  /* a thread that ran less than 1/BUSY_PART of its time counts as asleep */
#define RANGES_SHOWN 4 /* ranges of CPUs that a thread is bound to */
#define HOLDER_CHARS 38
#define TRACING_CHARS 9 /* width of the tracing column */
#define HELD_PART 200	/* names no holder of the core below 1/HELD_PART of the window */

#define PART(member) AT(member), .of = offsetof(ROW, window_ns)
#define STATES .low = LOSS_OF_STATES, .wrong = LOSS_OF_LIVES | LOSS_UNANNOUNCED
#define SCHED .known = FACT_SCHED, .shown = FACT_SCHED

#define ROW struct app_thread
const struct figure app_figures[] = {
	{FIGURE_TIME, "window_ns", "time", AT(window_ns), .wrong = LOSS_OF_LIVES},
	{FIGURE_TIME, "compute_ns", .share = "compute", PART(compute_ns), STATES, SCHED},
	{FIGURE_TIME, "mpi_work_ns", .share = "MPI work", PART(work_ns), STATES, SCHED},
	{FIGURE_TIME, "mpi_wait_ns", .share = "MPI wait", PART(wait_ns), STATES, SCHED},
	{FIGURE_TIME, "file_io_ns", .share = "file I/O", PART(io_ns), STATES, .known = FACT_SCHED,
	 .shown = FACT_SCHED | FACT_FILE_IO},
	{FIGURE_TIME, "no_core_ns", .share = "no core", PART(no_core_ns), STATES, SCHED},
	{FIGURE_TIME, "asleep_ns", .share = "asleep", PART(asleep_ns), STATES, SCHED},
	{FIGURE_TIME, "unknown_ns", .share = "unkn", PART(unknown_ns),
	 .wrong = LOSS_OF_LIVES | LOSS_UNANNOUNCED, .shown = FACT_SCHED | FACT_UNKNOWN},
	{FIGURE_TIME, "tracing_ns", .share = "tracing", PART(tracing_ns), STATES,
	 .shown = FACT_TRACING},
	{FIGURE_TIME, "recording_ns", AT(recording_ns), .low = LOSS_OF_CALLS},
	{FIGURE_TIME, "waited_for_room_ns", AT(room_ns)},
	{FIGURE_TIME, "core_taken_ns", AT(taken_ns), STATES, .known = FACT_SCHED},
	{FIGURE_TIME, "mpi_ns", AT(mpi_ns), .low = LOSS_OF_CALLS},
	{0},
};

/* Figures of the text if the scheduler was not recorded. */
const struct figure app_mpi_figures[] = {
	{FIGURE_TIME, NULL, "time", AT(window_ns), .wrong = LOSS_OF_LIVES},
	{FIGURE_TIME, "mpi_ns", .share = "in MPI", PART(mpi_ns), .low = LOSS_OF_CALLS},
	{0},
};

static const struct app_process *process_of(const struct report *r, uint32_t idx)
{
	return &r->findings.app.process[idx];
}

/* ---- JSON ---- */

void json_app_thread(struct json_out *j, const struct report *r, const struct model_thread *t)
{
	const struct app_thread *row = &r->findings.app.thread[t->idx];
	const struct interrupts_row interrupts = interrupts_of(&r->interrupts, t->idx);
	const struct demand_mask *k = demand_mask_of(&r->findings.demand, t);
	char *cpus = k ? cpus_label(r->model, k->host_idx, &k->cpus, UINT32_MAX) : NULL;

	json_out_key_object(j, "between_init_and_finalize");
	json_out_key_uint(j, "tid", t->tid);
	json_out_key_string(j, "bound_to", cpus);
	free(cpus);
	json_out_key_uint(j, "from_ns", row->window_ns ? json_since_start(r, row->from_ns) : 0);
	figures_json(j, app_figures, row, r->facts);
	json_out_known_uint(j, "interrupts", r->interrupts.recorded, interrupts.cnt);
	json_out_known_uint(j, "interrupts_ns", r->interrupts.recorded, interrupts.ns);
	json_out_object_end(j);
}

void json_app_process(struct json_out *j, const struct report *r, uint32_t idx)
{
	const struct app_process *p = process_of(r, idx);

	json_out_known_uint(j, "init_ns", p->init_ns, p->init_ns);
	json_out_known_uint(j, "finalize_ns", p->finalize_ns, p->finalize_ns);
	if (p->has_main)
		json_app_thread(j, r, model_thread_get(r->model, p->main));
}

/* ---- ranks ---- */

static bool has_masks(const struct report *r)
{
	return r->findings.demand.nmask;
}

static void thread_cells(const struct report *r, const struct figure_table *t,
			 const struct model_thread *thread)
{
	const struct app_thread *row = &r->findings.app.thread[thread->idx];
	uint32_t idx = thread->proc->idx;

	text_process_cells(r, t->c, idx, false);
	if (r->opt->threads) {
		columns_text(t->c, thread->comm, 15);
		columns_cell(t->c, "%u", thread->tid);
		columns_cell(t->c, "%s",
			     thread->idx == process_of(r, idx)->main ? "main" :
			     row->calls				     ? "in MPI" :
								       "");
	}
	if (has_masks(r))
		text_bound_cell(r, t->c, thread, RANGES_SHOWN);
	figures_cells(t, row, 0, r->lost[idx]);
	if (t->facts & FACT_SCHED)
		text_who_had_core(r, t->c, thread, row->window_ns / HELD_PART,
				  (r->opt->threads ? HOLDER_CHARS / 3 : HOLDER_CHARS) -
					  (r->facts & FACT_TRACING ? TRACING_CHARS : 0));
}

/* True for main threads and, with --threads, for those that compute or call MPI. */
static bool has_row(const struct report *r, const struct model_thread *t)
{
	const struct app_thread *row = &r->findings.app.thread[t->idx];
	const struct app_process *p = process_of(r, t->proc->idx);

	if (!r->chosen[t->proc->idx] || !p->has_main)
		return false;
	if (t->idx == p->main)
		return true;
	return r->opt->threads &&
	       (row->calls || row->window_ns - row->asleep_ns > row->window_ns / BUSY_PART);
}

static void process_rows(const struct report *r, const struct figure_table *t, uint32_t idx)
{
	const struct app_process *p = process_of(r, idx);

	if (!p->has_main)
		return;
	thread_cells(r, t, model_thread_get(r->model, p->main));
	for (uint32_t i = 0; i < model_thread_count(r->model) && r->opt->threads; i++) {
		const struct model_thread *thread = model_thread_get(r->model, i);

		if (thread->proc->idx == idx && i != p->main && has_row(r, thread))
			thread_cells(r, t, thread);
	}
}

static double computed(const struct report *r, uint32_t idx)
{
	const struct app_process *p = process_of(r, idx);
	const struct app_thread *row = p->has_main ? &r->findings.app.thread[p->main] : NULL;

	return row && row->window_ns ? (double)row->compute_ns / (double)row->window_ns : 2;
}

static int least_compute(const void *va, const void *vb, void *ctx)
{
	double a = computed(ctx, *(const uint32_t *)va), b = computed(ctx, *(const uint32_t *)vb);

	return a < b ? -1 : a > b;
}

struct range {
	double min, sum, max;
	uint32_t n;
};

static void range_add(struct range *g, double v)
{
	g->min = !g->n || v < g->min ? v : g->min;
	g->max = !g->n || v > g->max ? v : g->max;
	g->sum += v;
	g->n++;
}

static double range_get(const struct range *g, int which)
{
	return !g->n ? 0 : which == 0 ? g->min : which == 1 ? g->sum / g->n : g->max;
}

/* Range of a figure, or of its share, over all ranks shown. */
static struct range range_of(const struct report *r, const struct figure *f, bool share)
{
	struct range g = {0};

	for (uint32_t i = 0; i < r->nrows; i++) {
		const struct app_process *p = process_of(r, r->row[i]);
		const char *row = (const char *)&r->findings.app.thread[p->main];
		double v = (double)*(const uint64_t *)(row + f->at);
		uint64_t whole = *(const uint64_t *)(row + f->of);

		if (p->has_main && (!share || whole))
			range_add(&g, share ? 100 * v / (double)whole : v);
	}
	return g;
}

/* Adds the row of minima, means or maxima. Its columns may come from different ranks. */
static void range_row(const struct report *r, const struct figure_table *t, int which)
{
	static const char *const name[] = {"min", "mean", "max"};

	text_process_sum(r, t->c, name[which], false);
	if (has_masks(r))
		cell_empty(t->c);
	for (const struct figure *f = t->figures; f->kind; f++) {
		struct range g = range_of(r, f, f->share);

		if (f->shown & ~t->facts || (!f->header && !f->share))
			continue;
		columns_mark(t->c, text_mark(r->lost_shown, f->low, f->wrong));
		columns_cell(t->c, "%.*f", f->share ? 1 : t->unit.digits,
			     range_get(&g, which) / (f->share ? 1 : t->unit.ns));
	}
	columns_mark(t->c, NULL);
	if (t->facts & FACT_SCHED)
		cell_empty(t->c);
}

static void ranges_print(const struct report *r, const struct figure_table *t)
{
	columns_rule(t->c);
	for (int which = 0; which < 3; which++)
		range_row(r, t, which);
}

void text_windows_note(const struct report *r, FILE *out)
{
	const struct model_process *silent = NULL;
	uint32_t silents = 0, founds = 0;
	char *name;

	for (uint32_t i = 0; i < r->nrows; i++) {
		const struct model_process *p = model_process_get(r->model, r->row[i]);

		founds += windows_found(&r->findings.app.windows, p);
		if (process_of(r, p->idx)->has_main)
			continue;
		silent = silents++ ? silent : p;
	}
	if (founds)
		text_note(out,
			  "MPI_Init of %s was not recorded: time counts from the first recorded "
			  "call.",
			  PLURAL_TEXT(founds, "rank", "ranks"));
	if (!silent)
		return;
	name = text_printable(silent->name, 16);
	text_note(out, "No MPI call was seen of %s: rank %s (%s, pid %u)%s.",
		  PLURAL_TEXT(silents, "process", "processes"), RANK_LABEL(r, silent), name,
		  silent->host_pid, silents > 1 ? " and others" : "");
	free(name);
}

/* Notes time and threads that the table leaves out. */
static void left_out_note(const struct report *r, FILE *out)
{
	uint64_t init_ns = 0, finalize_ns = 0, ran_ns = 0;
	uint32_t inits = 0, finalizes = 0, slept = 0, ran = 0;

	for (uint32_t i = 0; i < r->nrows; i++) {
		const struct app_process *p = process_of(r, r->row[i]);

		init_ns += p->init_ns;
		finalize_ns += p->finalize_ns;
		inits += p->init_ns != 0;
		finalizes += p->finalize_ns != 0;
	}
	for (uint32_t i = 0; i < model_thread_count(r->model); i++) {
		const struct model_thread *t = model_thread_get(r->model, i);
		uint64_t running_ns = r->time.thread[i].times.ns[THREAD_RUNNING];

		if (!r->chosen[t->proc->idx] || !process_of(r, t->proc->idx)->has_main ||
		    has_row(r, t))
			continue;
		if (running_ns <= r->time.thread[i].wall_ns / BUSY_PART) {
			slept++;
			continue;
		}
		ran++;
		ran_ns += running_ns;
	}
	if (inits)
		text_note(out, "Not in these times: MPI_Init %s, MPI_Finalize %s, on average.",
			  NS_TEXT(init_ns / inits),
			  finalizes ? NS_TEXT(finalize_ns / finalizes) : "(not seen)");
	if (ran)
		text_note(out, "%s of these ranks ran %s in all: --threads shows them.",
			  PLURAL_TEXT(ran, "other thread", "other threads"), NS_TEXT(ran_ns));
	if (slept && r->facts & FACT_SCHED)
		text_note(out, "%s slept 99 %% of the time or more.",
			  PLURAL_TEXT(slept, "other thread", "other threads"));
}

static void interrupts_note(const struct report *r, FILE *out)
{
	struct interrupts_row all = {0}, most = {0}, one;
	const struct model_process *of = NULL;
	uint32_t n = 0;

	for (uint32_t i = 0; i < r->nrows; i++) {
		const struct app_process *p = process_of(r, r->row[i]);

		if (!p->has_main)
			continue;
		one = interrupts_of(&r->interrupts, p->main);
		all.ns += one.ns;
		n++;
		if (one.ns <= most.ns)
			continue;
		most = one;
		of = model_process_get(r->model, r->row[i]);
	}
	if (of)
		text_note(out,
			  "Interrupts took %s of the time that a main thread ran, on average; "
			  "most of rank %s: %s by %llu.",
			  NS_TEXT(all.ns / n), RANK_LABEL(r, of), NS_TEXT(most.ns),
			  (unsigned long long)most.cnt);
}

static uint64_t longest_window_ns(const struct report *r)
{
	uint64_t max_ns = 0;

	for (uint32_t i = 0; i < r->nrows; i++) {
		const struct app_process *p = process_of(r, r->row[i]);
		uint64_t ns = p->has_main ? r->findings.app.thread[p->main].window_ns : 0;

		max_ns = ns > max_ns ? ns : max_ns;
	}
	return max_ns;
}

static bool has_rows(const struct report *r)
{
	uint32_t i = 0;

	while (i < r->nrows && !process_of(r, r->row[i])->has_main)
		i++;
	return i < r->nrows;
}

static void table_print(const struct report *r, struct text_unit unit, FILE *out)
{
	bool sched = r->facts & FACT_SCHED, many = r->nrows > RANKS_MANY && r->opt->top;
	struct figure_table t = {sched ? app_figures : app_mpi_figures, columns_new(), unit,
				 r->facts};
	uint32_t *row = xcalloc(r->nrows + 1, sizeof(*row)), shown = many ? RANKS_SHOWN : r->nrows;

	memcpy(row, r->row, r->nrows * sizeof(*row));
	if (many && r->sort == REPORT_SORT_RANK)
		qsort_r(row, r->nrows, sizeof(*row), least_compute, (void *)r);
	text_process_columns(r, t.c, false);
	if (r->opt->threads) {
		columns_list(t.c, "<thread", ">tid", "<");
	}
	if (has_masks(r))
		columns_add(t.c, "bound to", COLUMNS_LEFT);
	figures_columns(&t);
	if (sched)
		columns_add(t.c, "who had the core", COLUMNS_LEFT);
	for (uint32_t i = 0; i < shown; i++)
		process_rows(r, &t, row[i]);
	if (r->nrows > 2 && !r->opt->threads)
		ranges_print(r, &t);
	text_columns(t.c, out);
	free(row);
	text_ranks_shown_note(r, out, shown, r->nrows);
}

void text_app_time(const struct report *r, FILE *out)
{
	struct text_unit unit = text_unit_for(longest_window_ns(r));

	text_section(out, "%s between MPI_Init and MPI_Finalize: time (%s), and where it went (%%)",
		     r->opt->threads ? "Threads" : "Main threads", unit.name);
	if (has_rows(r))
		table_print(r, unit, out);
	text_windows_note(r, out);
	left_out_note(r, out);
	interrupts_note(r, out);
	text_explain(
		r, out,
		"compute: running outside MPI. MPI work: running in MPI calls that do "
		"not wait for others. MPI wait: running in those that wait, polling "
		"without success (less than 5 us apart), or asleep in MPI. file I/O: in "
		"MPI_File calls. no core: ready to run, but not on a core. asleep: blocked "
		"outside MPI. %swho had the core: while it had none. bound to: the CPUs "
		"that it could use at the end.",
		r->facts & FACT_TRACING ?
			"tracing: time that povtrace took: recording calls, waiting for room to "
			"record, and the core while povtrace ran on it. " :
			"");
}
