/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A hash table with open addressing over (kind, string); the strings lie in one arena. A small
 * cache by pointer comes first, because most names are the same constant strings again and again.
 * The cache compares the text, too, so that a reused buffer does no harm.
 */
#include "timeline/pb.h"

#include <string.h>

#define CACHE_ENTRIES 1024 /* power of 2 */
#define INTERN_ENTRIES 32768
#define INTERN_BYTES (4u << 20)

struct intern_entry {
	uint64_t hash;	  /* 0: free */
	uint32_t at, len; /* in the arena; 0-terminated there */
	uint32_t iid;
	uint8_t kind;
};

struct intern_cached {
	const char *s;
	uint32_t at, iid;
	uint8_t kind;
};

struct intern {
	struct intern_entry *table;
	uint32_t mask, cnt;
	char *arena;
	size_t used, room;
	struct intern_cached cache[CACHE_ENTRIES];
	struct pb entry;
};

struct intern *intern_new(void)
{
	struct intern *in = xcalloc(1, sizeof(*in));
	uint32_t slots = 64;

	/* One packet may exceed the bound. */
	while (slots < 2 * (INTERN_ENTRIES + 1024))
		slots *= 2;
	in->table = xcalloc(slots, sizeof(*in->table));
	in->mask = slots - 1;
	return in;
}

void intern_free(struct intern *in)
{
	if (!in)
		return;
	pb_release(&in->entry);
	free(in->table);
	free(in->arena);
	free(in);
}

bool intern_full(const struct intern *in)
{
	return in->cnt >= INTERN_ENTRIES || in->used >= INTERN_BYTES;
}

void intern_reset(struct intern *in)
{
	memset(in->table, 0, ((size_t)in->mask + 1) * sizeof(*in->table));
	memset(in->cache, 0, sizeof(in->cache));
	in->cnt = 0;
	in->used = 0;
}

static uint64_t intern_hash(enum intern_kind kind, const char *s, size_t len)
{
	uint64_t h = 0xcbf29ce484222325u ^ kind;

	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)s[i]) * 0x100000001b3u;
	h ^= h >> 29;
	return h ? h : 1;
}

static uint32_t intern_arena_add(struct intern *in, const char *s, size_t len)
{
	uint32_t at = (uint32_t)in->used;

	if (in->used + len + 1 > in->room) {
		in->room = 2 * (in->used + len + 1) + 4096;
		in->arena = xrealloc(in->arena, in->room);
	}
	memcpy(in->arena + at, s, len);
	in->arena[at + len] = 0;
	in->used += len + 1;
	return at;
}

static void intern_send(struct intern *in, const struct intern_entry *e, struct pb *fresh)
{
	pb_reset(&in->entry);
	pb_u64(&in->entry, FIELD(iid, 1), e->iid);
	pb_text(&in->entry, FIELD(name, 2), in->arena + e->at); /* member `str` for a text */
	pb_message(fresh, e->kind, &in->entry);
}

static struct intern_entry *intern_find(struct intern *in, enum intern_kind kind, const char *s,
					struct pb *fresh)
{
	size_t len = strlen(s);
	uint64_t hash = intern_hash(kind, s, len);
	uint32_t i = (uint32_t)hash & in->mask;
	struct intern_entry *e;

	for (;; i = (i + 1) & in->mask) {
		e = &in->table[i];
		if (!e->hash)
			break;
		if (e->hash == hash && e->kind == kind && e->len == len &&
		    !memcmp(in->arena + e->at, s, len))
			return e;
	}
	*e = (struct intern_entry){.hash = hash,
				   .at = intern_arena_add(in, s, len),
				   .len = (uint32_t)len,
				   .iid = ++in->cnt,
				   .kind = (uint8_t)kind};
	intern_send(in, e, fresh);
	return e;
}

uint64_t intern_add(struct intern *in, enum intern_kind kind, const char *s, struct pb *fresh)
{
	uintptr_t key = (uintptr_t)s;
	struct intern_cached *c = &in->cache[(key ^ key >> 10 ^ kind) & (CACHE_ENTRIES - 1)];
	struct intern_entry *e;

	if (c->s == s && c->kind == kind && !strcmp(in->arena + c->at, s))
		return c->iid;
	e = intern_find(in, kind, s, fresh);
	*c = (struct intern_cached){s, e->at, e->iid, (uint8_t)kind};
	return e->iid;
}
