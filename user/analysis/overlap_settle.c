/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Computes how much of an operation was hidden and how much was left, and sums this up. */
#include "analysis/overlap_settle.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/find.h"
#include "analysis/functions.h"
#include "lib/human.h"
#include "lib/log.h"
#include "lib/table.h"

/* Time that a message of this size takes. 0: unknown. */
static uint64_t alone_ns(const struct overlaps *a, int64_t bytes, bool other_host)
{
	const struct overlap_alone *alone =
		bytes > 0 ? map_get(&a->alone, overlap_alone_key(bytes, other_host)) : NULL;
	uint64_t n;

	if (!alone)
		return 0;
	n = alone->cnt < OVERLAP_ALONE_MAX ? alone->cnt : OVERLAP_ALONE_MAX;
	return alone->sorted[(n - 1) / 2];
}

/* ---- rows ---- */

static bool key_same(const struct overlap_key *a, const struct overlap_key *b)
{
	return a->start == b->start && a->done == b->done && a->process == b->process &&
	       a->bucket == b->bucket && !site_compare(&a->start_site, &b->start_site) &&
	       !site_compare(&a->done_site, &b->done_site);
}

static uint64_t hash_mix(uint64_t hash, uint64_t value)
{
	return (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
}

/* A hash: sites for which site_compare returns 0 have the same value. */
static uint64_t place_of(const struct model_site *s)
{
	return s->module ? s->offset : s->address;
}

static uint64_t key_hash(const struct overlap_key *k)
{
	uint64_t hash = hash_mix(k->start->id, k->done->id);

	hash = hash_mix(hash, (uint64_t)k->process << 8 | k->bucket);
	hash = hash_mix(hash, place_of(&k->start_site));
	return hash_mix(hash, place_of(&k->done_site));
}

/* NULL: there is no room for another row. */
static struct overlap_row *row_of(struct map *rows, uint32_t *nrow, const struct overlap_key *key)
{
	uint64_t hash = key_hash(key);
	struct overlap_row *first = map_get(rows, hash), *r = first;

	while (r && !key_same(&r->key, key))
		r = r->next;
	if (r || *nrow >= OVERLAP_ROWS_MAX)
		return r;
	r = xcalloc(1, sizeof(*r));
	r->key = *key;
	r->next = first;
	map_set(rows, hash, r);
	++*nrow;
	return r;
}

/* ---- one call ---- */

/* End of the part of the call in which others had not posted yet. */
static uint64_t late_until(const struct overlap_call *c)
{
	uint64_t ns = c->begin_ns;

	for (uint32_t i = 0; i < c->nop; i++)
		if (c->op[i].other_begin_ns > ns)
			ns = c->op[i].other_begin_ns;
	return ns < c->end_ns ? ns : c->end_ns;
}

static uint64_t others_away(const struct overlap_call *c)
{
	uint64_t ns = 0;

	for (uint32_t i = 0; i < c->nop; i++)
		if (c->op[i].other_away_ns > ns)
			ns = c->op[i].other_away_ns;
	return ns;
}

static bool is_sure(const struct overlap_call *c)
{
	return !table_any(c->nop, i, c->op[i].unsure || c->op[i].sends || c->op[i].receives);
}

/* Share of one operation in what is left: by bytes if all sizes are known, else equal parts. */
static uint64_t share_of(const struct overlap_call *c, uint32_t i, uint64_t left_ns)
{
	double bytes = 0;

	for (uint32_t k = 0; k < c->nop; k++) {
		if (c->op[k].bytes < 0)
			return left_ns / c->nop;
		bytes += (double)c->op[k].bytes;
	}
	return bytes > 0 ? (uint64_t)((double)left_ns * (double)c->op[i].bytes / bytes) :
			   left_ns / c->nop;
}

/*
 * The part of left_ns that computation could have hidden. Uses the earliest computation that hides
 * nothing else yet.
 */
static uint64_t saved_of(struct overlaps *a, const struct overlap_call *c,
			 const struct overlap_op *op, uint64_t left_ns)
{
	struct overlap_thread *t = &a->thread[c->thread];
	uint64_t from_ns = op->computed_from_ns, to_ns = from_ns + op->computing_ns, room_ns;

	from_ns = u64_max(from_ns, t->used_ns);
	room_ns = to_ns > from_ns ? to_ns - from_ns : 0;
	/* computation counts only after the other side had posted */
	if (op->other_begin_ns > op->posted_ns) {
		uint64_t most_ns = op->other_begin_ns < c->begin_ns ?
					   c->begin_ns - op->other_begin_ns :
					   0;

		room_ns = u64_min(most_ns, room_ns);
	}
	left_ns = u64_min(left_ns, room_ns);
	if (left_ns)
		t->used_ns = from_ns + left_ns;
	return left_ns;
}

static bool is_worth(const struct overlap_op *op, uint64_t left_ns)
{
	return left_ns >= OVERLAP_LEAST_NS && left_ns >= op->computing_ns * OVERLAP_LEAST_PCT / 100;
}

static void ratio_add(struct overlap_row *r, const struct overlap_call *c,
		      const struct overlap_op *op, uint64_t comm_ns)
{
	uint64_t from_ns = u64_max(op->begin_ns, op->other_begin_ns);
	uint64_t to_ns = u64_max(op->other_end_ns, c->end_ns);
	uint64_t start_ns = from_ns < op->posted_ns ? op->posted_ns - from_ns : 0;
	uint64_t comp_ns = from_ns < c->begin_ns ? c->begin_ns - from_ns : 0;

	comp_ns = u64_min(comp_ns, op->outside_ns);
	if (comp_ns * OVERLAP_COMPUTED_PART < comm_ns)
		return;
	r->compared++;
	r->measured_ns += start_ns + comp_ns + to_ns - c->begin_ns;
	r->longer_ns += u64_max(comm_ns, comp_ns);
	r->shorter_ns += u64_min(comm_ns, comp_ns);
}

void overlap_call_settle(struct overlaps *a, const struct overlap_call *c)
{
	uint64_t late_ns = late_until(c) - c->begin_ns, left_ns = c->end_ns - c->begin_ns - late_ns;
	bool sure = is_sure(c);
	uint64_t away_ns = c->runnable_ns + others_away(c);

	left_ns = left_ns > away_ns ? left_ns - away_ns : 0;
	for (uint32_t i = 0; i < c->nop; i++) {
		const struct overlap_op *op = &c->op[i];
		struct overlap_row *r = row_of(&a->rows, &a->nrow, &op->key);
		uint64_t comm_ns, saved_ns;

		if (!r) {
			a->without_row++;
			continue;
		}
		r->cnt++;
		r->bytes += op->bytes > 0 ? (uint64_t)op->bytes : 0;
		r->outside_ns += op->outside_ns;
		r->computing_ns += op->computing_ns;
		r->wait_ns += c->end_ns - c->begin_ns;
		r->late_ns += late_ns;
		r->left_ns += left_ns;
		r->unsure += !sure;
		r->other_host_cnt += op->other_host;
		saved_ns = 0;
		if (sure && is_worth(op, left_ns))
			saved_ns = saved_of(a, c, op, share_of(c, i, left_ns));
		r->saved_ns += saved_ns;
		r->saved_cnt += saved_ns != 0;
		comm_ns = alone_ns(a, op->bytes, op->other_host);
		r->alone_cnt += comm_ns != 0;
		r->alone_ns += comm_ns;
		if (sure && c->nop == 1 && comm_ns)
			ratio_add(r, c, op, comm_ns);
	}
}

/* ---- the result ---- */

double overlap_row_ratio(const struct overlap_row *r)
{
	return r->compared ?
		       ((double)r->measured_ns - (double)r->longer_ns) / (double)r->shorter_ns :
		       NAN;
}

TABLE_ORDER(row_compare, struct overlap_row, u64_compare(b->saved_ns, a->saved_ns),
	    u64_compare(b->wait_ns, a->wait_ns), u64_compare(a->key.start->id, b->key.start->id),
	    site_compare(&a->key.start_site, &b->key.start_site),
	    site_compare(&a->key.done_site, &b->key.done_site),
	    u64_compare(a->key.bucket, b->key.bucket))

struct overlap_row *overlaps_list(const struct overlaps *a, const bool *chosen, uint32_t *n)
{
	struct overlap_row *list, *chain, *sum;
	struct map sums = {0};
	uint32_t nsum = 0;

	for (size_t at = 0; (chain = map_next(&a->rows, &at, NULL));) {
		for (const struct overlap_row *r = chain; r; r = r->next) {
			struct overlap_key key = r->key;

			if (chosen && !chosen[key.process])
				continue;
			key.process = 0;
			sum = row_of(&sums, &nsum, &key);
			table_row_add(sum, r, cnt);
		}
	}
	list = xmalloc((nsum + 1) * sizeof(*list));
	*n = 0;
	for (size_t at = 0; (chain = map_next(&sums, &at, NULL));) {
		for (struct overlap_row *r = chain, *next; r; r = next) {
			next = r->next;
			list[(*n)++] = *r;
			free(r);
		}
	}
	map_release(&sums);
	qsort(list, *n, sizeof(*list), row_compare);
	return list;
}

/* ---- the finding: transfers that made progress only while the program waited for them ---- */

/* At least 1/SAVED_PART of the operations must have waited for a transfer that could be hidden. */
#define SAVED_PART 4

/* Rows whose operations complete in the same call form one finding. */
static bool is_together(const struct overlap_row *a, const struct overlap_row *b)
{
	return a->key.done == b->key.done && !site_compare(&a->key.done_site, &b->key.done_site);
}

TABLE_ORDER(done_compare, struct overlap_row, u64_compare(a->key.done->id, b->key.done->id),
	    site_compare(&a->key.done_site, &b->key.done_site))

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
	uint64_t in_wait = 0, all = 0;

	for (uint32_t i = 0; f->transfers && i < f->transfers->nrow; i++) {
		const struct transfer_row *t = &f->transfers->row[i];
		uint32_t k = 0;

		while (k < n && r[k].key.start->id != t->func)
			k++;
		if (k == n || !finding_counts(f, model_process_get(f->model, t->process)))
			continue;
		in_wait += t->cnt[TRANSFER_IN_WAIT];
		all += t->cnt[TRANSFER_IN_CALL] + t->cnt[TRANSFER_MEANWHILE] +
		       t->cnt[TRANSFER_IN_WAIT];
	}
	if (!in_wait)
		return text;
	return words(text,
		     "; by posts, %llu of %llu such operations began to move their data only when "
		     "waited for",
		     (unsigned long long)in_wait, (unsigned long long)all);
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
	char *text = words_site(f, xstrdup(r->key.done->name), &r->key.done_site);

	text = words(text, " waited %s for transfers that computation could have hidden: %s (",
		     ROUND_NS_TEXT(sum->saved_ns),
		     phrase_count(sum->cnt, "operation", "operations").text);
	text = words(starts_text(text, r, n),
		     ") of %s on average, each with %s of computation before",
		     phrase_bytes(sum->bytes / sum->cnt).text,
		     ROUND_NS_TEXT(sum->computing_ns / sum->cnt));
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
	qsort(list, n, sizeof(*list), done_compare);
	for (uint32_t i = 0; i < n; i = end) {
		struct overlap_row sum;

		for (end = i; end < n && is_together(&list[i], &list[end]);)
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
