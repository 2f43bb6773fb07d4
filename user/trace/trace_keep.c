/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * All blocks are in one list in order of arrival, each with its segment, because a block of an
 * older segment may come late. Segments are only removed at the front. A file holds references to
 * its blocks, so they can be dropped here while it is written.
 */
#include "trace/trace_store.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/log.h"
#include "lib/table.h"
#include "trace/trace_append.h"

#define SHARE 8 /* a segment takes 1/SHARE of the byte limit */

struct kept_block {
	struct kept_block *next;
	_Atomic uint32_t held; /* references from the list and from files being written */
	struct keep_tag tag;
	uint64_t gone_ns; /* meta objects: time by which the process that it describes had ended */
	struct trace_block_header h;
	uint8_t payload[];
};

struct keep_segment {
	uint64_t begin_ns, bytes;
	bool whole;
	struct trace_tally tally;
};

struct keep {
	uint64_t span_ns, limit; /* requested amounts; 0: unlimited */
	/* guards the following members, except those that only one thread writes */
	pthread_mutex_t lock;
	struct kept_block *head, **tail;
	struct keep_segment *segment;
	uint64_t first; /* number of segment[0] */
	size_t cnt;
	uint64_t bytes; /* size of all segments */
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

/* Removes the blocks that drop() selects. The lock must be held. */
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

static bool block_drop_all(const struct keep *k, struct kept_block *b)
{
	return true;
}

void keep_free(struct keep *k)
{
	if (!k)
		return;
	blocks_drop(k, block_drop_all);
	pthread_mutex_destroy(&k->lock);
	free(k->segment);
	free(k);
}

/* ---- segments ---- */

static bool block_in_segment(const struct keep_tag *tag, uint8_t type)
{
	return tag->place == TRACE_PLACE_BEGIN ||
	       (tag->place == TRACE_PLACE_FILE && type == TRACE_BLOCK_EVENTS);
}

/* True for blocks of dropped segments, and for descriptions of processes that ended before. */
static bool block_drop_old(const struct keep *k, struct kept_block *b)
{
	if (block_in_segment(&b->tag, b->h.type))
		return b->tag.segment < k->first;
	return b->gone_ns <= k->segment[0].begin_ns;
}

/* True if the segments from i on are shorter than the requested span. */
static bool segments_too_short(const struct keep *k, size_t i)
{
	return k->span_ns && k->segment[i].begin_ns + k->span_ns > k->segment[k->cnt - 1].begin_ns;
}

/* Number of segments that can be dropped when a new one begins. The last finished one stays. */
static size_t segments_old(const struct keep *k)
{
	uint64_t kept = k->bytes, behind = k->bytes;
	size_t old = 0;

	for (size_t i = 1; i + 1 < k->cnt && !segments_too_short(k, i); i++) {
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
	blocks_drop(k, block_drop_old);
}

void keep_segment_begin(struct keep *k, uint64_t begin_ns, bool whole)
{
	size_t old;

	pthread_mutex_lock(&k->lock);
	*table_append(k->segment, k->cnt) = (struct keep_segment){.begin_ns = begin_ns,
								  .whole = whole};
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

	pthread_mutex_lock(&k->lock);
	for (size_t i = k->cnt; i; i--) {
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
		table_row_add(&out->tally, &k->segment[i].tally, records);
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
	if (block_in_segment(tag, h->type)) {
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

/* The parts of a file, in order. */
enum part { PART_HEAD, PART_METAS, PART_BEGIN, PART_EVENTS, PART_TAIL, PART_CNT };

static bool block_in_part(const struct keep *k, const struct kept_block *b, enum part part,
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

static bool block_drop_used(const struct keep *k, struct kept_block *b)
{
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
			if (block_in_part(k, b, part, until)) {
				atomic_fetch_add(&b->held, 1);
				out->block[out->cnt++] = b;
			}
	blocks_drop(k, block_drop_used);
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

/* ---- writing a file from the blocks ---- */

struct dump {
	struct trace_file created;
	char *path;
	struct append_file file;
	struct kept_list list;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool running, over; /* guarded by lock */
};

int dump_new(const char *path, const struct trace_writer_options *opt, struct dump **out)
{
	struct dump *d = xcalloc(1, sizeof(*d));
	int fd = -1, err;

	err = trace_file_create(path, opt, &d->created, &fd);
	if (err) {
		free(d);
		return err;
	}
	d->path = xstrdup(path);
	d->file = (struct append_file){
		.fd = fd, .path = d->path, .fate = "it is removed", .max_bytes = UINT64_MAX};
	pthread_mutex_init(&d->lock, NULL);
	pthread_cond_init(&d->changed, NULL);
	*out = d;
	return 0;
}

static void dump_set_over(struct dump *d)
{
	pthread_mutex_lock(&d->lock);
	d->over = true;
	pthread_cond_signal(&d->changed);
	pthread_mutex_unlock(&d->lock);
}

static void *dump_thread(void *arg)
{
	struct dump *d = arg;

	d->file.err = append_begin(&d->file);
	kept_write(&d->list, &d->file);
	dump_set_over(d);
	return NULL;
}

/*
 * The thread takes no signals: they belong to the main thread, and exceeding a file size limit must
 * return an error code.
 */
int dump_start(struct dump *d, struct keep *k, uint64_t until)
{
	sigset_t all, old;
	int err;

	keep_take(k, until, &d->list);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	/* A waiting thread must not see `over` before this is done. */
	pthread_mutex_lock(&d->lock);
	err = pthread_create(&d->thread, NULL, dump_thread, d);
	d->running = !err;
	pthread_mutex_unlock(&d->lock);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (!err)
		return 0;
	log_error("trace: cannot start a thread that writes %s: %s", d->path, strerror(err));
	d->file.err = -err;
	kept_write(&d->list, &d->file);
	dump_set_over(d);
	return -err;
}

int dump_wait(struct dump *d, uint64_t *file_bytes)
{
	int err;

	pthread_mutex_lock(&d->lock);
	while (!d->over)
		pthread_cond_wait(&d->changed, &d->lock);
	pthread_mutex_unlock(&d->lock);
	if (d->running)
		pthread_join(d->thread, NULL);
	err = append_close(&d->file);
	if (err)
		trace_file_undo(&d->created);
	else
		*file_bytes = d->file.bytes;
	trace_file_release(&d->created);
	pthread_mutex_destroy(&d->lock);
	pthread_cond_destroy(&d->changed);
	free(d->path);
	free(d);
	return err;
}

int dump_poll(struct dump *d, uint64_t *file_bytes)
{
	bool is_over;

	pthread_mutex_lock(&d->lock);
	is_over = d->over;
	pthread_mutex_unlock(&d->lock);
	return is_over ? dump_wait(d, file_bytes) : -EAGAIN;
}
