/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The core's point of view: what each CPU ran, and which ranks ran where.
 */
#include <stdlib.h>

#include "base/log.h"
#include "report/text_priv.h"

#define CORES_MANY 64
#define MATRIX_CPUS 14 /* more columns do not fit */
#define MATRIX_RANKS 32
#define LIST_CPUS 8 /* CPUs named for one rank */

static bool ran_rank(const struct report *r, uint32_t cpu)
{
	return r->cores.core[cpu].seen && r->cores.core[cpu].rank_ns;
}

static void share_cells(struct columns *c, uint64_t part, uint64_t whole, const char *mark,
			struct text_unit u)
{
	columns_mark(c, mark);
	cell_time(c, part, u);
	columns_mark(c, mark);
	cell_pct(c, part, whole);
}

/* The rank that ran longest on a CPU. */
static void busiest_cell(const struct report *r, struct columns *c, uint32_t cpu)
{
	char label[REPORT_LABEL_BYTES];
	uint64_t ns, best_ns = 0;
	uint32_t i, best = 0;

	for (i = 0; i < r->nranks; i++) { /* ranks come first */
		ns = cores_share_ns(&r->cores, i, cpu);
		if (ns > best_ns) {
			best_ns = ns;
			best = i;
		}
	}
	if (best_ns)
		columns_cell(c, "%s (%.1f%%)",
			     report_label(r, model_process_get(r->model, best), label),
			     100.0 * (double)best_ns / (double)r->cores.wall_ns);
	else
		columns_cell(c, "-");
}

static void core_columns(struct columns *c)
{
	static const char *const parts[] = {"ranks", "targets", "others", "idle", "unknown"};
	size_t i;

	columns_add(c, "cpu", COLUMNS_RIGHT);
	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		columns_add(c, parts[i], COLUMNS_RIGHT);
		columns_add(c, "%", COLUMNS_TIGHT);
	}
	columns_add(c, "switches", COLUMNS_RIGHT);
	columns_add(c, "mostly rank", COLUMNS_LEFT);
}

static void core_cells(struct columns *c, const struct core_row *k, uint64_t wall_ns, uint32_t lost,
		       struct text_unit u)
{
	const char *mark = text_mark(lost, LOSS_OF_STATES, LOSS_OF_LIVES);

	share_cells(c, k->rank_ns, wall_ns, mark, u);
	share_cells(c, k->target_ns, wall_ns, mark, u);
	share_cells(c, k->other_ns, wall_ns, mark, u);
	share_cells(c, k->idle_ns, wall_ns, mark, u);
	share_cells(c, k->unknown_ns, wall_ns, text_mark(lost, 0, LOSS_OF_LIVES), u);
	columns_mark(c, text_mark(lost, LOSS_OF_STATES | LOSS_DAMAGED | LOSS_MISSED, 0));
	cell_count(c, k->switches);
}

static void core_add(struct core_row *to, const struct core_row *from)
{
	to->rank_ns += from->rank_ns;
	to->target_ns += from->target_ns;
	to->other_ns += from->other_ns;
	to->idle_ns += from->idle_ns;
	to->unknown_ns += from->unknown_ns;
	to->switches += from->switches;
}

static void sum_row(struct columns *c, const char *name, const struct core_row *sum,
		    uint64_t wall_ns, uint32_t lost, struct text_unit u)
{
	columns_cell(c, "%s", name);
	core_cells(c, sum, wall_ns, lost, u);
	cell_empty(c);
}

/* All CPUs, or of many those that ran a rank, and of many of these the first ones. */
static void cores_table(const struct report *r, struct columns *c, struct text_unit u)
{
	struct core_row sum = {0}, rest = {0};
	uint32_t cpu, n = 0, used = 0, shown = 0, lost, lost_all = 0;
	char name[32], label[REPORT_CPU_BYTES];
	bool all;

	for (cpu = 0; cpu < r->cores.ncore; cpu++) {
		n += r->cores.core[cpu].seen;
		used += ran_rank(r, cpu);
	}
	all = n <= CORES_MANY || !r->opt->top;
	for (cpu = 0; cpu < r->cores.ncore; cpu++) {
		const struct core_row *k = &r->cores.core[cpu];

		if (!k->seen)
			continue;
		core_add(&sum, k);
		lost = losses_of_core(&r->losses, cpu);
		lost_all |= lost;
		if (!all && (!ran_rank(r, cpu) || (used > CORES_MANY && shown >= r->opt->top))) {
			core_add(&rest, k);
			continue;
		}
		shown++;
		columns_cell(c, "%s", report_cpu_label(r, cpu, label));
		core_cells(c, k, r->cores.wall_ns, lost, u);
		columns_mark(c, text_mark(lost, 0, LOSS_OF_STATES | LOSS_OF_LIVES));
		busiest_cell(r, c, cpu);
	}
	if (n > 1)
		columns_rule(c);
	snprintf(name, sizeof(name), "%u more", n - shown);
	if (n > shown)
		sum_row(c, name, &rest, r->cores.wall_ns * (n - shown), lost_all, u);
	if (n > 1)
		sum_row(c, "all", &sum, r->cores.wall_ns * n, lost_all, u);
}

void text_cores(const struct report *r, FILE *out)
{
	struct text_unit u = text_unit_for(r->cores.wall_ns);
	struct columns *c = columns_new();

	text_section(out, "Cores: what they ran (%s, %% of the recording's wall time)", u.name);
	core_columns(c);
	cores_table(r, c, u);
	columns_print(c, out, "  ");
	columns_free(c);
	text_note(
		out,
		"targets: recorded processes that are no rank (launchers, helpers). others: all other tasks. "
		"unknown: %s The five add up to the wall time.",
		model_get_info(r->model)->sched_all ?
			"before a CPU's first record, and where records were lost." :
			"nothing recorded says what ran: other tasks, or none (--sched all would).");
}

/* ---- ranks × cores ---- */

static uint64_t running_ns(const struct report *r, uint32_t idx)
{
	uint64_t sum = 0;
	uint32_t cpu;

	for (cpu = 0; cpu < r->cores.ncore; cpu++)
		sum += cores_share_ns(&r->cores, idx, cpu);
	return sum;
}

static void matrix_row(const struct report *r, struct columns *c, uint32_t idx)
{
	const char *mark = text_mark(r->lost[idx], 0, LOSS_OF_STATES | LOSS_OF_LIVES);
	uint64_t whole = running_ns(r, idx), ns;
	char label[REPORT_LABEL_BYTES];
	uint32_t cpu;

	columns_cell(c, "%s", report_label(r, model_process_get(r->model, idx), label));
	for (cpu = 0; cpu < r->cores.ncore; cpu++) {
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
	char name[REPORT_CPU_BYTES + 4], label[REPORT_CPU_BYTES];
	uint32_t cpu, i;

	columns_add(c, "rank", COLUMNS_RIGHT);
	for (cpu = 0; cpu < r->cores.ncore; cpu++) {
		snprintf(name, sizeof(name), "cpu%s", report_cpu_label(r, cpu, label));
		if (ran_rank(r, cpu))
			columns_add(c, name, COLUMNS_RIGHT);
	}
	for (i = 0; i < r->nrows; i++)
		matrix_row(r, c, r->row[i]);
	columns_print(c, out, "  ");
	columns_free(c);
}

struct cpu_share {
	uint32_t cpu;
	uint64_t ns;
};

static int share_compare(const void *va, const void *vb)
{
	const struct cpu_share *a = va, *b = vb;

	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	return a->cpu < b->cpu ? -1 : 1;
}

static void list_row(const struct report *r, struct columns *c, uint32_t idx)
{
	struct cpu_share *s = xcalloc(r->cores.ncore + 1, sizeof(*s));
	char label[REPORT_LABEL_BYTES], cpu_label[REPORT_CPU_BYTES];
	char text[(LIST_CPUS + 1) * (REPORT_CPU_BYTES + 32)], *p = text;
	const char *mark = text_mark(r->lost[idx], 0, LOSS_OF_STATES | LOSS_OF_LIVES);
	uint64_t whole = running_ns(r, idx);
	uint32_t cpu, n = 0, i;

	for (cpu = 0; cpu < r->cores.ncore; cpu++) {
		s[n].cpu = cpu;
		s[n].ns = cores_share_ns(&r->cores, idx, cpu);
		n += s[n].ns != 0;
	}
	qsort(s, n, sizeof(*s), share_compare);
	*p = 0;
	for (i = 0; i < n && i < LIST_CPUS; i++)
		p += sprintf(p, "%scpu%s %s%.1f", i ? ", " : "",
			     report_cpu_label(r, s[i].cpu, cpu_label), mark ? mark : "",
			     100.0 * (double)s[i].ns / (double)whole);
	if (n > LIST_CPUS)
		sprintf(p, ", %u more", n - LIST_CPUS);
	columns_cell(c, "%s", report_label(r, model_process_get(r->model, idx), label));
	columns_cell(c, "%u", n);
	columns_cell(c, "%s", text);
	free(s);
}

static void list_print(const struct report *r, FILE *out)
{
	uint32_t shown = text_rows_shown(r, r->nrows, MATRIX_RANKS), i;
	struct columns *c = columns_new();

	columns_add(c, "rank", COLUMNS_RIGHT);
	columns_add(c, "cpus", COLUMNS_RIGHT);
	columns_add(c, "where, % of its running time", COLUMNS_LEFT);
	for (i = 0; i < shown; i++)
		list_row(r, c, r->row[i]);
	columns_print(c, out, "  ");
	columns_free(c);
	if (shown < r->nrows)
		text_note(out, "%u of %u shown; --rank LIST chooses, --top 0 shows all.", shown,
			  r->nrows);
}

void text_matrix(const struct report *r, FILE *out)
{
	uint32_t cpu, used = 0;

	for (cpu = 0; cpu < r->cores.ncore; cpu++)
		used += ran_rank(r, cpu);
	if (!r->nranks || !used)
		return;
	text_section(out, "Ranks on cores (%% of each rank's running time)");
	if (used <= MATRIX_CPUS && r->nrows <= MATRIX_RANKS)
		matrix_print(r, out);
	else
		list_print(r, out);
}
