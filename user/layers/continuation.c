/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A short list per thread, in order of arrival, which within a call is order of elements. Bounded: the
 * oldest go first, and their call's array is then cut.
 */
#include "layers/continuation.h"

#include <stdlib.h>
#include <string.h>

#include "abi/event.h"
#include "lib/log.h"
#include "layers/arena.h"

#define CHUNKS_MAX 1024 /* of one thread: 512 KiB */

struct chunk {
	struct chunk *next;
	uint64_t begin_ns;
	uint32_t first;
	uint16_t size;
	uint8_t type, arg;
	uint8_t data[];
};

struct more_thread {
	struct chunk *head, **tail;
	uint32_t cnt;
};

static void chunk_pop(struct more_thread *t)
{
	struct chunk *c = t->head;

	t->head = c->next;
	if (!t->head)
		t->tail = &t->head;
	t->cnt--;
	free(c);
}

void continuations_add(struct continuations *m, const struct pov_more *rec)
{
	struct more_thread *t = map_get(&m->threads, rec->hdr.tid);
	struct chunk *c;

	if (rec->hdr.size < sizeof(*rec) || rec->size > rec->hdr.size - sizeof(*rec))
		return;
	if (!t) {
		t = xcalloc(1, sizeof(*t));
		t->tail = &t->head;
		map_set(&m->threads, rec->hdr.tid, t);
	}
	if (t->cnt == CHUNKS_MAX)
		chunk_pop(t);
	c = xmalloc(sizeof(*c) + rec->size);
	*c = (struct chunk){NULL, rec->begin_ns, rec->first, rec->size, rec->type, rec->arg};
	memcpy(c->data, rec->data, rec->size);
	*t->tail = c;
	t->tail = &c->next;
	t->cnt++;
}

static const struct chunk *chunk_find(const struct chunk *c, uint64_t begin_ns, uint8_t type,
				      uint8_t arg, uint32_t first)
{
	for (; c; c = c->next)
		if (c->begin_ns == begin_ns && c->type == type && c->arg == arg &&
		    c->first == first && c->size)
			return c;
	return NULL;
}

void continuations_join(const struct continuations *m, uint32_t tid, uint64_t begin_ns,
			uint8_t type, uint8_t arg, uint32_t width, struct arena *arena,
			const uint8_t **data, uint32_t *bytes)
{
	const struct more_thread *t = map_get(&m->threads, tid);
	const struct chunk *c;
	uint32_t total = *bytes, used = *bytes;
	uint8_t *joined;

	if (!t || !width || total % width)
		return;
	for (c = t->head; (c = chunk_find(c, begin_ns, type, arg, total / width)); c = c->next) {
		total += c->size;
		if (total % width)
			break;
	}
	total -= total % width;
	if (total == used)
		return;
	joined = arena_alloc(arena, total);
	if (used)
		memcpy(joined, *data, used);
	for (c = t->head; used < total; c = c->next) {
		uint32_t n;

		c = chunk_find(c, begin_ns, type, arg, used / width);
		n = c->size < total - used ? c->size : total - used;
		memcpy(joined + used, c->data, n);
		used += n;
	}
	*data = joined;
	*bytes = total;
}

void continuations_done(struct continuations *m, uint32_t tid, uint64_t begin_ns, uint8_t depth)
{
	struct more_thread *t = m->threads.cnt ? map_get(&m->threads, tid) : NULL;
	struct chunk **at, *c;

	if (!t || !t->cnt)
		return;
	for (at = &t->head; (c = *at);) {
		/* only calls around this one are still under way; they began before */
		if (depth && c->begin_ns < begin_ns) {
			at = &c->next;
			continue;
		}
		*at = c->next;
		t->cnt--;
		free(c);
	}
	t->tail = at;
}

static void thread_free(void *thread)
{
	struct more_thread *t = thread;

	while (t->head)
		chunk_pop(t);
	free(t);
}

void continuations_release(struct continuations *m)
{
	map_free(&m->threads, thread_free);
}
