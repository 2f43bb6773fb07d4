/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Shows the functions that were called and how long they took, and which ranks came last to
 * collective calls and how long others waited (analysis/arrivals.h).
 */
#include <stdlib.h>

#include "lib/human.h"
#include "lib/log.h"
#include "lib/table.h"
#include "report/section.h"

/* ---- functions ---- */

#define ROW struct function_row
#define CALLS .low = LOSS_OF_CALLS & ~LOSS_COUNTED /* counted calls are included */
#define SINGLE .low = LOSS_OF_CALLS
#define MEANS .wrong = LOSS_OF_CALLS
#define SIZES .wrong = (LOSS_OF_BYTES & ~LOSS_COUNTED) | LOSS_COUNTED_BYTES

static const struct figure function_figures[] = {
	{FIGURE_COUNT, "calls", "calls", AT(calls), CALLS},
	{FIGURE_COUNT, "empty_polls", "polls", AT(polls), CALLS, .no_zero = true},
	{FIGURE_COUNT, "counted", "counted", AT(counted), CALLS, .no_zero = true,
	 .shown = FACT_COUNTED},
	{FIGURE_COUNT, "open", AT(open)},
	{FIGURE_COUNT, "unwound", AT(unwound)},
	{FIGURE_COUNT, "end_only", AT(end_only)},
	{FIGURE_COUNT, "errors", AT(errors)},
	{FIGURE_NS, "total_ns", "total", AT(total_ns), "%wall", FIGURE_WHOLE, CALLS,
	 .share_wrong = LOSS_OF_LIVES, .no_zero = true},
	{FIGURE_NS, "unfinished_ns", AT(unfinished_ns)},
	{FIGURE_TABLE, "split", AT(split), .sub = split_figures},
	{FIGURE_NS, "interrupted_ns", "interrupted", AT(interrupted_ns), .known = FACT_INTERRUPTS,
	 .shown = FACT_INTERRUPTS, .no_zero = true},
	{FIGURE_COUNT, "timed", AT(durations.cnt)},
	{FIGURE_QUANTILE, "min_ns", AT(durations), .of = 0},
	{FIGURE_MEAN, "mean_ns", "mean", 0, MEANS},
	{FIGURE_QUANTILE, "p50_ns", "p50", AT(durations), .of = 50, MEANS},
	{FIGURE_QUANTILE, "p90_ns", AT(durations), .of = 90},
	{FIGURE_QUANTILE, "p99_ns", "p99", AT(durations), .of = 99, MEANS},
	{FIGURE_QUANTILE, "max_ns", "max", AT(durations), .of = 100, SINGLE},
	{FIGURE_BYTES, "sent_bytes", "sent", AT(send_bytes), OF(unknown_sends), SIZES},
	{FIGURE_BYTES, "received_bytes", "received", AT(recv_bytes), OF(unknown_recvs), SIZES},
	{FIGURE_COUNT, "sends_of_unknown_size", AT(unknown_sends)},
	{FIGURE_COUNT, "receives_of_unknown_size", AT(unknown_recvs)},
	{FIGURE_COUNT, "nested_calls", AT(nested_calls)},
	{FIGURE_NS, "nested_ns", AT(nested_ns)},
	{0},
};

/* ---- JSON ---- */

static void function_print(struct json_out *j, const struct report *r, const struct function_row *f,
			   uint32_t lost)
{
	json_out_object_begin(j);
	json_out_key_string(j, "name", f->func->name);
	json_out_key_string(j, "group", f->func->group);
	json_out_key_string(j, "layer", f->func->layer_name);
	json_incomplete(j, function_row_lost(f, lost));
	figures_json(j, function_figures, f, r->facts);
	json_out_object_end(j);
}

void json_functions(struct json_out *j, const struct report *r, const bool *wanted, uint32_t lost)
{
	uint32_t n;
	struct function_row **row = functions_sum(&r->functions, wanted, r->nprocesses, &n);

	json_out_key_array(j, "functions");
	for (uint32_t i = 0; i < n; i++)
		function_print(j, r, row[i], lost);
	json_out_array_end(j);
	functions_sum_free(row, n);
}

/* ---- text ---- */

/* lost: records missing from the processes that f sums. */
static void function_cells(const struct figure_table *t, const struct function_row *f,
			   uint64_t wall_ns, uint32_t lost)
{
	columns_text(t->c, f->func->name, 28);
	figures_cells(t, f, wall_ns, function_row_lost(f, lost));
}

static void columns_explain(const struct report *r, FILE *out, const struct function_row *sum)
{
	text_explain(r, out,
		     "%%wall: of the ranks' wall time added up. polls: calls that found "
		     "nothing and were merged in the recording; they count in calls, total "
		     "and mean, not in p50, p99 and max. p50 and p99 are within 0.8 %%.");
	text_explain(r, out,
		     "sent: bytes handed over. received: bytes that arrived if the call's "
		     "status has their number, else the size of the receive buffer. A persistent "
		     "operation counts each time it is started.%s",
		     sum->unknown_sends + sum->unknown_recvs ? " > and ?: some sizes are unknown." :
							       "");
	if (sum->counted)
		text_explain(
			r, out,
			"counted: calls that were only counted; they count in calls, total and "
			"mean, not in p50, p99 and max. These are successful calls of cheap "
			"functions under 2 us (--mpi default,type records each), and functions "
			"that --max-overhead gave up.");
}

static const struct {
	size_t at;
	const char *before, *one, *many, *after;
} function_note_texts[] = {
	{offsetof(ROW, inner), "", "of these calls was made", "of these calls were made",
	 "inside calls of another layer, whose times include theirs."},
	{offsetof(ROW, nested_calls), "Not counted above: ", "call that the library made",
	 "calls that the library made", "inside these."},
	{offsetof(ROW, open), "", "call had", "calls had",
	 "not returned; they count in calls, and in total up to the end."},
	{offsetof(ROW, unwound), "", "call was", "calls were",
	 "left without returning (longjmp, exception, exit); they count in calls, "
	 "and in total until that was noticed."},
	{offsetof(ROW, end_only), "", "call was", "calls were",
	 "seen only to return; they count in calls, and how long they took is "
	 "unknown."},
	{offsetof(ROW, errors), "", "call returned", "calls returned", "an error."},
};

/* layer: see functions_table(). */
static void function_notes(const struct report *r, FILE *out, const char *layer,
			   const struct function_row *sum)
{
	const char *mark = text_mark(r->lost_shown, LOSS_OF_CALLS, 0);
	uint64_t n;

	if (!layer)
		columns_explain(r, out, sum);
	for (size_t i = 0; i < sizeof(function_note_texts) / sizeof(function_note_texts[0]); i++) {
		n = *(const uint64_t *)((const char *)sum + function_note_texts[i].at);
		if (n)
			text_note(out, "%s%s%s %s", function_note_texts[i].before, mark ? mark : "",
				  PLURAL_TEXT(n, function_note_texts[i].one,
					      function_note_texts[i].many),
				  function_note_texts[i].after);
	}
}

static bool in_table(const struct function_row *f, const char *layer)
{
	return func_is_top(f->func) ? !layer : layer && !strcmp(f->func->layer_name, layer);
}

/*
 * Prints the functions of a layer below MPI, or of MPI if layer is NULL. False if none was called.
 */
static bool functions_table(const struct report *r, struct function_row *const *row, uint32_t n,
			    const char *layer, FILE *out)
{
	uint32_t shown = 0, called = 0;
	struct figure_table t = {function_figures, columns_new(), .facts = r->facts};
	struct function_row sum = {0};

	columns_add(t.c, "function", COLUMNS_LEFT);
	figures_columns(&t);
	for (uint32_t i = 0; i < n; i++) {
		if (!in_table(row[i], layer))
			continue;
		table_row_add(&sum, row[i], calls);
		if (!row[i]->calls)
			continue;
		called++;
		if (r->opt->top && shown >= r->opt->top)
			continue;
		shown++;
		function_cells(&t, row[i], r->sum.time.walls_ns, r->lost_shown);
	}
	if (called) {
		text_section(out, "Functions%s%s by total time%s", layer ? " of layer " : "",
			     layer ? layer : "",
			     r->nranks && r->nrows > 1 ? ", over the ranks shown" : "");
		columns_print(t.c, out);
		if (shown < called)
			text_note(out, "%u of %u shown; --top N shows more, --top 0 all.", shown,
				  called);
		function_notes(r, out, layer, &sum);
	}
	columns_free(t.c);
	return called;
}

/* If there are ranks, the tables contain only these. Notes the calls of other processes. */
static void others_note(const struct report *r, FILE *out)
{
	uint64_t calls = 0;

	for (uint32_t i = 0; i < r->functions.nrow && r->nranks; i++)
		if (r->functions.row[i]->process_idx >= r->nranks)
			calls += r->functions.row[i]->calls;
	if (calls)
		text_note(out,
			  "Processes that are not ranks made %s more (--json: other_processes).",
			  PLURAL_TEXT(calls, "call", "calls"));
}

/* True if this row is the first one of a layer below MPI. */
static bool is_first_of_layer(struct function_row *const *row, uint32_t at)
{
	if (func_is_top(row[at]->func))
		return false;
	return !table_any(at, i, in_table(row[i], row[at]->func->layer_name));
}

void text_functions(const struct report *r, FILE *out)
{
	uint32_t n;
	struct function_row **row = functions_sum(&r->functions, r->chosen, r->nprocesses, &n);

	if (!functions_table(r, row, n, NULL, out) && r->nranks)
		text_section(out, "Functions: no MPI call of the ranks shown was recorded");
	for (uint32_t i = 0; i < n; i++)
		if (is_first_of_layer(row, i))
			functions_table(r, row, n, row[i]->func->layer_name, out);
	others_note(r, out);
	functions_sum_free(row, n);
}

/* Number of functions shown for each rank. */
static uint32_t per_rank_top(const struct report *r)
{
	return r->nrows < 2 ? 0 : r->nrows <= 8 ? 5 : r->nrows <= 32 ? 3 : 0;
}

/* Adds the rows of a rank. False if it called no function. */
static bool rank_rows(const struct report *r, const struct figure_table *t, uint32_t idx,
		      struct function_row *const *row, uint32_t n)
{
	uint32_t shown = 0;

	for (uint32_t i = 0; i < n && shown < per_rank_top(r); i++) {
		if (!row[i]->calls || !func_is_top(row[i]->func))
			continue;
		if (shown)
			cell_empty(t->c);
		else
			text_rank_cell(r, t->c, model_process_get(r->model, idx));
		function_cells(t, row[i], r->time.process[idx].wall_ns, r->lost[idx]);
		shown++;
	}
	return shown;
}

void text_rank_functions(const struct report *r, FILE *out)
{
	struct figure_table t = {function_figures, .facts = r->facts};
	struct function_row **row;
	bool any = false, *one;
	uint32_t n;

	if (!per_rank_top(r))
		return;
	one = xcalloc(r->nprocesses, sizeof(*one));
	t.c = columns_new();
	columns_list(t.c, ">rank", "<function");
	figures_columns(&t);
	for (uint32_t i = 0; i < r->nrows; i++) {
		one[r->row[i]] = true;
		row = functions_sum(&r->functions, one, r->nprocesses, &n);
		one[r->row[i]] = false;
		if (any && n)
			columns_rule(t.c);
		any |= rank_rows(r, &t, r->row[i], row, n);
		functions_sum_free(row, n);
	}
	if (any) {
		text_section(out, "Functions of each rank: the %u longest", per_rank_top(r));
		columns_print(t.c, out);
	}
	columns_free(t.c);
	free(one);
}

#undef ROW

/* ---- collective calls ---- */

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
	return table_get(r->findings.arrivals.process, r->findings.arrivals.nprocess, idx);
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
	if (!a->waited_ns) {
		cell_empty(c);
		cell_empty(c);
		cell_empty(c);
		return;
	}
	columns_text(c, a->worst.func->name, 24);
	columns_cell(c, "%.3f s", (double)json_since_start(r, a->worst.begin_ns) / 1e9);
	columns_cell(c, "%s", NS_TEXT(a->worst.late_ns));
}

void text_collectives(const struct report *r, FILE *out)
{
	uint32_t shown = text_rows_shown(r, r->nrows, PROCESSES_MANY);
	struct figure_table t = {arrival_figures, columns_new(), .facts = r->facts};

	text_section(out, "Collective calls: who came last");
	text_process_columns(r, t.c, false);
	figures_columns(&t);
	columns_list(t.c, "<most for", ">at", ">after the first");
	for (uint32_t i = 0; i < shown; i++) {
		const struct arrival_row *a = arrivals_of(r, r->row[i]);

		text_process_cells(r, t.c, r->row[i], false);
		figures_cells(&t, a, 0, r->lost[r->row[i]]);
		worst_cells(r, t.c, a);
	}
	text_columns(t.c, out);
	text_processes_note(r, out, shown);
	text_explain(r, out,
		     "calls: blocking collectives that were recorded on every member. others "
		     "waited: time that members in the call waited for this rank, split among "
		     "the ranks that were still missing.");
}
