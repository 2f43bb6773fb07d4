/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The rank's point of view: where its threads' time went, and how often they were switched.
 */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "report/text_priv.h"

#define RANKS_MANY 32 /* more are summed up, and the most telling shown */
#define THREADS_MANY 200

/* ---- cells of a row ---- */

struct layout {
	struct text_unit unit;
	bool sched, unknown;
	bool threads;	/* rows are threads, not processes */
	uint32_t wrong; /* losses after which states may be wrong in either direction */
};

static struct layout layout_for(const struct report *r)
{
	struct layout l = {.sched = model_get_info(r->model)->sched_recorded};
	uint64_t max_ns = 0;
	uint32_t i;

	for (i = 0; i < r->nrows; i++) {
		const struct time_row *t = &r->time.process[r->row[i]];

		max_ns = t->wall_ns > max_ns ? t->wall_ns : max_ns;
		l.unknown |= t->times.ns[THREAD_UNKNOWN] != 0;
	}
	l.unit = text_unit_for(max_ns);
	l.wrong = LOSS_OF_LIVES |
		  (model_get_stats(r->model)->sched_gaps_late ? (uint32_t)LOSS_SCHED : 0);
	return l;
}

static void share_column(struct columns *c, const char *name)
{
	columns_add(c, name, COLUMNS_RIGHT);
	columns_add(c, "%", COLUMNS_TIGHT);
}

static void time_columns(struct columns *c, const struct layout *l)
{
	columns_add(c, "wall", COLUMNS_RIGHT);
	if (!l->threads)
		columns_add(c, "thr time", COLUMNS_RIGHT);
	if (l->sched) {
		share_column(c, "running");
		share_column(c, "runnable");
		share_column(c, "blocked");
		if (l->unknown)
			columns_add(c, "unkn%", COLUMNS_RIGHT);
	}
	columns_add(c, "MPI", COLUMNS_RIGHT);
	columns_add(c, "%wall", COLUMNS_TIGHT);
	if (l->sched) {
		columns_add(c, "polling", COLUMNS_RIGHT);
		columns_add(c, "%wall", COLUMNS_TIGHT);
	}
}

static void share_cells(struct columns *c, uint64_t part, uint64_t whole, const char *mark,
			const struct layout *l)
{
	columns_mark(c, mark);
	cell_time(c, part, l->unit);
	columns_mark(c, mark);
	cell_pct(c, part, whole);
}

static void state_cells(struct columns *c, const struct time_row *t, uint32_t lost,
			const struct layout *l)
{
	const char *mark = text_mark(lost, LOSS_OF_STATES, l->wrong);

	share_cells(c, t->times.ns[THREAD_RUNNING], t->thread_ns, mark, l);
	share_cells(c, t->times.ns[THREAD_RUNNABLE], t->thread_ns, mark, l);
	share_cells(c, t->times.ns[THREAD_BLOCKED], t->thread_ns, mark, l);
	columns_mark(c, text_mark(lost, 0, l->wrong));
	if (l->unknown)
		cell_pct(c, t->times.ns[THREAD_UNKNOWN], t->thread_ns);
	columns_mark(c, NULL);
}

/* lost: what is missing of them. */
static void time_cells(struct columns *c, const struct time_row *t, uint32_t lost,
		       const struct layout *l)
{
	const char *life = text_mark(lost, 0, LOSS_OF_LIVES);

	columns_mark(c, life);
	cell_time(c, t->wall_ns, l->unit);
	columns_mark(c, life);
	if (!l->threads)
		cell_time(c, t->thread_ns, l->unit);
	if (l->sched)
		state_cells(c, t, lost, l);
	columns_mark(c, text_mark(lost, LOSS_OF_CALLS, 0));
	cell_time(c, t->call_ns + t->spin_ns, l->unit);
	columns_mark(c, text_mark(lost, LOSS_OF_CALLS, LOSS_OF_LIVES));
	cell_pct(c, t->call_ns + t->spin_ns, t->walls_ns);
	if (l->sched)
		share_cells(c, t->polling_ns, t->walls_ns,
			    text_mark(lost, LOSS_OF_CALLS | LOSS_OF_STATES, l->wrong), l);
}

/* ---- all ranks, when there are many ---- */

/* The members of struct time_row that the columns show. */
static const size_t shown_members[] = {
	offsetof(struct time_row, wall_ns),
	offsetof(struct time_row, thread_ns),
	offsetof(struct time_row, times.ns[THREAD_RUNNING]),
	offsetof(struct time_row, times.ns[THREAD_RUNNABLE]),
	offsetof(struct time_row, times.ns[THREAD_BLOCKED]),
	offsetof(struct time_row, times.ns[THREAD_UNKNOWN]),
	offsetof(struct time_row, call_ns), /* together with spin_ns */
	offsetof(struct time_row, polling_ns),
};

static uint64_t *member(struct time_row *t, size_t offset)
{
	return (uint64_t *)((char *)t + offset);
}

static int u64_compare(const void *va, const void *vb)
{
	uint64_t a = *(const uint64_t *)va, b = *(const uint64_t *)vb;

	return a < b ? -1 : a > b;
}

/* For each column by itself the value that pct percent of the ranks do not exceed: the row is no rank's. */
static void across_row(const struct report *r, struct columns *c, const char *name,
		       unsigned int pct, const struct layout *l)
{
	uint64_t *v = xcalloc(r->nrows, sizeof(*v));
	struct time_row across = {0}, one;
	uint32_t i;
	size_t k;

	for (k = 0; k < sizeof(shown_members) / sizeof(shown_members[0]); k++) {
		for (i = 0; i < r->nrows; i++) {
			one = r->time.process[r->row[i]];
			one.call_ns += one.spin_ns;
			v[i] = *member(&one, shown_members[k]);
		}
		qsort(v, r->nrows, sizeof(*v), u64_compare);
		*member(&across, shown_members[k]) = v[(uint64_t)(r->nrows - 1) * pct / 100];
	}
	free(v);
	across.walls_ns = across.wall_ns;
	columns_cell(c, "%s", name);
	cell_empty(c);
	if (!r->nranks)
		cell_empty(c);
	cell_empty(c);
	time_cells(c, &across, r->lost_shown, l);
}

static void total_row(const struct report *r, struct columns *c, const struct layout *l)
{
	struct time_row sum = {0};
	uint32_t i;

	for (i = 0; i < r->nrows; i++)
		time_row_add(&sum, &r->time.process[r->row[i]]);
	columns_cell(c, "all");
	cell_empty(c);
	if (!r->nranks)
		cell_empty(c);
	columns_mark(c, text_mark(r->lost_shown, 0, LOSS_OF_LIVES));
	columns_cell(c, "%u", sum.threads);
	time_cells(c, &sum, r->lost_shown, l);
}

/* ---- tables ---- */

static void process_columns(const struct report *r, struct columns *c, bool pid)
{
	columns_add(c, "rank", COLUMNS_RIGHT);
	if (model_get_info(r->model)->nhosts > 1)
		columns_add(c, "host", COLUMNS_LEFT);
	columns_add(c, "process", COLUMNS_LEFT);
	if (pid)
		columns_add(c, "pid", COLUMNS_RIGHT);
}

static void process_cells(const struct report *r, struct columns *c, uint32_t idx, bool pid)
{
	const struct model_process *p = model_process_get(r->model, idx);
	char label[REPORT_LABEL_BYTES];

	columns_cell(c, "%s", report_label(r, p, label));
	if (model_get_info(r->model)->nhosts > 1)
		columns_text(c, model_host_get(r->model, p->host_idx)->label, 16);
	columns_text(c, p->name, 14);
	if (pid)
		columns_cell(c, "%u", p->host_pid);
}

static void rank_notes(const struct report *r, FILE *out, const struct layout *l)
{
	text_note(
		out,
		"wall: the process's life within the recording. thr time: its threads' lives added up%s.",
		l->sched ? ", which the next columns split; % is of that" : "");
	if (l->sched)
		text_note(
			out,
			"running: on a CPU. runnable: wanted one (woken or preempted) and had none. "
			"blocked: slept.%s",
			l->unknown ?
				" unkn: not known, before a thread's first record, and where scheduler "
				"records are missing." :
				"");
	text_note(
		out,
		"MPI: in outermost MPI calls, merged polls by their own durations.%s %%wall: above 100 if "
		"several threads were in MPI at once.",
		l->sched ?
			" polling: running inside a call that waits, or inside a poll that found nothing." :
			"");
	if (r->nrows > RANKS_MANY)
		text_note(out, "min, med, max: of each column by itself.");
}

static void shown_note(const struct report *r, FILE *out, uint32_t shown)
{
	static const char *const by[] = {
		"the first by rank",  "those running most",   "those runnable most",
		"those blocked most", "those longest in MPI", "those polling most",
	};

	if (shown < r->nrows)
		text_note(
			out,
			"%u of %u shown, %s; --rank LIST chooses, --sort orders, --top 0 shows all.",
			shown, r->nrows, by[r->opt->sort]);
}

void text_ranks(const struct report *r, FILE *out)
{
	uint32_t shown = text_rows_shown(r, r->nrows, RANKS_MANY), i;
	struct layout l = layout_for(r);
	struct columns *c;

	if (!r->nrows)
		return;
	text_section(out, "%s: where the threads' time went (%s)",
		     r->nranks ? "Ranks" : "Recorded processes", l.unit.name);
	c = columns_new();
	process_columns(r, c, !r->nranks); /* a rank's pid is told with its switches */
	columns_add(c, "thr", COLUMNS_RIGHT);
	time_columns(c, &l);
	for (i = 0; i < shown; i++) {
		process_cells(r, c, r->row[i], !r->nranks);
		columns_mark(c, text_mark(r->lost[r->row[i]], 0, LOSS_OF_LIVES));
		columns_cell(c, "%u", r->time.process[r->row[i]].threads);
		time_cells(c, &r->time.process[r->row[i]], r->lost[r->row[i]], &l);
	}
	if (r->nrows > 1)
		columns_rule(c);
	if (r->nrows > RANKS_MANY) {
		across_row(r, c, "min", 0, &l);
		across_row(r, c, "med", 50, &l);
		across_row(r, c, "max", 100, &l);
	}
	if (r->nrows > 1)
		total_row(r, c, &l);
	columns_print(c, out, "  ");
	columns_free(c);
	shown_note(r, out, shown);
	rank_notes(r, out, &l);
}

static void thread_row(const struct report *r, struct columns *c, const struct model_thread *t,
		       const struct layout *l)
{
	const struct time_row *row = &r->time.thread[t->idx];
	uint32_t lost = r->lost[t->proc->sort_order];
	char label[REPORT_LABEL_BYTES];

	columns_cell(c, "%s", report_label(r, t->proc, label));
	columns_text(c, t->comm, 15);
	columns_cell(c, "%u", t->tid);
	columns_mark(c, text_mark(lost, LOSS_OF_CALLS, 0));
	cell_count(c, row->calls + row->polls);
	time_cells(c, row, lost, l);
}

static int thread_compare(const void *va, const void *vb)
{
	const struct model_thread *a = *(const struct model_thread *const *)va;
	const struct model_thread *b = *(const struct model_thread *const *)vb;

	if (a->proc != b->proc)
		return a->proc->sort_order < b->proc->sort_order ? -1 : 1;
	return a->idx < b->idx ? -1 : 1;
}

void text_threads(const struct report *r, FILE *out)
{
	uint32_t i, n = 0, total = model_thread_count(r->model), shown;
	const struct model_thread **list = xcalloc(total + 1, sizeof(const struct model_thread *));
	struct layout l = layout_for(r);
	struct columns *c = columns_new();

	for (i = 0; i < total; i++) {
		list[n] = model_thread_get(r->model, i);
		n += r->chosen[list[n]->proc->sort_order];
	}
	qsort(list, n, sizeof(const struct model_thread *), thread_compare);
	shown = r->opt->top && n > THREADS_MANY ? THREADS_MANY : n;
	l.threads = true;
	text_section(out, "Threads (%s)", l.unit.name);
	columns_add(c, "rank", COLUMNS_RIGHT);
	columns_add(c, "thread", COLUMNS_LEFT);
	columns_add(c, "tid", COLUMNS_RIGHT);
	columns_add(c, "calls", COLUMNS_RIGHT);
	time_columns(c, &l);
	for (i = 0; i < shown; i++)
		thread_row(r, c, list[i], &l);
	columns_print(c, out, "  ");
	columns_free(c);
	free(list);
	if (shown < n)
		text_note(out, "%u of %u shown; --rank LIST chooses, --top 0 shows all.", shown, n);
	text_note(out, "calls: outermost ones, merged polls included.");
}

/* ---- switches ---- */

static void switch_cells(struct columns *c, const struct switch_row *s, uint64_t wall_ns,
			 uint32_t lost)
{
	const char *mark = text_mark(lost, LOSS_OF_STATES | LOSS_DAMAGED | LOSS_MISSED, LOSS_TASK);

	columns_mark(c, mark);
	cell_count(c, s->voluntary);
	columns_mark(c, mark);
	cell_count(c, s->involuntary);
	columns_mark(c, text_mark(lost, LOSS_OF_STATES, LOSS_OF_LIVES));
	if (wall_ns)
		columns_cell(c, "%.1f",
			     (double)(s->voluntary + s->involuntary) * 1e9 / (double)wall_ns);
	else
		columns_cell(c, "-");
	columns_mark(c, mark);
	cell_count(c, s->migrations);
	columns_mark(c, mark);
	cell_count(c, s->wakeups);
}

static void switch_add(struct switch_row *to, const struct switch_row *from)
{
	to->voluntary += from->voluntary;
	to->involuntary += from->involuntary;
	to->migrations += from->migrations;
	to->wakeups += from->wakeups;
}

void text_switches(const struct report *r, FILE *out)
{
	static const char *const names[] = {"voluntary", "involuntary", "per s", "migrations",
					    "wake-ups"};
	uint32_t shown = text_rows_shown(r, r->nrows, RANKS_MANY), i;
	struct switch_row sum = {0};
	uint64_t longest_ns = 0;
	struct columns *c;

	if (!r->nrows)
		return;
	text_section(out, "Context switches");
	c = columns_new();
	process_columns(r, c, true);
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		columns_add(c, names[i], COLUMNS_RIGHT);
	for (i = 0; i < r->nrows; i++) {
		uint64_t wall_ns = r->time.process[r->row[i]].wall_ns;

		switch_add(&sum, &r->switches.process[r->row[i]]);
		longest_ns = wall_ns > longest_ns ? wall_ns : longest_ns;
		if (i >= shown)
			continue;
		process_cells(r, c, r->row[i], true);
		switch_cells(c, &r->switches.process[r->row[i]], wall_ns, r->lost[r->row[i]]);
	}
	if (r->nrows > 1) {
		columns_rule(c);
		columns_cell(c, "all");
		cell_empty(c);
		cell_empty(c);
		switch_cells(c, &sum, longest_ns, r->lost_shown);
	}
	columns_print(c, out, "  ");
	columns_free(c);
	shown_note(r, out, shown);
	text_note(
		out,
		"voluntary: to sleep. involuntary: preempted or yielded, hence runnable. per s: of wall time. "
		"migrations: to another CPU.");
}
