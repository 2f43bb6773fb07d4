/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Shows how much each rank handed to the network, one line per rank, and when the data of
 * nonblocking operations began to move.
 */
#include <stdlib.h>

#include "analysis/find.h"
#include "lib/human.h"
#include "lib/log.h"
#include "lib/table.h"
#include "report/section.h"

/* ---- posts ---- */

#define ROW struct traffic_flow
#define SUMS .low = LOSS_OF_POSTS

static const struct figure post_figures[] = {
	{FIGURE_COUNT, NULL, "posts", AT(posts), SUMS},
	{FIGURE_BYTES, NULL, "sent", AT(sent_bytes), OF(sent_unknown), SUMS},
	{FIGURE_BYTES, NULL, "read", AT(read_bytes), OF(read_unknown), SUMS},
	{FIGURE_COUNT, NULL, NULL, AT(call_bytes), "%MPI", OF(moved_bytes),
	 .share_wrong = LOSS_OF_POSTS},
	{FIGURE_COUNT, NULL, NULL, AT(background_bytes), "%other", OF(moved_bytes),
	 .share_wrong = LOSS_OF_POSTS},
	{0},
};

/* Lists transports: "tcp 1.2 MiB (os), cma 3 MiB (os)". Adds the groups to flow. Caller frees. */
static char *ways_of(const struct report *r, const struct traffic_group *g, uint32_t n,
		     struct traffic_flow *flow)
{
	char *text = xstrdup(""), *way;

	for (uint32_t i = 0; i < n; i++) {
		table_row_add(flow, &g[i].flow, posts);
		if (!g[i].flow.posts)
			continue;
		way = traffic_transport(r, &g[i].key);
		text = words(text, "%s%s %s (%s)", *text ? ", " : "", way,
			     BYTES_TEXT(g[i].flow.moved_bytes), traffic_text(r, g[i].key.layer));
		free(way);
	}
	return text;
}

/* Finds the groups of a process. Relies on groups being sorted by process. */
static uint32_t groups_of(const struct traffic_group *g, uint32_t n, uint32_t process,
			  uint32_t *first)
{
	uint32_t i;

	for (*first = 0; *first < n && g[*first].key.process != process;)
		++*first;
	for (i = *first; i < n && g[i].key.process == process;)
		i++;
	return i - *first;
}

static void received_cell(struct columns *c, uint64_t bytes, uint32_t lost)
{
	columns_mark(c, text_mark(lost, LOSS_OF_POSTS, 0));
	cell_bytes(c, bytes);
}

static void posts_note(const struct report *r, const struct traffic_flow *all, FILE *out)
{
	uint64_t unknown = all->sent_unknown + all->read_unknown;

	text_explain(r, out,
		     "Each transport is counted at its lowest recorded layer (in "
		     "parentheses). %%MPI, %%other: share of the bytes sent and read that was "
		     "posted inside and outside MPI calls. received: bytes read, seen to "
		     "arrive, or sent or written by other recorded processes.%s",
		     r->opt->traffic ? "" : " --traffic shows destinations, functions and phases.");
	if (unknown)
		text_note(out, "%s of unknown size count in posts, not in bytes (marked > or ?).",
			  PLURAL_TEXT(unknown, "post", "posts"));
	if (all->failed)
		text_note(out, "%s. Posts that were refused are not in the figures above.",
			  PLURAL_TEXT(all->failed, "post failed", "posts failed"));
}

static void posts_rows(const struct report *r, struct figure_table *t, struct traffic_flow *all,
		       uint64_t *received)
{
	uint32_t shown = text_rows_shown(r, r->nrows, PROCESSES_MANY), n, first, cnt, idx;
	struct traffic_group *g =
		traffic_groups(r, TRAFFIC_BY_PROCESS | TRAFFIC_BY_CARRIER | TRAFFIC_BY_LAYER, &n);
	struct traffic_flow flow;
	char *ways;

	for (uint32_t i = 0; i < r->nrows; i++) {
		idx = r->row[i];
		flow = (struct traffic_flow){0};
		cnt = groups_of(g, n, idx, &first);
		ways = ways_of(r, g + first, cnt, &flow);
		table_row_add(all, &flow, posts);
		*received += r->traffic.received[idx].total_bytes;
		if (i < shown) {
			text_process_cells(r, t->c, idx, false);
			figures_cells(t, &flow, 0, r->lost[idx]);
			received_cell(t->c, r->traffic.received[idx].total_bytes, r->lost[idx]);
			columns_text(t->c, ways, 44);
		}
		free(ways);
	}
	free(g);
}

void text_posts(const struct report *r, FILE *out)
{
	struct figure_table t = {post_figures, .facts = r->facts};
	struct traffic_flow all = {0};
	uint64_t received = 0;

	if (!r->traffic.posts || !r->nrows)
		return;
	text_section(out,
		     "Posts: data handed to the network, or to what replaces it within a node");
	t.c = columns_new();
	text_process_columns(r, t.c, false);
	figures_columns(&t);
	columns_list(t.c, ">received", "<by");
	posts_rows(r, &t, &all, &received);
	if (r->nrows > 1) {
		columns_rule(t.c);
		text_process_sum(r, t.c, "all", false);
		figures_cells(&t, &all, 0, r->lost_shown);
		received_cell(t.c, received, r->lost_shown);
		cell_empty(t.c);
	}
	text_columns(t.c, out);
	text_processes_note(r, out, text_rows_shown(r, r->nrows, PROCESSES_MANY));
	posts_note(r, &all, out);
}

#undef ROW

/* ---- transfers ---- */

#define ROW struct transfer_row
#define MOVED(key, header, when)                                                             \
	{FIGURE_COUNT, key, header, AT(cnt[when]), .no_zero = true, .wrong = LOSS_OF_POSTS}, \
	{                                                                                    \
		FIGURE_COUNT, key "_bytes", NULL, AT(bytes[when])                            \
	}

static const struct figure transfer_figures[] = {
	MOVED("in_call", "in the call", TRANSFER_IN_CALL),
	MOVED("meanwhile", "meanwhile", TRANSFER_MEANWHILE),
	MOVED("in_wait", "in Wait", TRANSFER_IN_WAIT),
	MOVED("not_here", "not here", TRANSFER_NOT_HERE),
	MOVED("cannot_be_told", "unclear", TRANSFER_UNCLEAR),
	{FIGURE_COUNT, "arrived", NULL, AT(come)},
	{FIGURE_COUNT, "arrived_before", NULL, AT(early)},
	{FIGURE_COUNT, "arrived_before_ns", NULL, AT(early_ns)},
	{0},
};

/* Sums the rows by function over the processes shown. Caller frees. */
static struct transfer_row *rows_sum(const struct report *r, uint32_t *n)
{
	struct transfer_row *sum = xcalloc(r->transfers.nrow, sizeof(*sum));
	uint32_t cnt = 0, k;

	for (uint32_t i = 0; i < r->transfers.nrow; i++) {
		const struct transfer_row *row = &r->transfers.row[i];

		if (!r->chosen[row->process])
			continue;
		for (k = 0; k < cnt && sum[k].func != row->func;)
			k++;
		if (k == cnt)
			sum[cnt++].func = row->func;
		table_row_add(&sum[k], row, cnt);
	}
	*n = cnt;
	return sum;
}

static char *by_name(const struct report *r, const struct transfer_by *b)
{
	if (b->in_func)
		return xstrdup(traffic_func(r, b->in_func - 1)->name);
	return xasprintf("thread %s", traffic_text(r, b->thread));
}

/* ---- JSON ---- */

void json_transfers(struct json_out *j, const struct report *r)
{
	const struct transfer_start *a = &r->transfers;
	uint32_t n;
	struct transfer_row *sum = rows_sum(r, &n);

	json_out_key_array(j, "transfer_starts");
	for (uint32_t i = 0; i < n; i++) {
		json_out_object_begin(j);
		json_out_key_string(j, "function", traffic_func(r, sum[i].func)->name);
		json_incomplete(j, r->lost_shown & LOSS_OF_POSTS);
		figures_json(j, transfer_figures, &sum[i], r->facts);
		json_out_key_array(j, "meanwhile_by");
		for (uint32_t k = 0; k < a->nby; k++) {
			const struct transfer_by *b = &a->by[k];

			if (!r->chosen[b->process] || b->func != sum[i].func)
				continue;
			json_out_object_begin(j);
			json_out_known_uint(j, "pid", true,
					    model_process_get(r->model, b->process)->host_pid);
			json_out_key_string(j, "function",
					    b->in_func ? traffic_func(r, b->in_func - 1)->name :
							 NULL);
			json_out_key_string(j, "thread", traffic_text(r, b->thread));
			json_out_key_uint(j, "operations", b->cnt);
			json_out_key_uint(j, "bytes", b->bytes);
			json_out_object_end(j);
		}
		json_out_array_end(j);
		json_out_object_end(j);
	}
	json_out_array_end(j);
	free(sum);
}

/* ---- text ---- */

static void by_note(const struct report *r, FILE *out)
{
	char *name, *clean;
	uint32_t shown = 0;

	for (uint32_t i = 0; i < r->transfers.nby; i++) {
		const struct transfer_by *b = &r->transfers.by[i];

		if (!r->chosen[b->process] || (r->opt->top && shown++ >= r->opt->top))
			continue;
		name = by_name(r, b);
		clean = text_printable(name, 40);
		text_note(out, "meanwhile, rank %s, %s: %s (%s) by %s",
			  RANK_LABEL(r, model_process_get(r->model, b->process)),
			  traffic_func(r, b->func)->name,
			  PLURAL_TEXT(b->cnt, "operation", "operations"), BYTES_TEXT(b->bytes),
			  clean);
		free(name);
		free(clean);
	}
}

static void early_note(const struct report *r, const struct transfer_row *row, FILE *out)
{
	if (!row->early)
		return;
	text_note(out,
		  "%s: of %s whose data were recorded on arrival, %s had all data %s (mean) before "
		  "the completing call began",
		  traffic_func(r, row->func)->name,
		  PLURAL_TEXT(row->come, "operation", "operations"), COUNT_TEXT(row->early),
		  NS_TEXT(row->early_ns / row->early));
}

static void transfer_bytes(struct columns *c, const struct transfer_row *row)
{
	uint64_t bytes = 0;

	for (int w = 0; w < TRANSFER_WHEN_CNT; w++)
		bytes += row->bytes[w];
	cell_bytes(c, bytes);
}

void text_transfers(const struct report *r, FILE *out)
{
	struct figure_table t = {transfer_figures, .facts = r->facts};
	uint32_t n;
	struct transfer_row *sum = rows_sum(r, &n);

	if (n) {
		text_section(out,
			     "Transfers of nonblocking operations: when their data began to move");
		t.c = columns_new();
		columns_list(t.c, "<function", ">bytes");
		figures_columns(&t);
		for (uint32_t i = 0; i < n; i++) {
			columns_text(t.c, traffic_func(r, sum[i].func)->name, 28);
			transfer_bytes(t.c, &sum[i]);
			figures_cells(&t, &sum[i], 0, r->lost_shown);
		}
		text_columns(t.c, out);
		by_note(r, out);
		for (uint32_t i = 0; i < n; i++)
			early_note(r, &sum[i], out);
		text_explain(r, out,
			     "Operations by when their first data was posted: in the call that "
			     "started them, in the call that completed them, or between. not here: "
			     "this process posted no data; the other side or an unrecorded layer "
			     "moves them. unclear: several were in flight, sizes are unknown, or "
			     "records are missing.");
	}
	free(sum);
}
