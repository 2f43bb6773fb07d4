/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * All blocks lie in one list, as they came, each with its segment: a block of an older segment may come late. Segments only ever go
 * from the front. A file holds the blocks that it is made of, so that they can be dropped here while it is written.
 */
#include "trace/trace_keep.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"

#define SHARE 8 /* bytes: a segment has this part of all */

struct kept_block {
	struct kept_block *next;
	_Atomic uint32_t held; /* by the list and by files that are being written */
	struct keep_tag tag;
	uint64_t gone_ns; /* when what it is about was no more */
	struct trace_block_header h;
	uint8_t payload[];
};

struct keep_segment {
	uint64_t begin_ns, bytes;
	bool whole;
	struct trace_tally tally;
};

struct keep {
	uint64_t span_ns, limit; /* what is to be kept; 0: does not matter */
	pthread_mutex_t lock; /* guards what follows, but for what is written by one thread only */
	struct kept_block *head, **tail;
	struct keep_segment *segment;
	uint64_t first; /* number of segment[0] */
	size_t cnt, cap;
	uint64_t bytes; /* of segments */
};

struct keep *keep_new(uint64_t span_ns, uint64_t bytes)
{
	struct keep *k = xcalloc(1, sizeof(*k));

	k->span_ns = span_ns;
	k->limit = bytes;
	k->tail = &k->head;
	pthread_mutex_init(&k->lock, NULL);
	return k;
}

static void block_release(struct kept_block *b)
{
	if (atomic_fetch_sub(&b->held, 1) == 1)
		free(b);
}

/* Takes out those that drop says. The lock is held. */
static void blocks_drop(struct keep *k, bool (*drop)(const struct keep *k, struct kept_block *b))
{
	struct kept_block **link = &k->head, *b;

	while ((b = *link)) {
		if (!drop(k, b)) {
			link = &b->next;
			continue;
		}
		*link = b->next;
		block_release(b);
	}
	k->tail = link;
}

static bool drop_all(const struct keep *k, struct kept_block *b)
{
	(void)k;
	(void)b;
	return true;
}

void keep_free(struct keep *k)
{
	if (!k)
		return;
	blocks_drop(k, drop_all);
	pthread_mutex_destroy(&k->lock);
	free(k->segment);
	free(k);
}

/* ---- segments ---- */

static bool in_segment(const struct keep_tag *tag, uint8_t type)
{
	return tag->place == TRACE_PLACE_BEGIN ||
	       (tag->place == TRACE_PLACE_FILE && type == TRACE_BLOCK_EVENTS);
}

/* Only the oldest segment's beginning is ever read, but each of them may come to be the oldest. */
static bool drop_old(const struct keep *k, struct kept_block *b)
{
	if (in_segment(&b->tag, b->h.type))
		return b->tag.segment < k->first;
	return b->gone_ns <= k->segment[0].begin_ns;
}

/* Whether more must be kept than what the segments from i on have. */
static bool too_little(const struct keep *k, size_t i)
{
	return k->span_ns && k->segment[i].begin_ns + k->span_ns > k->segment[k->cnt - 1].begin_ns;
}

/* How many segments can go when a new one begins. The last one that has ended stays. */
static size_t segments_old(const struct keep *k)
{
	uint64_t kept = k->bytes, behind = k->bytes;
	size_t old = 0;

	for (size_t i = 1; i + 1 < k->cnt && !too_little(k, i); i++) {
		if (k->limit && kept <= k->limit - k->limit / SHARE)
			break;
		behind -= k->segment[i - 1].bytes;
		if (!k->segment[i].whole)
			continue;
		old = i;
		kept = behind;
	}
	return old;
}

static void segments_drop(struct keep *k, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++)
		k->bytes -= k->segment[i].bytes;
	k->cnt -= cnt;
	k->first += cnt;
	memmove(k->segment, k->segment + cnt, k->cnt * sizeof(*k->segment));
	blocks_drop(k, drop_old);
}

void keep_segment_begin(struct keep *k, uint64_t begin_ns, bool whole)
{
	size_t old;

	pthread_mutex_lock(&k->lock);
	if (k->cnt == k->cap) {
		k->cap = k->cap ? 2 * k->cap : 16;
		k->segment = xrealloc(k->segment, k->cap * sizeof(*k->segment));
	}
	k->segment[k->cnt++] = (struct keep_segment){.begin_ns = begin_ns, .whole = whole};
	old = segments_old(k);
	if (old)
		segments_drop(k, old);
	pthread_mutex_unlock(&k->lock);
}

bool keep_segment_of(const struct keep *k, uint64_t ts_ns, uint64_t *number)
{
	size_t i = k->cnt;

	while (i && k->segment[i - 1].begin_ns > ts_ns)
		i--;
	if (i)
		*number = k->first + i - 1;
	return i > 0;
}

uint64_t keep_newest(const struct keep *k)
{
	return k->first + k->cnt - 1;
}

bool keep_newest_full(struct keep *k)
{
	uint64_t bytes = 0;
	size_t i;

	pthread_mutex_lock(&k->lock);
	for (i = k->cnt; i; i--) {
		bytes += k->segment[i - 1].bytes;
		if (k->segment[i - 1].whole)
			break;
	}
	pthread_mutex_unlock(&k->lock);
	return k->limit && bytes >= k->limit / SHARE;
}

struct trace_tally *keep_tally(struct keep *k, uint64_t number)
{
	return &k->segment[number - k->first].tally;
}

void keep_sum(const struct keep *k, uint64_t until, struct trace_kept *out)
{
	*out = (struct trace_kept){.begin_ns = k->cnt ? k->segment[0].begin_ns : 0};
	for (size_t i = 0; i < k->cnt && k->first + i < until; i++)
		trace_tally_sum(&out->tally, &k->segment[i].tally);
}

uint64_t keep_bytes(struct keep *k)
{
	uint64_t bytes;

	pthread_mutex_lock(&k->lock);
	bytes = k->bytes;
	pthread_mutex_unlock(&k->lock);
	return bytes;
}

void keep_gone(struct keep *k, bool (*is_gone)(void *ctx, uint32_t pid), void *ctx, uint64_t ts_ns)
{
	pthread_mutex_lock(&k->lock);
	for (struct kept_block *b = k->head; b; b = b->next)
		if (b->tag.pid && b->gone_ns == UINT64_MAX && is_gone(ctx, b->tag.pid))
			b->gone_ns = ts_ns;
	pthread_mutex_unlock(&k->lock);
}

/* ---- blocks ---- */

void keep_add(struct keep *k, const struct keep_tag *tag, const struct trace_block_header *h,
	      const void *payload)
{
	struct kept_block *b = xmalloc(sizeof(*b) + h->stored_len);
	uint64_t bytes = sizeof(*b) + h->stored_len;

	*b = (struct kept_block){.held = 1, .tag = *tag, .gone_ns = UINT64_MAX, .h = *h};
	memcpy(b->payload, payload, h->stored_len);
	pthread_mutex_lock(&k->lock);
	if (in_segment(tag, h->type)) {
		if (tag->segment < k->first) {
			pthread_mutex_unlock(&k->lock);
			free(b);
			return;
		}
		k->segment[tag->segment - k->first].bytes += bytes;
		k->bytes += bytes;
	}
	*k->tail = b;
	k->tail = &b->next;
	pthread_mutex_unlock(&k->lock);
}

/* The parts of a file, in its order. */
enum part { PART_HEAD, PART_METAS, PART_BEGIN, PART_EVENTS, PART_TAIL, PART_CNT };

static bool is_part(const struct keep *k, const struct kept_block *b, enum part part,
		    uint64_t until)
{
	bool events = b->h.type == TRACE_BLOCK_EVENTS;

	switch (b->tag.place) {
	case TRACE_PLACE_HEAD:
		return part == PART_HEAD;
	case TRACE_PLACE_TAIL:
		return part == PART_TAIL;
	case TRACE_PLACE_BEGIN:
		return part == PART_BEGIN && b->tag.segment == k->first;
	default:
		return events ? part == PART_EVENTS && b->tag.segment < until : part == PART_METAS;
	}
}

static bool drop_used(const struct keep *k, struct kept_block *b)
{
	(void)k;
	return b->tag.place == TRACE_PLACE_HEAD || b->tag.place == TRACE_PLACE_TAIL;
}

void keep_take(struct keep *k, uint64_t until, struct kept_list *out)
{
	size_t cnt = 0;

	pthread_mutex_lock(&k->lock);
	for (const struct kept_block *b = k->head; b; b = b->next)
		cnt++;
	*out = (struct kept_list){.block = xcalloc(cnt + 1, sizeof(struct kept_block *))};
	for (enum part part = 0; part < PART_CNT; part++)
		for (struct kept_block *b = k->head; b; b = b->next)
			if (is_part(k, b, part, until)) {
				atomic_fetch_add(&b->held, 1);
				out->block[out->cnt++] = b;
			}
	blocks_drop(k, drop_used);
	pthread_mutex_unlock(&k->lock);
}

int kept_write(struct kept_list *list, struct append_file *f)
{
	int err = 0;

	for (size_t i = 0; i < list->cnt; i++) {
		struct trace_block_header h = list->block[i]->h;

		if (!err)
			err = append_block(f, &h, list->block[i]->payload);
		block_release(list->block[i]);
	}
	free(list->block);
	return err ? err : append_end(f);
}
