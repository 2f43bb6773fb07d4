/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The core's point of view: shows what each CPU ran, on which CPUs ranks ran, and which threads had
 * the core while threads of ranks wanted it.
 */
#include <stdlib.h>

#include "analysis/find.h"
#include "lib/human.h"
#include "lib/log.h"
#include "lib/table.h"
#include "report/section.h"

#define CORES_MANY 64
#define MATRIX_CPUS 14 /* most columns that fit on a line */
#define MATRIX_RANKS 32
#define TAKERS 3
#define TAKERS_CORES_MANY 16
#define LIST_CPUS 8 /* most CPUs named for one rank */

#define ROW struct core_row
#define PART "%", FIGURE_WHOLE, .low = LOSS_OF_STATES, .wrong = LOSS_OF_LIVES

static const struct figure core_figures[] = {
	{FIGURE_TIME, "ranks_ns", "ranks", AT(rank_ns), PART},
	{FIGURE_TIME, "other_targets_ns", "targets", AT(target_ns), PART},
	{FIGURE_TIME, "other_tasks_ns", "others", AT(other_ns), PART},
	{FIGURE_TIME, "idle_ns", "idle", AT(idle_ns), PART},
	{FIGURE_TIME, "unknown_ns", "unknown", AT(unknown_ns), "%", FIGURE_WHOLE,
	 .wrong = LOSS_OF_LIVES},
	{FIGURE_COUNT, "switches", "switches", AT(switches),
	 .low = LOSS_OF_STATES | LOSS_DAMAGED | LOSS_MISSED},
	{0},
};

/* ---- JSON ---- */

void json_process_cores(struct json_out *j, const struct report *r, uint32_t idx)
{
	json_out_key_array(j, "cores");
	for (uint32_t cpu = 0; cpu < r->cores.ncore; cpu++) {
		if (!cores_share_ns(&r->cores, idx, cpu))
			continue;
		json_out_object_begin(j);
		json_out_key_uint(j, "cpu", cpu);
		json_out_key_uint(j, "running_ns", cores_share_ns(&r->cores, idx, cpu));
		json_out_object_end(j);
	}
	json_out_array_end(j);
}

void json_cores(struct json_out *j, const struct report *r)
{
	json_out_key_array(j, "cores");
	for (uint32_t cpu = 0; cpu < r->cores.ncore && r->facts & FACT_SCHED; cpu++) {
		if (!r->cores.core[cpu].seen)
			continue;
		json_out_object_begin(j);
		json_out_key_uint(j, "cpu", cpu);
		json_out_key_uint(j, "wall_ns", r->cores.wall_ns);
		figures_json(j, core_figures, &r->cores.core[cpu], r->facts);
		json_incomplete(j, losses_of_core(&r->losses, cpu));
		json_out_object_end(j);
	}
	json_out_array_end(j);
}

/* ---- what each core ran ---- */

static bool ran_rank(const struct report *r, uint32_t cpu)
{
	return r->cores.core[cpu].seen && r->cores.core[cpu].rank_ns;
}

static uint32_t cpus_of_ranks(const struct report *r)
{
	return table_sum(r->cores.ncore, cpu, ran_rank(r, cpu));
}

/* Adds a cell with the rank that ran longest on a CPU. */
static void busiest_cell(const struct report *r, struct columns *c, uint32_t cpu)
{
	uint64_t ns, best_ns = 0;
	uint32_t best = 0;

	for (uint32_t i = 0; i < r->nranks; i++) { /* ranks have the lowest indices */
		ns = cores_share_ns(&r->cores, i, cpu);
		if (ns > best_ns) {
			best_ns = ns;
			best = i;
		}
	}
	if (best_ns)
		columns_cell(c, "%s (%.1f%%)", RANK_LABEL(r, model_process_get(r->model, best)),
			     100.0 * (double)best_ns / (double)r->cores.wall_ns);
	else
		columns_cell(c, "-");
}

static void sum_row(const struct report *r, const struct figure_table *t, const char *name,
		    const struct core_row *sum, uint32_t n, uint32_t lost)
{
	columns_cell(t->c, "%s", name);
	figures_cells(t, sum, r->cores.wall_ns * n, lost);
	cell_empty(t->c);
}

/*
 * Adds rows for all CPUs. With many CPUs, shows only those that ran a rank, and at most opt->top of
 * many such CPUs.
 */
static void core_rows(const struct report *r, const struct figure_table *t)
{
	struct core_row sum = {0}, rest = {0};
	uint32_t n = table_sum(r->cores.ncore, cpu, r->cores.core[cpu].seen), shown = 0;
	uint32_t used = cpus_of_ranks(r), lost, lost_all = 0;
	char name[32];
	bool all;

	all = n <= CORES_MANY || !r->opt->top;
	for (uint32_t cpu = 0; cpu < r->cores.ncore; cpu++) {
		const struct core_row *k = &r->cores.core[cpu];

		if (!k->seen)
			continue;
		table_row_add(&sum, k, rank_ns);
		lost = losses_of_core(&r->losses, cpu);
		lost_all |= lost;
		if (!all && (!ran_rank(r, cpu) || (used > CORES_MANY && shown >= r->opt->top))) {
			table_row_add(&rest, k, rank_ns);
			continue;
		}
		shown++;
		columns_cell(t->c, "%s", CPU_LABEL(r, cpu));
		figures_cells(t, k, r->cores.wall_ns, lost);
		columns_mark(t->c, text_mark(lost, 0, LOSS_OF_STATES | LOSS_OF_LIVES));
		busiest_cell(r, t->c, cpu);
	}
	if (n > 1)
		columns_rule(t->c);
	snprintf(name, sizeof(name), "%u more", n - shown);
	if (n > shown)
		sum_row(r, t, name, &rest, n - shown, lost_all);
	if (n > 1)
		sum_row(r, t, "all", &sum, n, lost_all);
}

void text_cores(const struct report *r, FILE *out)
{
	struct figure_table t = {core_figures, columns_new(), text_unit_for(r->cores.wall_ns),
				 r->facts};

	text_section(out, "Cores: what they ran (%s, %% of the recording's wall time)",
		     t.unit.name);
	columns_add(t.c, "cpu", COLUMNS_RIGHT);
	figures_columns(&t);
	columns_add(t.c, "mostly rank", COLUMNS_LEFT);
	core_rows(r, &t);
	text_columns(t.c, out);
	text_explain(r, out,
		     "targets: recorded processes that are not ranks (launchers, helpers). "
		     "others: all other tasks. unknown: %s The five add up to the wall time.",
		     model_get_info(r->model)->sched_all ?
			     "before a CPU's first record, and where records were lost." :
			     "no record shows what ran: other tasks, or none (record --sched all "
			     "shows it).");
}

/* ---- who took most of each core ---- */

/* Finds up to TAKERS processes that ran longest on a CPU, longest first. Returns their number. */
static uint32_t takers_find(const struct report *r, uint32_t cpu, uint32_t taker[TAKERS])
{
	uint32_t n = 0, k;

	for (uint32_t i = 0; i < r->nprocesses; i++) {
		uint64_t ns = cores_share_ns(&r->cores, i, cpu);

		for (k = n; k && cores_share_ns(&r->cores, taker[k - 1], cpu) < ns; k--)
			if (k < TAKERS)
				taker[k] = taker[k - 1];
		if (!ns || k == TAKERS)
			continue;
		taker[k] = i;
		n += n < TAKERS;
	}
	return n;
}

static void takers_cell(const struct report *r, struct columns *c, uint32_t cpu)
{
	uint32_t taker[TAKERS], n = takers_find(r, cpu, taker);
	char *line = xstrdup("");

	for (uint32_t i = 0; i < n; i++) {
		const struct model_process *p = model_process_get(r->model, taker[i]);
		double pct = 100.0 * (double)cores_share_ns(&r->cores, taker[i], cpu) /
			     (double)r->cores.wall_ns;
		char *name = text_printable(p->name, 20);

		line = words(line, "%s", i ? ", " : "");
		line = p->is_rank ? words(line, "rank %s %.1f", RANK_LABEL(r, p), pct) :
				    words(line, "%s (pid %u) %.1f", name, p->host_pid, pct);
		free(name);
	}
	columns_take(c, line, 96);
}

void text_takers(const struct report *r, FILE *out)
{
	static const struct figure figures[] = {
		{FIGURE_TIME, .share = "ranks", AT(rank_ns), .of = FIGURE_WHOLE,
		 .low = LOSS_OF_STATES, .wrong = LOSS_OF_LIVES},
		{FIGURE_TIME, .share = "idle", AT(idle_ns), .of = FIGURE_WHOLE,
		 .low = LOSS_OF_STATES, .wrong = LOSS_OF_LIVES},
		{0},
	};
	struct figure_table t = {figures, columns_new(), .facts = r->facts};
	uint32_t used = cpus_of_ranks(r), shown = 0;
	uint32_t most = text_rows_shown(r, used, TAKERS_CORES_MANY);

	columns_add(t.c, "cpu", COLUMNS_RIGHT);
	figures_columns(&t);
	columns_add(t.c, "who took most", COLUMNS_LEFT);
	for (uint32_t cpu = 0; cpu < r->cores.ncore && shown < most; cpu++) {
		if (!ran_rank(r, cpu))
			continue;
		shown++;
		columns_cell(t.c, "%s", CPU_LABEL(r, cpu));
		figures_cells(&t, &r->cores.core[cpu], r->cores.wall_ns,
			      losses_of_core(&r->losses, cpu));
		takers_cell(r, t.c, cpu);
	}
	text_section(out, "Cores that ran ranks (%% of the recording's wall time)");
	text_columns(t.c, out);
	if (shown < used)
		text_note(out, "%u of %u shown; --top 0 shows all.", shown, used);
}

/* ---- ranks × cores ---- */

static uint64_t running_ns(const struct report *r, uint32_t idx)
{
	return table_sum(r->cores.ncore, cpu, cores_share_ns(&r->cores, idx, cpu));
}

static void matrix_row(const struct report *r, struct columns *c, uint32_t idx)
{
	const char *mark = text_mark(r->lost[idx], 0, LOSS_OF_STATES | LOSS_OF_LIVES);
	uint64_t whole = running_ns(r, idx), ns;

	text_rank_cell(r, c, model_process_get(r->model, idx));
	for (uint32_t cpu = 0; cpu < r->cores.ncore; cpu++) {
		if (!ran_rank(r, cpu))
			continue;
		ns = cores_share_ns(&r->cores, idx, cpu);
		columns_mark(c, mark);
		if (ns)
			cell_pct(c, ns, whole);
		else
			columns_cell(c, ".");
	}
}

static void matrix_print(const struct report *r, FILE *out)
{
	struct columns *c = columns_new();
	char name[CPU_LABEL_BYTES + 4];

	columns_add(c, "rank", COLUMNS_RIGHT);
	for (uint32_t cpu = 0; cpu < r->cores.ncore; cpu++) {
		snprintf(name, sizeof(name), "cpu%s", CPU_LABEL(r, cpu));
		if (ran_rank(r, cpu))
			columns_add(c, name, COLUMNS_RIGHT);
	}
	for (uint32_t i = 0; i < r->nrows; i++)
		matrix_row(r, c, r->row[i]);
	text_columns(c, out);
}

struct cpu_share {
	uint32_t cpu;
	uint64_t ns;
};

TABLE_ORDER(share_compare, struct cpu_share, u64_compare(b->ns, a->ns), u64_compare(a->cpu, b->cpu))

static void list_row(const struct report *r, struct columns *c, uint32_t idx)
{
	struct cpu_share *s = xcalloc(r->cores.ncore + 1, sizeof(*s));
	char text[(LIST_CPUS + 1) * (CPU_LABEL_BYTES + 32)], *p = text;
	const char *mark = text_mark(r->lost[idx], 0, LOSS_OF_STATES | LOSS_OF_LIVES);
	uint64_t whole = running_ns(r, idx);
	uint32_t n = 0;

	for (uint32_t cpu = 0; cpu < r->cores.ncore; cpu++) {
		s[n].cpu = cpu;
		s[n].ns = cores_share_ns(&r->cores, idx, cpu);
		n += s[n].ns != 0;
	}
	qsort(s, n, sizeof(*s), share_compare);
	*p = 0;
	for (uint32_t i = 0; i < n && i < LIST_CPUS; i++)
		p += sprintf(p, "%scpu%s %s%.1f", i ? ", " : "", CPU_LABEL(r, s[i].cpu),
			     mark ? mark : "", 100.0 * (double)s[i].ns / (double)whole);
	if (n > LIST_CPUS)
		sprintf(p, ", %u more", n - LIST_CPUS);
	text_rank_cell(r, c, model_process_get(r->model, idx));
	columns_cell(c, "%u", n);
	columns_cell(c, "%s", text);
	free(s);
}

static void list_print(const struct report *r, FILE *out)
{
	uint32_t shown = text_rows_shown(r, r->nrows, MATRIX_RANKS);
	struct columns *c = columns_new();

	columns_list(c, ">rank", ">cpus", "<where, % of its running time");
	for (uint32_t i = 0; i < shown; i++)
		list_row(r, c, r->row[i]);
	text_columns(c, out);
	text_shown_note(out, shown, r->nrows);
}

void text_matrix(const struct report *r, FILE *out)
{
	uint32_t used = cpus_of_ranks(r);

	if (!r->nranks || !used)
		return;
	text_section(out, "Ranks on cores (%% of each rank's running time)");
	if (used <= MATRIX_CPUS && r->nrows <= MATRIX_RANKS)
		matrix_print(r, out);
	else
		list_print(r, out);
}

/* ---- which threads had the core while threads of ranks wanted it ---- */

/* Hides threads that waited less than this many ns, or this part of their process's life. */
#define RUNNABLE_SHOWN_NS 1000000
#define RUNNABLE_SHOWN_PART 1000

/* One holder of a thread's core: a process, or a thread of the waiter's own process. */
struct held_by {
	const struct model_thread *thread; /* NULL: nobody, the core was idle */
	uint64_t ns;
};

static bool is_same(const struct model_thread *waiter, const struct model_thread *a,
		    const struct model_thread *b)
{
	return a == b || (a && b && a->proc == b->proc && a->proc != waiter->proc && !a->kthread);
}

/* Merges equal holders in place, longest first. Returns their number. */
static uint32_t held_sum(const struct model_thread *waiter, struct held_by *by, uint32_t n)
{
	uint32_t kept = 0, k;

	for (uint32_t i = 0; i < n; i++) {
		for (k = 0; k < kept && !is_same(waiter, by[k].thread, by[i].thread);)
			k++;
		if (k < kept)
			by[k].ns += by[i].ns;
		else
			by[kept++] = by[i];
	}
	for (uint32_t i = 1; i < kept; i++) {
		struct held_by moved = by[i];

		for (k = i; k && by[k - 1].ns < moved.ns; k--)
			by[k] = by[k - 1];
		by[k] = moved;
	}
	return kept;
}

/*
 * Lists the holders of one waiter, whose entries in r->findings.held begin at `at`. *n: number of
 * these entries; *kept: number of holders. Caller frees.
 */
static struct held_by *held_of(const struct report *r, uint32_t at, uint32_t *n, uint32_t *kept)
{
	const struct holder *list = r->findings.held;
	const struct model_thread *waiter = model_thread_get(r->model, r->findings.held[at].waiter);
	struct held_by *by;

	*n = 0;
	while (at + *n < r->findings.nheld && list[at + *n].waiter == r->findings.held[at].waiter)
		(*n)++;
	by = xmalloc((*n + 1) * sizeof(*by)); /* one more for idle_add */
	for (uint32_t i = 0; i < *n; i++)
		by[i] = (struct held_by){model_thread_get(r->model, list[at + i].thread),
					 list[at + i].ns};
	*kept = held_sum(waiter, by, *n);
	return by;
}

/* ---- text ---- */

/* Inserts the time in which nobody had the core. The list must have room for one more. */
static uint32_t idle_add(const struct model_thread *waiter, struct held_by *by, uint32_t n,
			 uint64_t idle_ns)
{
	if (!idle_ns)
		return n;
	by[n] = (struct held_by){NULL, idle_ns};
	return held_sum(waiter, by, n + 1);
}

static char *holder_text(const struct report *r, const struct model_thread *waiter,
			 const struct held_by *by)
{
	const struct model_process *p = by->thread ? by->thread->proc : NULL;
	char ns[HUMAN_BYTES], *name, *text;
	bool own = p == waiter->proc;

	human_ns(ns, sizeof(ns), by->ns);
	if (!p)
		return xasprintf("nobody %s", ns);
	name = text_printable(own || by->thread->kthread ? by->thread->comm : p->name, 16);
	if (own)
		text = xasprintf("its thread %s (%u) %s", name, by->thread->tid, ns);
	else if (p->is_rank)
		text = xasprintf("rank %s %s", RANK_LABEL(r, p), ns);
	else if (by->thread->kthread)
		text = xasprintf("%s %s", name, ns);
	else
		text = xasprintf("%s (pid %u) %s", name, p->host_pid, ns);
	free(name);
	return text;
}

struct holders_limit {
	uint32_t most;	   /* most holders named */
	uint64_t least_ns; /* names no holder below this */
	unsigned int chars;
};

static void holders_cell(const struct report *r, struct columns *c,
			 const struct model_thread *waiter, const struct held_by *by, uint32_t n,
			 struct holders_limit limit)
{
	char *line = xstrdup(""), *one;

	for (uint32_t i = 0; i < n && i < limit.most && by[i].ns >= limit.least_ns; i++) {
		one = holder_text(r, waiter, &by[i]);
		line = words(line, "%s%s", i ? ", " : "", one);
		free(one);
	}
	columns_take(c, line, limit.chars);
}

void text_who_had_core(const struct report *r, struct columns *c, const struct model_thread *t,
		       uint64_t least_ns, unsigned int chars)
{
	const struct findings *f = &r->findings;
	struct held_by *by = xmalloc((f->ncontest + 1) * sizeof(*by));
	uint64_t left_ns = f->app.thread[t->idx].no_core_ns;
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->ncontest; i++) {
		if (f->contest[i].waiter != t)
			continue;
		by[n++] = (struct held_by){f->contest[i].holder, f->contest[i].ns};
		left_ns -= f->contest[i].ns < left_ns ? f->contest[i].ns : left_ns;
	}
	n = held_sum(t, by, n);
	if (t->idx >= f->holders.nthread || !f->holders.thread[t->idx].unknown_ns)
		n = idle_add(t, by, n, left_ns);
	holders_cell(r, c, t, by, n, (struct holders_limit){2, least_ns, chars});
	free(by);
}

static bool is_shown(const struct report *r, const struct model_thread *t)
{
	const struct holders_row *row = &r->findings.holders.thread[t->idx];
	uint64_t life_ns = t->proc->end_ns - t->proc->start_ns;

	return r->chosen[t->proc->idx] && row->runnable_ns >= RUNNABLE_SHOWN_NS &&
	       row->runnable_ns >= life_ns / RUNNABLE_SHOWN_PART;
}

void text_holders(const struct report *r, FILE *out)
{
	uint32_t n, kept, shown = 0;
	struct columns *c = columns_new();

	columns_list(c, ">rank", "<thread", ">tid", ">without");
	columns_add(c, "%", COLUMNS_TIGHT);
	columns_add(c, "meanwhile on its core", COLUMNS_LEFT);
	for (uint32_t at = 0; at < r->findings.nheld; at += n) {
		const struct model_thread *t = model_thread_get(r->model,
								r->findings.held[at].waiter);
		uint64_t life_ns = t->proc->end_ns - t->proc->start_ns;
		struct held_by *by = held_of(r, at, &n, &kept);

		if (is_shown(r, t) && ++shown) {
			uint64_t waited_ns = r->findings.holders.thread[t->idx].runnable_ns;

			kept = idle_add(t, by, kept, r->findings.holders.thread[t->idx].idle_ns);
			text_rank_cell(r, c, t->proc);
			columns_text(c, t->comm, 16);
			columns_cell(c, "%u", t->tid);
			columns_cell(c, "%s", NS_TEXT(waited_ns));
			columns_cell(c, "%.1f",
				     life_ns ? 100.0 * (double)waited_ns / (double)life_ns : 0);
			holders_cell(r, c, t, by, kept, (struct holders_limit){3, 0, 80});
		}
		free(by);
	}
	if (!shown) {
		columns_free(c);
		return;
	}
	text_section(out, "Threads that wanted a core and had none, and who had it");
	text_columns(c, out);
	text_explain(r, out,
		     "without: the thread wanted a core and had none; %% is of the process's "
		     "life. Threads with less than 1 ms or 0.1 %% are left out. The last "
		     "column names processes that held the core longest, and threads of the "
		     "same process (--json has all).");
}

/* ---- JSON ---- */

static void json_holder(struct json_out *j, const struct held_by *by)
{
	const struct model_process *p = by->thread->proc;

	json_out_object_begin(j);
	json_out_key_uint(j, "pid", p->host_pid);
	json_out_key_string(j, "process", p->name);
	json_rank(j, p);
	json_out_key_uint(j, "tid", by->thread->tid);
	json_out_key_string(j, "thread", by->thread->comm);
	json_out_key_uint(j, "held_ns", by->ns);
	json_out_object_end(j);
}

void json_holders(struct json_out *j, const struct report *r, uint32_t process)
{
	uint32_t n, kept;

	json_out_key_array(j, "without_core");
	for (uint32_t at = 0; at < r->findings.nheld; at += n) {
		const struct model_thread *t = model_thread_get(r->model,
								r->findings.held[at].waiter);
		struct held_by *by = held_of(r, at, &n, &kept);
		const struct holders_row *row = &r->findings.holders.thread[t->idx];

		if (t->proc->idx == process) {
			json_out_object_begin(j);
			json_out_key_uint(j, "tid", t->tid);
			json_out_key_string(j, "thread", t->comm);
			json_out_key_uint(j, "runnable_ns", row->runnable_ns);
			json_out_key_uint(j, "idle_ns", row->idle_ns);
			json_out_key_uint(j, "unknown_ns", row->unknown_ns);
			json_out_key_array(j, "held_by");
			for (uint32_t i = 0; i < kept; i++)
				json_holder(j, &by[i]);
			json_out_array_end(j);
			json_out_object_end(j);
		}
		free(by);
	}
	json_out_array_end(j);
}
