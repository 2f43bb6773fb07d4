/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* The core's point of view: shows what each CPU ran, and on which CPUs ranks ran. */
#include <stdlib.h>

#include "analysis/find.h"
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
	uint32_t n = 0, used = 0, shown = 0, lost, lost_all = 0;
	char name[32];
	bool all;

	for (uint32_t cpu = 0; cpu < r->cores.ncore; cpu++) {
		n += r->cores.core[cpu].seen;
		used += ran_rank(r, cpu);
	}
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
	uint32_t used = 0, shown = 0, most;

	for (uint32_t cpu = 0; cpu < r->cores.ncore; cpu++)
		used += ran_rank(r, cpu);
	most = text_rows_shown(r, used, TAKERS_CORES_MANY);
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
	uint64_t sum = 0;

	for (uint32_t cpu = 0; cpu < r->cores.ncore; cpu++)
		sum += cores_share_ns(&r->cores, idx, cpu);
	return sum;
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

static int share_compare(const void *va, const void *vb)
{
	const struct cpu_share *a = va, *b = vb;

	return u64_compare(b->ns, a->ns) ?: u64_compare(a->cpu, b->cpu);
}

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
	uint32_t used = 0;

	for (uint32_t cpu = 0; cpu < r->cores.ncore; cpu++)
		used += ran_rank(r, cpu);
	if (!r->nranks || !used)
		return;
	text_section(out, "Ranks on cores (%% of each rank's running time)");
	if (used <= MATRIX_CPUS && r->nrows <= MATRIX_RANKS)
		matrix_print(r, out);
	else
		list_print(r, out);
}
