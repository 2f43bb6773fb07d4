/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Shows how often threads were switched, moved and woken. */
#include "report/section.h"

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
	uint32_t shown = text_rows_shown(r, r->nrows, PROCESSES_MANY), i, idx;
	struct figure_table t = {switch_figures, .facts = r->facts};

	if (!r->nrows)
		return;
	text_section(out, "Context switches");
	t.c = columns_new();
	text_process_columns(r, t.c, true);
	figures_columns(&t);
	for (i = 0; i < shown; i++) {
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
