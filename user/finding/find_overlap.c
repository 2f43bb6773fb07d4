/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Finds nonblocking operations whose transfers made progress only while the program waited for them
 * (analysis/overlap.h).
 */
#include <stdlib.h>

#include "analysis/site_times.h"
#include "analysis/table.h"
#include "lib/human.h"
#include "lib/log.h"
#include "finding/find.h"

/* At least 1/SAVED_PART of the operations must have waited for a transfer that could be hidden. */
#define SAVED_PART 4

/* Rows whose operations complete in the same call form one finding. */
static bool together(const struct overlap_row *a, const struct overlap_row *b)
{
	return a->key.done == b->key.done && !site_compare(&a->key.done_site, &b->key.done_site);
}

static int row_compare(const void *va, const void *vb)
{
	const struct overlap_key *a = &((const struct overlap_row *)va)->key,
				 *b = &((const struct overlap_row *)vb)->key;

	if (a->done->id != b->done->id)
		return a->done->id < b->done->id ? -1 : 1;
	return site_compare(&a->done_site, &b->done_site);
}

/* "MPI_Irecv, MPI_Isend": functions that started the operations of n rows */
static char *starts_text(char *text, const struct overlap_row *r, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = 0;

		while (k < i && r[k].key.start != r[i].key.start)
			k++;
		if (k == i)
			text = words(text, "%s%s", i ? ", " : "", r[i].key.start->name);
	}
	return text;
}

/*
 * Appends how many operations began to move their data only in the wait, according to the posts of
 * the functions that started them.
 */
static char *posts_text(const struct findings *f, char *text, const struct overlap_row *r,
			uint32_t n)
{
	uint64_t in_wait = 0, told = 0;

	for (uint32_t i = 0; f->transfers && i < f->transfers->nrow; i++) {
		const struct transfer_row *t = &f->transfers->row[i];
		uint32_t k = 0;

		while (k < n && r[k].key.start->id != t->func)
			k++;
		if (k == n || !finding_counts(f, model_process_get(f->model, t->process)))
			continue;
		in_wait += t->cnt[TRANSFER_IN_WAIT];
		told += t->cnt[TRANSFER_IN_CALL] + t->cnt[TRANSFER_MEANWHILE] +
			t->cnt[TRANSFER_IN_WAIT];
	}
	if (!in_wait)
		return text;
	return words(text,
		     "; by posts, %llu of %llu such operations began to move their data only when "
		     "waited for",
		     (unsigned long long)in_wait, (unsigned long long)told);
}

static struct overlap_row sum_of(const struct overlap_row *r, uint32_t n)
{
	struct overlap_row sum = {.cnt = 0};

	for (uint32_t i = 0; i < n; i++)
		table_row_add(&sum, &r[i], cnt);
	return sum;
}

static char *overlap_text(const struct findings *f, const struct overlap_row *r, uint32_t n,
			  const struct overlap_row *sum)
{
	char *text = words_site(f, xstrdup(r->key.done->name), &r->key.done_site),
	     bytes[HUMAN_BYTES];

	text = words_ns(text, " waited ", sum->saved_ns,
			" for transfers that computation could have hidden");
	text = words_count(words(text, ": "), sum->cnt, "operation", "operations");
	text = words(text, " (");
	text = starts_text(text, r, n);
	text = words(text, ") of %s", human_bytes(bytes, sizeof(bytes), sum->bytes / sum->cnt));
	text = words_ns(text, " on average, each with ", sum->computing_ns / sum->cnt,
			" of computation before");
	return posts_text(f, text, r, n);
}

void find_overlap(struct findings *f)
{
	bool *counts = xcalloc(model_process_count(f->model) + 1, sizeof(*counts));
	struct overlap_row *list;
	uint32_t n, end;

	for (uint32_t i = 0; i < model_process_count(f->model); i++)
		counts[i] = finding_counts(f, model_process_get(f->model, i));
	list = overlaps_list(&f->overlaps, counts, &n);
	free(counts);
	qsort(list, n, sizeof(*list), row_compare);
	for (uint32_t i = 0; i < n; i = end) {
		struct overlap_row sum;

		for (end = i; end < n && together(&list[i], &list[end]);)
			end++;
		sum = sum_of(&list[i], end - i);
		if (sum.saved_cnt < sum.cnt / SAVED_PART)
			continue;
		finding_add(f, &(struct finding){
				       .kind = "no_overlap",
				       .cost_ns = sum.saved_ns,
				       .text = overlap_text(f, &list[i], end - i, &sum),
				       .advice = advice_progress(f),
				       .process = FINDING_NOBODY,
			       });
	}
	free(list);
}
