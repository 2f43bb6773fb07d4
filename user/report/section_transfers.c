/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Shows when the data of nonblocking operations began to move. */
#include <stdlib.h>

#include "analysis/table.h"
#include "lib/human.h"
#include "lib/log.h"
#include "report/traffic_label.h"

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
			json_known_uint(j, "pid", true,
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
	char cnt[80], bytes[HUMAN_BYTES], label[RANK_LABEL_BYTES], *name, *clean;
	uint32_t shown = 0;

	for (uint32_t i = 0; i < r->transfers.nby; i++) {
		const struct transfer_by *b = &r->transfers.by[i];

		if (!r->chosen[b->process] || (r->opt->top && shown++ >= r->opt->top))
			continue;
		name = by_name(r, b);
		clean = text_printable(name, 40);
		text_note(out, "meanwhile, rank %s, %s: %s (%s) by %s",
			  rank_label(r->model, model_process_get(r->model, b->process), label),
			  traffic_func(r, b->func)->name,
			  human_plural(cnt, sizeof(cnt), b->cnt, "operation", "operations"),
			  human_bytes(bytes, sizeof(bytes), b->bytes), clean);
		free(name);
		free(clean);
	}
}

static void early_note(const struct report *r, const struct transfer_row *row, FILE *out)
{
	char come[80], early[80], mean[HUMAN_BYTES];

	if (!row->early)
		return;
	text_note(out,
		  "%s: of %s whose data were seen to arrive, %s had them all %s (mean) before the "
		  "call that completed it",
		  traffic_func(r, row->func)->name,
		  human_plural(come, sizeof(come), row->come, "operation", "operations"),
		  human_count(early, sizeof(early), row->early),
		  human_ns(mean, sizeof(mean), row->early_ns / row->early));
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
		columns_add(t.c, "function", COLUMNS_LEFT);
		columns_add(t.c, "bytes", COLUMNS_RIGHT);
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
		text_explain(
			r, out,
			"Operations by when the first of their data was posted: in the call that "
			"started them, in the call that completed them, or meanwhile. not here: "
			"this process posted no data; the other side or an unrecorded layer "
			"moves them. unclear: several were in flight, sizes are unknown, or "
			"records are missing.");
	}
	free(sum);
}
