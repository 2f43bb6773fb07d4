/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* A record is its fixed part, argument words, and fields, each padded to 8 bytes. */
#include "layers/call_parts.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/event.h"
#include "layers/signature.h"
#include "lib/log.h"

/* ---- memory of the current view ---- */

/*
 * A list of blocks, the newest and largest first. A reset keeps only that block, so an arena
 * settles at the size that its largest use needs.
 */

#define BLOCK_BYTES 16384

struct arena_block {
	struct arena_block *next;
	size_t bytes;
	uint64_t data[];
};

void *arena_alloc(struct arena *a, size_t bytes)
{
	struct arena_block *b = a->blocks;
	size_t need = (bytes + 7) & ~(size_t)7, size;
	void *p;

	if (!b || need > b->bytes - a->used) {
		size = b ? 2 * b->bytes : BLOCK_BYTES;
		if (size < need)
			size = need;
		b = xmalloc(sizeof(*b) + size);
		b->bytes = size;
		b->next = a->blocks;
		a->blocks = b;
		a->used = 0;
	}
	p = (char *)b->data + a->used;
	a->used += need;
	return p;
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
	va_list ap;
	char *text;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (len < 0)
		die("cannot format '%s'", fmt);
	text = arena_alloc(a, (size_t)len + 1);
	va_start(ap, fmt);
	vsnprintf(text, (size_t)len + 1, fmt, ap);
	va_end(ap);
	return text;
}

static void blocks_free(struct arena_block *b)
{
	struct arena_block *next;

	for (; b; b = next) {
		next = b->next;
		free(b);
	}
}

void arena_reset(struct arena *a)
{
	a->used = 0;
	if (!a->blocks)
		return;
	blocks_free(a->blocks->next);
	a->blocks->next = NULL;
}

void arena_release(struct arena *a)
{
	blocks_free(a->blocks);
	*a = (struct arena){0};
}

bool call_parts_open(struct call_parts *c, const struct func_info *info, const struct pov_call *rec)
{
	const struct signature *sig = &((const struct func_common *)info->priv)->sig;

	if (rec->hdr.size < sizeof(*rec) || (size_t)rec->nargs * 8 > rec->hdr.size - sizeof(*rec))
		return false;
	*c = (struct call_parts){
		.info = info,
		.sig = sig,
		.rec = rec,
		.begin_ns = rec->dur_ns < rec->hdr.ts_ns ? rec->hdr.ts_ns - rec->dur_ns : 0,
		.nargs = rec->nargs < sig->nargs ? rec->nargs : sig->nargs,
		.returned = !(rec->hdr.flags & (POV_CALL_OPEN | POV_CALL_UNWOUND)),
	};
	return true;
}

uint64_t call_parts_word(const struct call_parts *c, uint32_t arg)
{
	uint64_t word;

	if (arg >= c->nargs)
		return 0;
	memcpy(&word, (const uint8_t *)c->rec + sizeof(*c->rec) + 8 * (size_t)arg, sizeof(word));
	return word;
}

bool call_parts_value(const struct call_parts *c, const char *role, uint64_t *out)
{
	int arg = signature_find_value(c->sig, role);

	if (arg < 0 || !call_parts_known(c, (uint32_t)arg))
		return false;
	*out = call_parts_word(c, (uint32_t)arg);
	if (c->sig->arg[arg].type == SIG_INT)
		*out = (uint32_t)*out;
	return true;
}

bool call_parts_field(const struct call_parts *c, size_t *at, struct pov_field *head,
		      const uint8_t **data)
{
	const uint8_t *raw = (const uint8_t *)c->rec;
	size_t left;

	if (!*at)
		*at = sizeof(*c->rec) + 8 * (size_t)c->rec->nargs;
	left = c->rec->hdr.size - *at;
	if (left < sizeof(*head))
		return false;
	memcpy(head, raw + *at, sizeof(*head));
	*data = raw + *at + sizeof(*head);
	*at += sizeof(*head);
	left -= sizeof(*head);
	if ((((size_t)head->size + 7) & ~(size_t)7) > left)
		return false;
	*at += ((size_t)head->size + 7) & ~(size_t)7;
	return true;
}

const uint8_t *call_parts_data(const struct call_parts *c, const char *role, uint8_t type,
			       uint32_t off, size_t bytes)
{
	int arg = signature_find(c->sig, role);
	struct pov_field head;
	const uint8_t *data;
	size_t at = 0;

	while (call_parts_field(c, &at, &head, &data)) {
		if (head.arg == arg && head.type == type && head.size >= bytes &&
		    (type != POV_FIELD_MEMBER || head.cnt == off))
			return data;
	}
	return NULL;
}

struct call_value *call_view_add(struct call_view *out, const char *name, enum value_kind kind)
{
	struct call_value *v =
		&out->values[out->nvalues < CALL_VALUES_MAX ? out->nvalues++ : CALL_VALUES_MAX - 1];

	*v = (struct call_value){.name = name, .kind = kind};
	return v;
}

void call_view_add_arg(struct call_view *out, const struct call_parts *c, uint32_t arg)
{
	const struct sig_arg *a = &c->sig->arg[arg];
	uint64_t w = call_parts_word(c, arg);

	if (a->kind == SIG_KIND_NUM)
		call_view_add(out, a->role, VALUE_INT)->i = a->type == SIG_INT ? (int32_t)w :
										 (int64_t)w;
	else
		call_view_add(out, a->role, VALUE_HEX)->u = a->type == SIG_INT ? (uint32_t)w : w;
}

/* ---- continuation records ---- */

/*
 * A short list per thread, in the order of arrival. Within a call, that is the order of elements.
 * The list is bounded: the oldest entries are dropped first, and their call's array is then
 * truncated.
 */

#define CHUNKS_MAX 1024 /* per thread: 512 KiB */

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
	uint32_t total = *bytes, used = *bytes;
	uint8_t *joined;

	if (!t || !width || total % width)
		return;
	for (const struct chunk *c = t->head;
	     (c = chunk_find(c, begin_ns, type, arg, total / width)); c = c->next) {
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
	for (const struct chunk *c = t->head; used < total; c = c->next) {
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
		/* only calls around this one are still in flight; they began before it */
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

/* ---- memory read through arguments ---- */

void call_fields_read(struct call_fields *f, const struct call_parts *c,
		      uint32_t (*width_of)(const struct sig_arg *arg), struct layer_decoder *d)
{
	const struct pov_call *rec = c->rec;
	struct call_field *field;
	struct pov_field head;
	const uint8_t *data;
	size_t at = 0;

	while (call_parts_field(c, &at, &head, &data)) {
		if (head.arg >= c->nargs)
			continue;
		field = head.type == POV_FIELD_SUM ? &f->sum : &f->arg[head.arg];
		*field = (struct call_field){data, head.size, head.cnt};
		if (rec->hdr.flags & POV_CALL_MORE && head.type != POV_FIELD_SUM)
			continuations_join(&d->more, rec->hdr.tid, c->begin_ns, head.type, head.arg,
					   width_of(&c->sig->arg[head.arg]), &d->arena,
					   &field->data, &field->bytes);
	}
}

const struct call_field *call_fields_find(const struct call_fields *f, const struct call_parts *c,
					  const char *role, uint32_t bytes)
{
	int arg = signature_find(c->sig, role);

	return arg >= 0 && f->arg[arg].data && f->arg[arg].bytes >= bytes ? &f->arg[arg] : NULL;
}

/* ---- objects ---- */

struct map *objects_of(struct objects *o, uint32_t pid, uint32_t kind)
{
	return map_make(&o->by_kind, map_pair(pid, kind), sizeof(struct map));
}

void *object_get(const struct objects *o, uint32_t pid, uint32_t kind, uint64_t address)
{
	const struct map *objects = map_get(&o->by_kind, map_pair(pid, kind));

	return objects ? map_get(objects, address) : NULL;
}

static void kind_free(void *objects)
{
	map_free(objects, free);
	free(objects);
}

void objects_release(struct objects *o)
{
	map_free(&o->by_kind, kind_free);
}
