/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The rank's point of view: shows where its threads' time went, and how often they were switched.
 * Splits runs of merged polls, which the timeline shows as one slice, into their parts.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "lib/log.h"
#include "lib/u64.h"
#include "report/section.h"

#define THREADS_MANY 200

/* ---- figures ---- */

#define STATES .low = LOSS_OF_STATES, .wrong = LOSS_OF_LIVES | LOSS_UNANNOUNCED
#define SCHED .known = FACT_SCHED, .shown = FACT_SCHED

#define ROW struct state_times
const struct figure split_figures[] = {
	{FIGURE_NS, "running_ns", AT(ns[THREAD_RUNNING]), SCHED},
	{FIGURE_NS, "runnable_ns", AT(ns[THREAD_RUNNABLE]), SCHED},
	{FIGURE_NS, "blocked_ns", AT(ns[THREAD_BLOCKED]), SCHED},
	{FIGURE_NS, "unknown_ns", AT(ns[THREAD_UNKNOWN])},
	{0},
};
#undef ROW

#define ROW struct time_row
#define CALLS .low = LOSS_OF_CALLS
#define POLLS CALLS, .share_wrong = LOSS_OF_CALLS
#define PROBES .known = FACT_POLL_COST

static const struct figure poll_figures[] = {
	{FIGURE_COUNT, "polls", "polls", AT(poll.polls), CALLS},
	{FIGURE_COUNT, "runs", "runs", AT(poll.runs), CALLS},
	{FIGURE_TIME, "span_ns", "span", AT(poll.span_ns), "%wall", OF(walls_ns), CALLS,
	 .share_wrong = LOSS_OF_LIVES},
	{FIGURE_TIME, "inside_ns", "inside", AT(poll.inside_ns), "%", OF(poll.span_ns), POLLS},
	{FIGURE_TIME, "probes_ns", "probes", AT(poll.probes_ns), "%", OF(poll.span_ns), POLLS,
	 PROBES, .shown = FACT_POLL_COST},
	{FIGURE_TIME, "between_ns", "between", AT(poll.between_ns), "%", OF(poll.span_ns), POLLS,
	 PROBES},
	{0},
};

static const struct figure call_figures[] = {
	{FIGURE_COUNT, "outermost", AT(calls)},
	{FIGURE_COUNT, "open", AT(open_calls)},
	{FIGURE_COUNT, "unwound", AT(unwound_calls)},
	{FIGURE_COUNT, "nested", AT(nested_calls)},
	{FIGURE_COUNT, "empty_polls", AT(polls)},
	{FIGURE_COUNT, "spins", AT(spins)},
	{FIGURE_COUNT, "counted", AT(counted)},
	{FIGURE_TIME, "ns", AT(call_ns)},
	{FIGURE_TABLE, NULL, AT(call_split), .sub = split_figures},
	{FIGURE_TIME, "empty_polls_ns", AT(spin_ns)},
	{FIGURE_TIME, "counted_ns", AT(counted_ns)},
	{FIGURE_TABLE, "empty_polls_split", .sub = poll_figures},
	{0},
};

const struct figure time_figures[] = {
	{FIGURE_TIME, "wall_ns", "wall", AT(wall_ns), .wrong = LOSS_OF_LIVES},
	{FIGURE_TIME, "thread_ns", "thr time", AT(thread_ns), .wrong = LOSS_OF_LIVES,
	 .shown = FACT_PROCESSES},
	{FIGURE_TIME, "running_ns", "running", AT(times.ns[THREAD_RUNNING]), "%", OF(thread_ns),
	 STATES, SCHED},
	{FIGURE_TIME, "runnable_ns", "runnable", AT(times.ns[THREAD_RUNNABLE]), "%", OF(thread_ns),
	 STATES, SCHED},
	{FIGURE_TIME, "blocked_ns", "blocked", AT(times.ns[THREAD_BLOCKED]), "%", OF(thread_ns),
	 STATES, SCHED},
	{FIGURE_TIME, "unknown_ns", AT(times.ns[THREAD_UNKNOWN]), "unkn%", OF(thread_ns),
	 .wrong = LOSS_OF_LIVES | LOSS_UNANNOUNCED, .shown = FACT_SCHED | FACT_UNKNOWN},
	{FIGURE_TIME, "mpi_ns", "MPI", AT(mpi_ns), "%wall", OF(walls_ns), CALLS,
	 .share_wrong = LOSS_OF_LIVES},
	{FIGURE_TIME, "polling_ns", "polling", AT(polling_ns), "%wall", OF(walls_ns),
	 .low = LOSS_OF_CALLS | LOSS_OF_STATES, .wrong = LOSS_OF_LIVES | LOSS_UNANNOUNCED, SCHED},
	{FIGURE_TABLE, "calls", .sub = call_figures},
	{0},
};

/* ---- all ranks, when there are many ---- */

/* Returns the pct percentile of each member over the ranks shown. The row is no single rank's. */
static struct time_row across(const struct report *r, unsigned int pct)
{
	uint64_t *v = xcalloc(r->nrows, sizeof(*v));
	struct time_row out = {0};

	for (size_t k = 0; k < sizeof(out) / sizeof(*v); k++) {
		for (uint32_t i = 0; i < r->nrows; i++)
			v[i] = ((const uint64_t *)&r->time.process[r->row[i]])[k];
		qsort(v, r->nrows, sizeof(*v), u64_order);
		((uint64_t *)&out)[k] = v[(uint64_t)(r->nrows - 1) * pct / 100];
	}
	free(v);
	return out;
}

/* ---- ranks ---- */

static void rank_notes(const struct report *r, FILE *out)
{
	bool sched = r->facts & FACT_SCHED;

	text_explain(r, out,
		     "wall: the process's life within the recording. thr time: its threads' lives "
		     "added up%s.",
		     sched ? ", which the next columns split; % is of that" : "");
	if (sched)
		text_explain(
			r, out,
			"running: on a CPU. runnable: ready to run (woken or preempted), but "
			"not on a CPU. blocked: slept.%s",
			r->facts & FACT_UNKNOWN ?
				" unkn: unknown, because it is before a thread's first record or "
				"scheduler records are missing." :
				"");
	text_explain(
		r, out,
		"MPI: in outermost MPI calls; of merged polls, the polls themselves.%s "
		"%%wall: above 100 if several threads were in MPI at once.",
		sched ? " polling: running in a call that waits, or in a poll that found nothing." :
			"");
	if (r->nrows > PROCESSES_MANY)
		text_explain(r, out, "min, med, max: of each column by itself.");
}

static struct figure_table time_table(const struct report *r)
{
	return (struct figure_table){time_figures, columns_new(),
				     text_unit_for(r->sum.time.wall_ns), r->facts};
}

static void process_cells(const struct figure_table *t, const struct time_row *row, uint32_t lost)
{
	columns_mark(t->c, text_mark(lost, 0, LOSS_OF_LIVES));
	columns_cell(t->c, "%" PRIu64, row->threads);
	figures_cells(t, row, 0, lost);
}

static void rank_rows(const struct report *r, const struct figure_table *t, uint32_t shown)
{
	struct time_row row;

	for (uint32_t i = 0; i < shown; i++) {
		text_process_cells(r, t->c, r->row[i], !r->nranks);
		process_cells(t, &r->time.process[r->row[i]], r->lost[r->row[i]]);
	}
	if (r->nrows < 2)
		return;
	columns_rule(t->c);
	for (uint32_t pct = 0; pct <= 100 && r->nrows > PROCESSES_MANY; pct += 50) {
		row = across(r, pct);
		text_process_sum(r, t->c, pct == 0 ? "min" : pct == 50 ? "med" : "max", !r->nranks);
		cell_empty(t->c);
		figures_cells(t, &row, 0, r->lost_shown);
	}
	text_process_sum(r, t->c, "all", !r->nranks);
	process_cells(t, &r->sum.time, r->lost_shown);
}

void text_ranks(const struct report *r, FILE *out)
{
	uint32_t shown = text_rows_shown(r, r->nrows, PROCESSES_MANY);
	struct figure_table t;

	if (!r->nrows)
		return;
	t = time_table(r);
	text_section(out, "%s: where the threads' time went (%s)",
		     r->nranks ? "Ranks" : "Recorded processes", t.unit.name);
	text_process_columns(r, t.c, !r->nranks); /* the table of switches has the pids of ranks */
	columns_add(t.c, "thr", COLUMNS_RIGHT);
	figures_columns(&t);
	rank_rows(r, &t, shown);
	text_columns(t.c, out);
	text_processes_note(r, out, shown);
	rank_notes(r, out);
}

/* ---- threads ---- */

static void thread_row(const struct report *r, const struct figure_table *t,
		       const struct model_thread *thread)
{
	const struct time_row *row = &r->time.thread[thread->idx];
	uint32_t lost = r->lost[thread->proc->idx];

	text_rank_cell(r, t->c, thread->proc);
	columns_text(t->c, thread->comm, 15);
	columns_cell(t->c, "%u", thread->tid);
	columns_mark(t->c, text_mark(lost, LOSS_OF_CALLS, 0));
	cell_count(t->c, row->calls + row->polls);
	figures_cells(t, row, 0, lost);
}

/* Adds up to `most` threads in the order of their processes. Returns their number. */
static uint32_t thread_rows(const struct report *r, const struct figure_table *t, uint32_t most)
{
	uint32_t shown = 0;

	for (uint32_t i = 0; i < r->nprocesses && shown < most; i++) {
		for (uint32_t k = 0;
		     k < model_thread_count(r->model) && shown < most && r->chosen[i]; k++) {
			const struct model_thread *thread = model_thread_get(r->model, k);

			if (thread->proc->idx != i)
				continue;
			thread_row(r, t, thread);
			shown++;
		}
	}
	return shown;
}

void text_threads(const struct report *r, FILE *out)
{
	struct figure_table t = time_table(r);
	uint32_t n = 0, shown;

	for (uint32_t i = 0; i < model_thread_count(r->model); i++)
		n += r->chosen[model_thread_get(r->model, i)->proc->idx];
	t.facts &= ~FACT_PROCESSES;
	text_section(out, "Threads (%s)", t.unit.name);
	columns_list(t.c, ">rank", "<thread", ">tid", ">calls");
	figures_columns(&t);
	shown = thread_rows(r, &t, r->opt->top && n > THREADS_MANY ? THREADS_MANY : n);
	text_columns(t.c, out);
	text_shown_note(out, shown, n);
	text_explain(r, out, "calls: outermost ones, merged polls included.");
}

/* ---- merged polls ---- */

static void poll_rows(const struct report *r, const struct figure_table *t)
{
	uint32_t shown = text_rows_shown(r, r->nrows, PROCESSES_MANY), done = 0;

	for (uint32_t i = 0; i < r->nrows && done < shown; i++) {
		const struct model_process *p = model_process_get(r->model, r->row[i]);
		const struct time_row *row = &r->time.process[r->row[i]];

		if (!row->poll.runs)
			continue;
		done++;
		text_rank_cell(r, t->c, p);
		columns_text(t->c, p->name, 14);
		figures_cells(t, row, 0, r->lost[r->row[i]]);
	}
	if (r->nrows < 2)
		return;
	columns_rule(t->c);
	columns_cell(t->c, "all");
	cell_empty(t->c);
	figures_cells(t, &r->sum.time, 0, r->lost_shown);
}

void text_polls(const struct report *r, FILE *out)
{
	struct figure_table t = {poll_figures, .facts = r->facts};
	bool cost = r->facts & FACT_POLL_COST;
	uint64_t max_ns = 0, ns;

	for (uint32_t i = 0; i < r->nrows; i++) {
		ns = r->time.process[r->row[i]].poll.span_ns;
		max_ns = ns > max_ns ? ns : max_ns;
	}
	if (!max_ns)
		return;
	t.unit = text_unit_for(max_ns);
	t.c = columns_new();
	text_section(out, "Polls that found nothing: from the first to the last of each run (%s)",
		     t.unit.name);
	columns_list(t.c, ">rank", "<process");
	figures_columns(&t);
	poll_rows(r, &t);
	text_columns(t.c, out);
	text_explain(
		r, out,
		"span: what the timeline shows as one slice (MPI_Test ×N). inside: the "
		"polls themselves, which MPI and polling above count. %sbetween: the "
		"program's own code, and time off the CPU%s.",
		cost ? "probes: cost of tracing the polls (their number x calibrated cost), if "
		       "it lies between them. " :
		       "",
		cost ? "" : ", and probes, because their cost was not calibrated");
}

#undef ROW

/* ---- context switches ---- */

#define ROW struct switch_row
#define EVENTS .low = LOSS_OF_STATES | LOSS_DAMAGED | LOSS_MISSED, .wrong = LOSS_TASK

static const struct figure switch_figures[] = {
	{FIGURE_COUNT, "voluntary", "voluntary", AT(voluntary), EVENTS},
	{FIGURE_COUNT, "involuntary", "involuntary", AT(involuntary), EVENTS},
	{FIGURE_RATE, NULL, "per s", AT(switches), .low = LOSS_OF_STATES, .wrong = LOSS_OF_LIVES},
	{FIGURE_COUNT, "migrations", "migrations", AT(migrations), EVENTS},
	{FIGURE_COUNT, "wakeups", "wake-ups", AT(wakeups), EVENTS},
	{0},
};

const struct figure switches_object[] = {
	{FIGURE_TABLE, "switches", .sub = switch_figures, .known = FACT_SCHED},
	{0},
};

void text_switches(const struct report *r, FILE *out)
{
	uint32_t shown = text_rows_shown(r, r->nrows, PROCESSES_MANY), idx;
	struct figure_table t = {switch_figures, .facts = r->facts};

	if (!r->nrows)
		return;
	text_section(out, "Context switches");
	t.c = columns_new();
	text_process_columns(r, t.c, true);
	figures_columns(&t);
	for (uint32_t i = 0; i < shown; i++) {
		idx = r->row[i];
		text_process_cells(r, t.c, idx, true);
		figures_cells(&t, &r->time.process[idx].switches, r->time.process[idx].wall_ns,
			      r->lost[idx]);
	}
	if (r->nrows > 1) {
		columns_rule(t.c);
		text_process_sum(r, t.c, "all", true);
		figures_cells(&t, &r->sum.time.switches, r->sum.time.wall_ns, r->lost_shown);
	}
	text_columns(t.c, out);
	text_processes_note(r, out, shown);
	text_explain(
		r, out,
		"voluntary: to sleep. involuntary: preempted or yielded, hence runnable. per s: "
		"of wall time. migrations: to another CPU.");
}
