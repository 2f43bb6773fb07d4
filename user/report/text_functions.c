/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What was called, how long it took, and how large the messages were.
 */
#include <stdlib.h>

#include "base/human.h"
#include "base/log.h"
#include "report/text_priv.h"

#define BAR_WIDTH 24

/* ---- functions ---- */

static void function_columns(struct columns *c)
{
	static const char *const right[] = {"calls", "polls", "total", "%wall", "mean",
					    "p50",   "p99",   "max",   "sent",	"received"};
	size_t i;

	columns_add(c, "function", COLUMNS_LEFT);
	for (i = 0; i < sizeof(right) / sizeof(right[0]); i++)
		columns_add(c, right[i], *right[i] == '%' ? COLUMNS_TIGHT : COLUMNS_RIGHT);
}

/* Marks the next cell: a figure of a function of which records are missing. */
static void low(struct columns *c, uint32_t lost)
{
	columns_mark(c, text_mark(lost, LOSS_OF_CALLS, 0));
}

static void wrong(struct columns *c, uint32_t lost)
{
	columns_mark(c, text_mark(lost, 0, LOSS_OF_CALLS));
}

static void distribution_cells(struct columns *c, const struct histogram *h, uint32_t lost)
{
	int i;

	for (i = 0; i < 3 && !h->cnt; i++)
		columns_cell(c, "-");
	if (!h->cnt)
		return;
	wrong(c, lost);
	cell_ns(c, histogram_quantile(h, 50));
	wrong(c, lost);
	cell_ns(c, histogram_quantile(h, 99));
	low(c, lost);
	cell_ns(c, h->max);
}

static void bytes_cell(struct columns *c, uint64_t bytes, uint64_t unknown, uint32_t lost)
{
	char buf[HUMAN_BYTES];

	columns_mark(c, text_mark(lost, 0, LOSS_OF_BYTES));
	if (!bytes)
		columns_cell(c, unknown ? "?" : "-");
	else
		columns_cell(c, "%s%s", unknown ? ">" : "", human_bytes(buf, sizeof(buf), bytes));
}

/* lost: what is missing of the processes that it sums up. */
static void function_cells(struct columns *c, const struct function_row *f, uint64_t wall_ns,
			   uint32_t lost)
{
	double mean_ns;

	lost = function_row_lost(f, lost);
	columns_text(c, f->func->name, 28);
	low(c, lost);
	cell_count(c, f->calls);
	low(c, lost);
	if (f->polls)
		cell_count(c, f->polls);
	else
		columns_cell(c, "-");
	low(c, lost);
	cell_ns(c, f->total_ns);
	columns_mark(c, text_mark(lost, LOSS_OF_CALLS, LOSS_OF_LIVES));
	cell_pct(c, f->total_ns, wall_ns);
	wrong(c, lost);
	if (function_row_mean(f, &mean_ns))
		cell_ns(c, (uint64_t)mean_ns);
	else
		columns_cell(c, "-");
	distribution_cells(c, &f->durations, lost);
	bytes_cell(c, f->send_bytes, f->unknown_sends, lost);
	bytes_cell(c, f->recv_bytes, f->unknown_recvs, lost);
}

static void columns_explain(FILE *out, const struct function_row *sum)
{
	text_note(
		out,
		"%%wall: of the ranks' wall time added up. polls: of the calls, those that found nothing and were merged when "
		"recorded; they are in calls, total and mean, not in p50, p99 and max. p50 and p99 are "
		"within 0.8 %%.");
	text_note(
		out,
		"sent: bytes handed over. received: bytes that arrived where the call's status tells, else the "
		"capacity posted. A persistent operation counts each time it is started.%s",
		sum->unknown_sends + sum->unknown_recvs ?
			" > and ?: more, whose size is not known." :
			"");
}

/* layer: as of functions_table. */
static void function_notes(FILE *out, const char *layer, const struct function_row *sum,
			   uint32_t lost)
{
	const char *mark = text_mark(lost, LOSS_OF_CALLS, 0);
	char a[80];

	if (!mark)
		mark = "";
	if (!layer)
		columns_explain(out, sum);
	if (sum->inner)
		text_note(out, "%s%s inside calls of another layer, whose times include theirs.",
			  mark,
			  human_plural(a, sizeof(a), sum->inner, "of these calls was made",
				       "of these calls were made"));
	if (sum->nested_calls)
		text_note(out, "Not counted above: %s%s inside these.", mark,
			  human_plural(a, sizeof(a), sum->nested_calls,
				       "call that the library made",
				       "calls that the library made"));
	if (sum->open)
		text_note(out, "%s%s not returned: in calls, and in total as far as seen.", mark,
			  human_plural(a, sizeof(a), sum->open, "call had", "calls had"));
	if (sum->unwound)
		text_note(
			out,
			"%s%s left without returning (longjmp, exception, exit): in calls, and in total up to "
			"when that was noticed.",
			mark, human_plural(a, sizeof(a), sum->unwound, "call was", "calls were"));
	if (sum->errors)
		text_note(out, "%s%s an error.", mark,
			  human_plural(a, sizeof(a), sum->errors, "call returned",
				       "calls returned"));
}

static uint64_t wall_time(const struct report *r)
{
	uint64_t sum = 0;
	uint32_t i;

	for (i = 0; i < r->nrows; i++)
		sum += r->time.process[r->row[i]].wall_ns;
	return sum;
}

static bool in_table(const struct function_row *f, const char *layer)
{
	return func_is_top(f->func) ? !layer : layer && !strcmp(f->func->layer_name, layer);
}

static void function_add(struct function_row *sum, const struct function_row *f)
{
	sum->nested_calls += f->nested_calls;
	sum->inner += f->inner;
	sum->open += f->open;
	sum->unwound += f->unwound;
	sum->errors += f->errors;
	sum->unknown_sends += f->unknown_sends;
	sum->unknown_recvs += f->unknown_recvs;
}

/* The functions of a layer below MPI, by its name, or of MPI (NULL). False if none was called. */
static bool functions_table(const struct report *r, struct function_row *const *row, uint32_t n,
			    const char *layer, FILE *out)
{
	uint32_t i, shown = 0, called = 0;
	struct columns *c = columns_new();
	struct function_row sum = {0};
	uint64_t wall_ns = wall_time(r);

	function_columns(c);
	for (i = 0; i < n; i++) {
		if (!in_table(row[i], layer))
			continue;
		function_add(&sum, row[i]);
		if (!row[i]->calls)
			continue;
		called++;
		if (r->opt->top && shown >= r->opt->top)
			continue;
		shown++;
		function_cells(c, row[i], wall_ns, r->lost_shown);
	}
	if (called) {
		text_section(out, "Functions%s%s by total time%s", layer ? " of layer " : "",
			     layer ? layer : "", r->nrows > 1 ? ", over the ranks above" : "");
		columns_print(c, out, "  ");
		if (shown < called)
			text_note(out, "%u of %u shown; --top N shows more, --top 0 all.", shown,
				  called);
		function_notes(out, layer, &sum, r->lost_shown);
	}
	columns_free(c);
	return called;
}

/* Where there are ranks, the tables are theirs. */
static void others_note(const struct report *r, FILE *out)
{
	uint64_t calls = 0;
	char a[80];

	for (uint32_t i = 0; i < r->functions.nrow && r->nranks; i++)
		if (r->functions.row[i]->process_idx >= r->nranks)
			calls += r->functions.row[i]->calls;
	if (calls)
		text_note(out, "Processes that are no rank made %s more (--json: other_processes).",
			  human_plural(a, sizeof(a), calls, "call", "calls"));
}

/* Whether a row is the first one of its layer, which is not MPI. */
static bool is_first_of_layer(struct function_row *const *row, uint32_t at)
{
	if (func_is_top(row[at]->func))
		return false;
	for (uint32_t i = 0; i < at; i++)
		if (in_table(row[i], row[at]->func->layer_name))
			return false;
	return true;
}

void text_functions(const struct report *r, FILE *out)
{
	struct function_row **row;
	uint32_t n;

	row = functions_sum(&r->functions, r->chosen, r->nprocesses, &n);
	if (!functions_table(r, row, n, NULL, out) && r->nranks)
		text_section(out, "Functions: no MPI call was recorded");
	for (uint32_t i = 0; i < n; i++)
		if (is_first_of_layer(row, i))
			functions_table(r, row, n, row[i]->func->layer_name, out);
	others_note(r, out);
	functions_sum_free(row, n);
}

/* How many functions of each rank are shown. */
static uint32_t per_rank_top(const struct report *r)
{
	return r->nrows < 2 ? 0 : r->nrows <= 8 ? 5 : r->nrows <= 32 ? 3 : 0;
}

void text_rank_functions(const struct report *r, FILE *out)
{
	uint32_t top = per_rank_top(r), i, k, shown, n;
	char label[REPORT_LABEL_BYTES];
	struct function_row **row;
	bool any = false, *one;
	struct columns *c;

	if (!top)
		return;
	one = xcalloc(r->nprocesses, sizeof(*one));
	c = columns_new();
	columns_add(c, "rank", COLUMNS_RIGHT);
	function_columns(c);
	for (i = 0; i < r->nrows; i++) {
		one[r->row[i]] = true;
		row = functions_sum(&r->functions, one, r->nprocesses, &n);
		one[r->row[i]] = false;
		if (any && n)
			columns_rule(c);
		for (k = 0, shown = 0; k < n && shown < top; k++) {
			if (!row[k]->calls || !func_is_top(row[k]->func))
				continue;
			columns_cell(c, "%s",
				     shown ? "" :
					     report_label(r, model_process_get(r->model, r->row[i]),
							  label));
			function_cells(c, row[k], r->time.process[r->row[i]].wall_ns,
				       r->lost[r->row[i]]);
			any = true;
			shown++;
		}
		functions_sum_free(row, n);
	}
	if (any) {
		text_section(out, "Functions of each rank: the %u longest", top);
		columns_print(c, out, "  ");
	}
	columns_free(c);
	free(one);
}

/* ---- message sizes ---- */

static void bucket_name(struct columns *c, int b)
{
	char from[HUMAN_BYTES], to[HUMAN_BYTES];

	if (b <= 1) {
		columns_cell(c, "%d B", b);
		return;
	}
	human_bytes(from, sizeof(from), UINT64_C(1) << (b - 1));
	human_bytes(to, sizeof(to), b < 64 ? UINT64_C(1) << b : UINT64_MAX);
	columns_cell(c, "%s - <%s", from, to);
}

static uint64_t bucket_cnt(const struct message_row *m, int b)
{
	uint64_t cnt = 0;
	int class;

	for (class = 0; class < MESSAGE_CLASS_CNT; class ++)
		cnt += m->cnt[class][b];
	return cnt;
}

static void bucket_row(struct columns *c, const struct message_row *m, const bool *used, int b,
		       uint64_t most, const char *mark)
{
	uint64_t bytes = 0;
	double share = (double)bucket_cnt(m, b) / (double)most;
	int class;

	bucket_name(c, b);
	for (class = 0; class < MESSAGE_CLASS_CNT; class ++) {
		bytes += m->bytes[class][b];
		if (!used[class])
			continue;
		columns_mark(c, mark);
		if (m->cnt[class][b])
			cell_count(c, m->cnt[class][b]);
		else
			columns_cell(c, ".");
	}
	columns_mark(c, mark);
	cell_bytes(c, bytes);
	columns_cell(c, "%.*s", share > 0 ? 1 + (int)(share * (BAR_WIDTH - 1)) : 0,
		     "########################");
}

static void gap_row(struct columns *c, const bool *used)
{
	int class;

	columns_cell(c, "...");
	for (class = 0; class < MESSAGE_CLASS_CNT; class ++) {
		if (used[class])
			columns_cell(c, ".");
	}
	cell_empty(c);
	cell_empty(c);
}

static void messages_table(const struct message_row *m, const bool *used, const char *mark,
			   FILE *out)
{
	int class, b, first = MESSAGE_BUCKETS, last = -1;
	struct columns *c = columns_new();
	uint64_t most = 1;

	for (b = 0; b < MESSAGE_BUCKETS; b++) {
		if (!bucket_cnt(m, b))
			continue;
		first = b < first ? b : first;
		last = b;
		most = bucket_cnt(m, b) > most ? bucket_cnt(m, b) : most;
	}
	columns_add(c, "bytes each", COLUMNS_RIGHT);
	for (class = 0; class < MESSAGE_CLASS_CNT; class ++) {
		if (used[class])
			columns_add(c, message_class_names[class], COLUMNS_RIGHT);
	}
	columns_add(c, "total", COLUMNS_RIGHT);
	columns_add(c, "", COLUMNS_LEFT);
	for (b = first; b <= last; b++) {
		if (bucket_cnt(m, b))
			bucket_row(c, m, used, b, most, mark);
		else if (bucket_cnt(m, b - 1)) /* one line for all empty ones in a row */
			gap_row(c, used);
	}
	columns_print(c, out, "  ");
	columns_free(c);
}

static void peers_note(const struct report *r, FILE *out)
{
	struct peers_row all = {0}, one;
	char cnt[HUMAN_BYTES], of[80];
	uint64_t unknown = 0;

	for (uint32_t i = 0; i < r->nrows; i++) {
		one = peers_of(&r->peers, r->row[i]);
		peers_row_add(&all, &one);
	}
	for (int why = PEER_KNOWN + 1; why < PEER_UNKNOWN_CNT; why++)
		unknown += all.unknown[why];
	if (!unknown)
		return;
	text_note(out, "The other end of %s of %s is not known as a rank in MPI_COMM_WORLD:",
		  human_count(cnt, sizeof(cnt), unknown),
		  human_plural(of, sizeof(of), all.messages, "message", "messages"));
	for (int why = PEER_KNOWN + 1; why < PEER_UNKNOWN_CNT; why++)
		if (all.unknown[why])
			text_note(out, "  %s: %s", human_count(cnt, sizeof(cnt), all.unknown[why]),
				  peer_unknown_text[why]);
}

void text_messages(const struct report *r, FILE *out)
{
	bool used[MESSAGE_CLASS_CNT] = {false}, any = false;
	const char *mark = text_mark(r->lost_shown, 0, LOSS_OF_BYTES);
	struct message_row all = {0};
	uint64_t unknown = 0;
	char a[HUMAN_BYTES];
	uint32_t i;
	int class, b;

	for (i = 0; i < r->nrows; i++) {
		if (r->row[i] < r->messages.nprocess && r->messages.process[r->row[i]])
			message_row_add(&all, r->messages.process[r->row[i]]);
	}
	for (class = 0; class < MESSAGE_CLASS_CNT; class ++) {
		unknown += all.unknown[class];
		for (b = 0; b < MESSAGE_BUCKETS; b++)
			used[class] |= all.cnt[class][b] != 0;
		any |= used[class];
	}
	if (!any && !unknown)
		return;
	text_section(out, "Message sizes: operations that send, by the bytes they hand over");
	if (any)
		messages_table(&all, used, mark, out);
	if (unknown)
		text_note(
			out,
			"%s%s more, whose size is not known (their datatype or communicator was not seen).",
			mark ? mark : "", human_count(a, sizeof(a), unknown));
	if (used[MESSAGE_COLL])
		text_note(out,
			  "coll: what one rank puts into a collective, counted once per rank.");
	peers_note(r, out);
}
