/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Shows how well computation hid nonblocking operations, by the locations that start and complete
 * them.
 */
#include <math.h>
#include <stdlib.h>

#include "lib/human.h"
#include "lib/log.h"
#include "report/section.h"
#include "site/site_names.h"

#define ROWS_MANY 15
#define PLACE_CHARS 48

static struct overlap_row *rows_of(const struct report *r, uint32_t *n)
{
	return overlaps_list(&r->findings.overlaps, r->chosen, n);
}

/* ---- JSON ---- */

static void json_place(struct json_out *j, const struct report *r, const char *key,
		       const struct model_site *s)
{
	char *text = sites_text(r->sites, s);

	json_out_key_string(j, key, text);
	free(text);
}

static void json_row(struct json_out *j, const struct report *r, const struct overlap_row *row)
{
	const struct overlap_key *k = &row->key;
	bool known = k->bucket < OVERLAP_BUCKET_UNKNOWN, any = known && k->bucket;

	json_out_object_begin(j);
	json_out_key_string(j, "function", k->start->name);
	json_place(j, r, "site", &k->start_site);
	json_out_key_string(j, "completed_by", k->done->name);
	json_place(j, r, "completed_at", &k->done_site);
	json_out_known_uint(j, "from_bytes", known, any ? UINT64_C(1) << (k->bucket - 1) : 0);
	json_out_known_uint(j, "to_bytes", known, any ? UINT64_MAX >> (64 - k->bucket) : 0);
	json_out_key_uint(j, "count", row->cnt);
	json_out_key_uint(j, "bytes", row->bytes);
	json_out_key_uint(j, "outside_ns", row->outside_ns);
	json_out_known_uint(j, "computing_ns", r->facts & FACT_SCHED, row->computing_ns);
	json_out_key_uint(j, "wait_ns", row->wait_ns);
	json_out_key_uint(j, "late_ns", row->late_ns);
	json_out_key_uint(j, "left_ns", row->left_ns);
	json_out_key_uint(j, "saved_ns", row->saved_ns);
	json_out_key_uint(j, "saved_count", row->saved_cnt);
	json_out_key_uint(j, "other_end_unknown", row->unsure);
	json_out_key_uint(j, "between_hosts", row->other_host_cnt);
	json_out_key_uint(j, "alone_known", row->alone_cnt);
	json_out_key_uint(j, "alone_ns", row->alone_ns);
	json_out_key_uint(j, "compared", row->compared);
	json_out_key(j, "ratio");
	json_out_double(j, overlap_row_ratio(row));
	json_incomplete(j, r->lost_shown & (LOSS_OF_CALLS | LOSS_OF_BYTES));
	json_out_object_end(j);
}

void json_overlap(struct json_out *j, const struct report *r)
{
	uint32_t n;
	struct overlap_row *list = rows_of(r, &n);

	json_out_key_array(j, "overlap");
	for (uint32_t i = 0; i < n; i++)
		json_row(j, r, &list[i]);
	json_out_array_end(j);
	free(list);
}

/* ---- text ---- */

static void place_cell(const struct report *r, struct columns *c, const struct func_info *f,
		       const struct model_site *s)
{
	char *site = sites_text(r->sites, s);

	columns_take(c, xasprintf("%s %s", f->name, site), PLACE_CHARS);
	free(site);
}

static void time_cell(struct columns *c, uint64_t ns, uint64_t cnt, struct text_unit u)
{
	columns_cell(c, "%.*f", u.digits, (double)ns / (double)cnt / u.ns);
}

static void row_cells(const struct report *r, struct columns *c, const struct overlap_row *row,
		      struct text_unit each, struct text_unit all)
{
	double ratio = overlap_row_ratio(row);

	place_cell(r, c, row->key.start, &row->key.start_site);
	place_cell(r, c, row->key.done, &row->key.done_site);
	cell_count(c, row->cnt);
	columns_cell(c, "%s",
		     row->key.bucket == OVERLAP_BUCKET_UNKNOWN ? "?" :
								 BYTES_TEXT(row->bytes / row->cnt));
	time_cell(c, row->outside_ns, row->cnt, each);
	time_cell(c, row->wait_ns, row->cnt, each);
	time_cell(c, row->late_ns, row->cnt, each);
	time_cell(c, row->left_ns, row->cnt, each);
	if (row->alone_cnt)
		time_cell(c, row->alone_ns, row->alone_cnt, each);
	else
		columns_cell(c, "-");
	if (isnan(ratio))
		columns_cell(c, "-");
	else
		columns_cell(c, "%.2f", ratio);
	time_cell(c, row->saved_ns, 1, all);
}

static void print_table(const struct report *r, const struct overlap_row *list, uint32_t n,
			FILE *out)
{
	uint64_t most_ns = 0, saved_ns = 0;
	struct text_unit each, all;
	struct columns *c = columns_new();

	for (uint32_t i = 0; i < n; i++) {
		uint64_t ns = (list[i].outside_ns + list[i].wait_ns) / list[i].cnt;

		most_ns = ns > most_ns ? ns : most_ns;
		saved_ns = list[i].saved_ns > saved_ns ? list[i].saved_ns : saved_ns;
	}
	each = text_unit_for(most_ns);
	all = text_unit_for(saved_ns);
	text_section(out,
		     "Overlap: how long nonblocking operations were waited for (means in %s, "
		     "saved in %s)",
		     each.name, all.name);
	columns_list(c, "<started by", "<completed by", ">count", ">bytes", ">outside", ">wait",
		     ">late", ">left", ">alone", ">ratio", ">saved");
	for (uint32_t i = 0; i < n; i++)
		row_cells(r, c, &list[i], each, all);
	text_columns(c, out);
}

void text_overlap(const struct report *r, FILE *out)
{
	uint64_t unsure = 0;
	uint32_t n, shown;
	struct overlap_row *list = rows_of(r, &n);

	shown = text_rows_shown(r, n, ROWS_MANY);
	if (!n) {
		free(list);
		return;
	}
	print_table(r, list, shown, out);
	for (uint32_t i = 0; i < n; i++)
		unsure += list[i].unsure;
	text_shown_note(out, shown, n);
	text_explain(r, out,
		     "outside: between the start and the completing call, not in MPI. wait: "
		     "in the completing call. late: the part of wait before the other side "
		     "had posted. left: the rest of wait, except time without a core. ratio: "
		     "as povbench's; 0: the shorter of transfer and computation was hidden, "
		     "1: one came after the other, - : nothing to compare with. saved: the "
		     "part of left that computation could have hidden.");
	if (unsure)
		text_note(out,
			  "Not in saved: %s whose other ends are unknown, collectives included.",
			  PLURAL_TEXT(unsure, "operation", "operations"));
	if (r->findings.overlaps.without_row)
		text_note(out, "Not in the table: %s, because there were too many call sites.",
			  PLURAL_TEXT(r->findings.overlaps.without_row, "operation", "operations"));
	free(list);
}
