/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Shows which ranks came last to collective calls, and how long others waited
 * (analysis/arrivals.h).
 */
#include "lib/human.h"
#include "report/section.h"

#define ROW struct arrival_row
static const struct figure arrival_figures[] = {
	{FIGURE_COUNT, "calls", "calls", AT(calls), .low = LOSS_OF_CALLS},
	{FIGURE_COUNT, "last", "came last", AT(last), "%", OF(calls), .low = LOSS_OF_CALLS,
	 .share_wrong = LOSS_OF_CALLS},
	{FIGURE_NS, "waited_ns", "others waited", AT(waited_ns), .low = LOSS_OF_CALLS},
	{0},
};

static const struct arrival_row *arrivals_of(const struct report *r, uint32_t idx)
{
	static const struct arrival_row none;

	return idx < r->findings.arrivals.nprocess ? &r->findings.arrivals.process[idx] : &none;
}

void json_collectives(struct json_out *j, const struct report *r, uint32_t idx)
{
	const struct arrival_row *a = arrivals_of(r, idx);

	json_out_key_object(j, "collectives");
	figures_json(j, arrival_figures, a, r->facts);
	json_incomplete(j, r->lost[idx] & LOSS_OF_CALLS);
	json_out_object_end(j);
}

static void worst_cells(const struct report *r, struct columns *c, const struct arrival_row *a)
{
	char ns[HUMAN_BYTES];

	if (!a->waited_ns) {
		cell_empty(c);
		cell_empty(c);
		cell_empty(c);
		return;
	}
	columns_text(c, a->worst.func->name, 24);
	columns_cell(c, "%.3f s", (double)json_since_start(r, a->worst.begin_ns) / 1e9);
	columns_cell(c, "%s", human_ns(ns, sizeof(ns), a->worst.late_ns));
}

void text_collectives(const struct report *r, FILE *out)
{
	uint32_t shown = text_rows_shown(r, r->nrows, PROCESSES_MANY);
	struct figure_table t = {arrival_figures, columns_new(), .facts = r->facts};

	text_section(out, "Collective calls: who came last");
	text_process_columns(r, t.c, false);
	figures_columns(&t);
	columns_add(t.c, "most for", COLUMNS_LEFT);
	columns_add(t.c, "at", COLUMNS_RIGHT);
	columns_add(t.c, "behind the first", COLUMNS_RIGHT);
	for (uint32_t i = 0; i < shown; i++) {
		const struct arrival_row *a = arrivals_of(r, r->row[i]);

		text_process_cells(r, t.c, r->row[i], false);
		figures_cells(&t, a, 0, r->lost[r->row[i]]);
		worst_cells(r, t.c, a);
	}
	text_columns(t.c, out);
	text_processes_note(r, out, shown);
	text_explain(r, out,
		     "calls: collective calls that block and of which every member's was "
		     "recorded. others waited: of the members that were in the call, until this "
		     "rank called; where several were missing, shared among them.");
}
