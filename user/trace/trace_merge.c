/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Replays all streams in time order. Blocks wait in order of their earliest record and are decoded
 * when the replay reaches it. So only blocks whose times overlap are in memory together, and no
 * unopened block can hold a record earlier than the one handed out.
 */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "abi/event.h"
#include "lib/log.h"
#include "lib/progress.h"
#include "lib/table.h"
#include "lib/u64.h"
#include "trace/record_kinds.h"
#include "trace/trace_codec.h"
#include "trace/trace_file.h"
#include "trace/trace_limit.h"
#include "trace/trace_read.h"
#include "trace/trace_write.h"

struct trace;

struct trace_loss {
	uint64_t since_ns, until_ns; /* until_ns UINT64_MAX: lasts to the end */
	uint16_t ring;		     /* TRACE_RING_ANY or any ring that does not exist: all rings */
};
#define TRACE_RING_ANY UINT16_MAX

struct trace_losses {
	struct trace_loss *loss; /* owned, unordered */
	size_t cnt;
};

/* ---- losses ---- */

/*
 * Finds losses. Where blocks are missing (the scan found a hole), the neighbours bound their times:
 * the recorder writes a block at most FLUSH_NS after its first record, so neighbours in the file
 * are neighbours in time.
 */

#define FLUSH_NS UINT64_C(2000000000)

static void trace_losses_add(struct trace_losses *l, uint64_t since_ns, uint64_t until_ns,
			     uint16_t ring)
{
	if (since_ns > until_ns)
		return;
	*table_append(l->loss, l->cnt) = (struct trace_loss){since_ns, until_ns, ring};
}

/* Adds the losses that a block's records report. */
static void trace_losses_of_records(struct trace_losses *l, const uint64_t *words, uint32_t nwords)
{
	const struct pov_lost *rec;

	for (uint32_t w = 0; w < nwords; w += rec->hdr.size / 8u) {
		rec = (const struct pov_lost *)&words[w];
		if (rec->hdr.kind == POV_KIND_LOST && record_well_formed(&rec->hdr) &&
		    rec->class == POV_CLASS_SCHED)
			trace_losses_add(l, rec->since_ns, rec->hdr.ts_ns, rec->ring);
	}
}

static void hole_add(struct trace_losses *l, const struct block_ref *before,
		     const struct block_ref *after)
{
	uint64_t since_ns = 0, until_ns = UINT64_MAX;

	if (before && before->h.min_ts > FLUSH_NS)
		since_ns = before->h.min_ts - FLUSH_NS;
	if (after && after->h.max_ts < UINT64_MAX - FLUSH_NS)
		until_ns = after->h.max_ts + FLUSH_NS;
	trace_losses_add(l, since_ns, until_ns, TRACE_RING_ANY);
}

/* Adds the losses from missing blocks. */
static void trace_losses_of_holes(struct trace_losses *l, const struct trace *t)
{
	const struct block_ref *before = NULL;
	bool hole = false;

	for (size_t i = 0; i < t->nrefs; i++) {
		hole |= t->ref[i].missing_before;
		if (t->ref[i].h.type != TRACE_BLOCK_EVENTS)
			continue;
		if (hole)
			hole_add(l, before, &t->ref[i]);
		before = &t->ref[i];
		hole = false;
	}
	if (hole)
		hole_add(l, before, NULL);
}

/* Makes the record for the begin or end of a loss. */
static struct pov_lost trace_loss_record(const struct trace_loss *l, enum pov_kind kind,
					 uint64_t ts_ns)
{
	return (struct pov_lost){
		.hdr = {.size = sizeof(struct pov_lost), .kind = (uint8_t)kind, .ts_ns = ts_ns},
		.since_ns = l->since_ns,
		.ring = l->ring,
		.class = POV_CLASS_SCHED,
	};
}

/* ---- merging ---- */

/* Disorder within a block is short. Beyond this many moves per record, qsort() is cheaper. */
#define INSERTION_MOVES 32

struct order {
	uint64_t ts;
	uint32_t word; /* index of the record's first word */
};

/* A decoded block. Its buffers are reused for the next block. */
struct open_block {
	struct open_block *next_free;
	struct block_ref *ref;
	uint64_t *words;
	size_t words_room, order_room; /* bytes */
	uint32_t nwords;
	uint32_t at;	     /* next word if in order, else next entry of order[] */
	struct order *order; /* nrecords long */
	bool sorted;	     /* records are in time order; order[] is not used */
};

struct heap_entry {
	uint64_t ts;	      /* time of the block's next record, or of the loss's begin or end */
	uint64_t rank;	      /* breaks ties */
	struct open_block *b; /* NULL: a loss */
};

/*
 * Order at equal times: begins of losses; records by stream and place in the file; ends of losses.
 */
#define RANK_BITS 47
#define RANK_LOSS_BEGIN 0
#define RANK_STREAM 1
#define RANK_LOSS_END 0x10001
#define RANK(first, idx) ((uint64_t)(first) << RANK_BITS | (uint64_t)(idx))
#define RANK_IDX(rank) ((rank) & (RANK(1, 0) - 1))

struct trace_merge {
	struct join_merge *joined; /* merge of several traces, which does all the work; or NULL */
	struct trace *t;
	struct trace_merge_options opt;
	struct block_ref **wait; /* unopened blocks by min_ts; owned array of borrowed pointers */
	size_t nwait, wait_idx;
	struct heap_entry *heap;
	size_t nheap;
	struct open_block *pool;
	uint64_t open_bytes;
	bool advance;		    /* the top's record has been handed out */
	struct trace_losses losses; /* losses known so far */
	size_t nloss;		    /* number of losses in the heap or already reported */
	struct pov_lost loss;	    /* the loss handed out last */
};

/* ---- blocks ---- */

TABLE_ORDER(order_compare, struct order, u64_compare(a->ts, b->ts), u64_compare(a->word, b->word))

static void order_sort(struct order *o, uint32_t n)
{
	uint64_t moves = (uint64_t)n * INSERTION_MOVES;
	struct order x;
	uint32_t j;

	for (uint32_t i = 1; i < n; i++) {
		x = o[i];
		for (j = i; j && o[j - 1].ts > x.ts; j--, moves--) {
			o[j] = o[j - 1];
			if (!moves) {
				o[j - 1] = x;
				qsort(o, n, sizeof(*o), order_compare);
				return;
			}
		}
		o[j] = x;
	}
}

/* Walks the decoded records once. True if their times match the header. Also sets `sorted`. */
static bool block_check(struct open_block *b)
{
	const struct block_ref *ref = b->ref;
	uint64_t prev = 0, ts, min = UINT64_MAX, max = 0, bits = 0;

	b->sorted = true;
	for (uint32_t w = 0; w < b->nwords; w += (uint32_t)(b->words[w] & 0xffff) / 8) {
		ts = b->words[w + 1];
		if (ts < prev)
			b->sorted = false;
		if (ts < min)
			min = ts;
		if (ts > max)
			max = ts;
		prev = ts;
		bits |= b->words[w];
	}
	b->ref->may_have_losses = bits & POV_KIND_LOST
						 << 16; /* a bit that hardly any other kind has */
	return min == ref->h.min_ts && max == ref->h.max_ts;
}

static void block_sort(struct open_block *b)
{
	uint32_t n = 0;

	b->order = trace_scratch(b->order, &b->order_room, b->ref->h.nrecords * sizeof(*b->order));
	for (uint32_t w = 0; w < b->nwords; w += (uint32_t)(b->words[w] & 0xffff) / 8)
		b->order[n++] = (struct order){b->words[w + 1], w};
	order_sort(b->order, n);
}

static const struct pov_hdr *block_record(const struct open_block *b)
{
	uint32_t w = b->sorted ? b->at : b->order[b->at].word;

	return (const struct pov_hdr *)&b->words[w];
}

static bool block_at_end(const struct open_block *b)
{
	return b->sorted ? b->at >= b->nwords : b->at >= b->ref->h.nrecords;
}

/* Moves to the next valid record. False at the block's end. */
static bool block_settle(struct trace_merge *m, struct open_block *b)
{
	const struct pov_hdr *rec;

	for (; !block_at_end(b); b->at += b->sorted ? rec->size / 8u : 1) {
		rec = block_record(b);
		if (record_well_formed(rec))
			return true;
		if (!b->ref->checked)
			m->t->sum.bad_records++;
	}
	b->ref->checked = true;
	return false;
}

static void block_close(struct trace_merge *m, struct open_block *b)
{
	m->open_bytes -= b->ref->h.record_bytes;
	b->next_free = m->pool;
	m->pool = b;
}

/*
 * Checks that there is memory for one more open block, in addition to the open ones and the losses.
 * A thread's polls may be written much later than they happened, so the blocks of many threads can
 * overlap. But recordings shrink 10 to 50 times, so only a made-up file needs more.
 */
static int memory_check(const struct trace_merge *m, const struct block_ref *more)
{
	uint64_t most = trace_limit(TRACE_OPEN_BASE, TRACE_OPEN_RATIO, m->t->size);
	uint64_t loss_bytes = m->losses.cnt * (sizeof(*m->losses.loss) + sizeof(*m->heap));

	if (m->open_bytes + loss_bytes + more->h.record_bytes <= most)
		return 0;
	log_error("trace: %s: more than %" PRIu64 " MiB of records overlap in time, more than "
		  "a recording of its size holds; the file is damaged or made up",
		  m->t->path, most >> 20);
	return -E2BIG;
}

/* 0 and *out; -EBADMSG if the block is damaged (reported and counted); other -errno (printed). */
static int block_open(struct trace_merge *m, struct block_ref *ref, struct open_block **out)
{
	struct open_block *b = m->pool;
	const uint8_t *raw;
	int err = memory_check(m, ref);

	if (!err)
		err = trace_block_load(m->t, ref, &raw);
	if (err)
		return err;
	if (b)
		m->pool = b->next_free;
	else
		b = xcalloc(1, sizeof(*b));
	b->words = trace_scratch(b->words, &b->words_room, ref->h.record_bytes);
	b->ref = ref;
	b->nwords = ref->h.record_bytes / 8;
	b->at = 0;
	m->open_bytes += ref->h.record_bytes;
	if (codec_decode(raw, ref->h.raw_len, ref->h.nrecords, ref->h.record_bytes, b->words) ||
	    !block_check(b)) {
		block_close(m, b);
		return trace_block_reject(m->t, ref, "its records cannot be decoded");
	}
	if (!b->sorted)
		block_sort(b);
	*out = b;
	return 0;
}

/* ---- the heap ---- */

static bool entry_before(const struct heap_entry *a, const struct heap_entry *b)
{
	return a->ts < b->ts || (a->ts == b->ts && a->rank < b->rank);
}

static void heap_sift_down(struct trace_merge *m)
{
	struct heap_entry x = m->heap[0];
	size_t i = 0, child;

	while ((child = 2 * i + 1) < m->nheap) {
		if (child + 1 < m->nheap && entry_before(&m->heap[child + 1], &m->heap[child]))
			child++;
		if (!entry_before(&m->heap[child], &x))
			break;
		m->heap[i] = m->heap[child];
		i = child;
	}
	m->heap[i] = x;
}

static void heap_push(struct trace_merge *m, struct heap_entry x)
{
	size_t i = m->nheap;

	(void)table_append(m->heap, m->nheap);
	for (; i && entry_before(&x, &m->heap[(i - 1) / 2]); i = (i - 1) / 2)
		m->heap[i] = m->heap[(i - 1) / 2];
	m->heap[i] = x;
}

static void heap_pop(struct trace_merge *m)
{
	if (m->heap[0].b)
		block_close(m, m->heap[0].b);
	m->heap[0] = m->heap[--m->nheap];
	if (m->nheap)
		heap_sift_down(m);
}

/* ---- losses ---- */

/* Inserts the losses found since the last call. Everything before from_ns has been handed out. */
static void losses_take(struct trace_merge *m, uint64_t from_ns)
{
	for (; m->nloss < m->losses.cnt; m->nloss++) {
		uint64_t since_ns = m->losses.loss[m->nloss].since_ns;

		heap_push(m, (struct heap_entry){since_ns > from_ns ? since_ns : from_ns,
						 RANK(RANK_LOSS_BEGIN, m->nloss), NULL});
	}
}

/*
 * Finds losses before the first record: the file's holes, and those that the identity stream
 * reports.
 */
static int losses_find_early(struct trace_merge *m)
{
	struct block_ref *ref;
	struct open_block *b;
	int err = 0;

	trace_losses_of_holes(&m->losses, m->t);
	for (size_t i = 0; i < m->nwait && !err; i++) {
		ref = m->wait[i];
		if (ref->h.stream != TRACE_STREAM_TASKS || (ref->checked && !ref->may_have_losses))
			continue;
		err = block_open(m, ref, &b);
		if (!err) {
			trace_losses_of_records(&m->losses, b->words, b->nwords);
			block_close(m, b);
		} else if (err == -EBADMSG) {
			err = 0;
		}
	}
	losses_take(m, 0);
	return err;
}

/* Adds the losses that a newly opened block reports or, if it is damaged (b NULL), is itself. */
static void losses_notice(struct trace_merge *m, const struct block_ref *ref,
			  const struct open_block *b)
{
	if (!m->opt.losses || ref->h.stream == TRACE_STREAM_TASKS || (b && !ref->may_have_losses))
		return;
	if (!b)
		trace_losses_add(&m->losses, ref->h.min_ts, ref->h.max_ts, ref->h.stream);
	else
		trace_losses_of_records(&m->losses, b->words, b->nwords);
	losses_take(m, ref->h.min_ts);
}

static const struct pov_hdr *loss_record(struct trace_merge *m)
{
	const struct heap_entry *top = &m->heap[0];
	const struct trace_loss *l = &m->losses.loss[RANK_IDX(top->rank)];
	bool begins = top->rank < RANK(RANK_STREAM, 0);

	m->loss = trace_loss_record(l, begins ? POV_KIND_LOSS_BEGIN : POV_KIND_LOSS_END, top->ts);
	return &m->loss.hdr;
}

/* Moves from the loss's begin to its end, if it has one. */
static void loss_advance(struct trace_merge *m)
{
	struct heap_entry *top = &m->heap[0];
	uint64_t idx = RANK_IDX(top->rank), until_ns = m->losses.loss[idx].until_ns;

	if (top->rank >= RANK(RANK_STREAM, 0) || until_ns == UINT64_MAX) {
		heap_pop(m);
		return;
	}
	top->ts = until_ns;
	top->rank = RANK(RANK_LOSS_END, idx);
	heap_sift_down(m);
}

/* ---- merging ---- */

TABLE_ORDER(wait_compare, struct block_ref *, u64_compare((*a)->h.min_ts, (*b)->h.min_ts),
	    u64_compare((uintptr_t)*a, (uintptr_t)*b))

static bool block_is_wanted(const struct trace_merge *m, const struct block_ref *ref)
{
	if (ref->h.type != TRACE_BLOCK_EVENTS || (ref->bad && !m->opt.losses))
		return false;
	return !m->opt.tasks_only || ref->h.stream == TRACE_STREAM_TASKS;
}

/* Passes over the identities alone are too short to show progress. */
static void progress_prepare(const struct trace_merge *m)
{
	uint64_t records = 0;

	for (size_t i = 0; i < m->nwait; i++)
		records += m->wait[i]->h.nrecords;
	if (!m->opt.tasks_only)
		progress_expect(records);
}

int trace_merge_open(struct trace *t, const struct trace_merge_options *opt,
		     struct trace_merge **out)
{
	struct trace_merge *m = xcalloc(1, sizeof(*m));
	int err;

	m->t = t;
	if (opt)
		m->opt = *opt;
	if (t->joined) {
		err = join_merge_open(t->joined, opt, &m->joined);
		if (err)
			free(m);
		else
			*out = m;
		return err;
	}
	m->wait = xcalloc(t->nrefs + 1, sizeof(struct block_ref *));
	for (size_t i = 0; i < t->nrefs; i++)
		if (block_is_wanted(m, &t->ref[i]))
			m->wait[m->nwait++] = &t->ref[i];
	qsort(m->wait, m->nwait, sizeof(*m->wait), wait_compare);
	progress_prepare(m);
	err = m->opt.losses ? losses_find_early(m) : 0;
	if (err)
		trace_merge_close(m);
	else
		*out = m;
	return err;
}

/* Opens the next waiting block. Returns 0 even if it is damaged or empty. */
static int merge_open_next(struct trace_merge *m)
{
	struct block_ref *ref = m->wait[m->wait_idx++];
	struct open_block *b = NULL;
	int err = block_open(m, ref, &b);

	if (err && err != -EBADMSG)
		return err;
	if (!m->opt.tasks_only)
		progress_add(ref->h.nrecords);
	losses_notice(m, ref, b);
	if (!b)
		return 0;
	if (!block_settle(m, b)) {
		block_close(m, b);
		return 0;
	}
	heap_push(m, (struct heap_entry){block_record(b)->ts_ns,
					 RANK(RANK_STREAM + ref->h.stream, ref - m->t->ref), b});
	return 0;
}

static void merge_advance(struct trace_merge *m)
{
	struct open_block *b = m->heap[0].b;

	if (!b) {
		loss_advance(m);
		return;
	}
	b->at += b->sorted ? block_record(b)->size / 8u : 1;
	if (!block_settle(m, b)) {
		heap_pop(m);
		return;
	}
	m->heap[0].ts = block_record(b)->ts_ns;
	heap_sift_down(m);
}

int trace_merge_next(struct trace_merge *m, const struct pov_hdr **rec)
{
	const struct open_block *b;
	int err;

	if (m->joined)
		return join_merge_next(m->joined, rec);
	if (m->advance)
		merge_advance(m);
	m->advance = false;
	while (m->wait_idx < m->nwait &&
	       (!m->nheap || m->wait[m->wait_idx]->h.min_ts <= m->heap[0].ts)) {
		err = merge_open_next(m);
		if (err)
			return err;
	}
	if (!m->nheap)
		return 0;
	b = m->heap[0].b;
	*rec = b ? block_record(b) : loss_record(m);
	m->advance = true;
	return 1;
}

void trace_merge_close(struct trace_merge *m)
{
	struct open_block *b;

	if (!m)
		return;
	join_merge_close(m->joined);
	while (m->nheap)
		heap_pop(m);
	while ((b = m->pool)) {
		m->pool = b->next_free;
		free(b->words);
		free(b->order);
		free(b);
	}
	free(m->losses.loss);
	free(m->heap);
	free(m->wait);
	free(m);
}
