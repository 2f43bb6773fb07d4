/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A hash table from 64-bit keys to pointers. Any key is allowed, but NULL is not allowed as a
 * value. The pointed-to objects remain the caller's. A zeroed struct is an empty map. Not for
 * concurrent use.
 *
 *	struct map by_tid = {0};
 *	map_set(&by_tid, tid, thread);
 *	thread = map_get(&by_tid, tid);
 *	for (size_t at = 0; (thread = map_next(&by_tid, &at, &key));)
 *		thread_free(thread);
 *	map_release(&by_tid);
 */
#ifndef POV_LIB_MAP_H
#define POV_LIB_MAP_H

#include <stddef.h>
#include <stdint.h>

struct map_slot {
	uint64_t key;
	void *value; /* NULL: the slot is free */
};

struct map {
	struct map_slot *slots;
	size_t size; /* slots, a power of two, or 0 */
	size_t cnt;
};

/* Inline, as analyses look up several keys per record. */
static inline size_t map_home(const struct map *m, uint64_t key)
{
	/* multiplying by 2^64 / golden ratio spreads both consecutive ids and aligned addresses */
	return (size_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (m->size - 1);
}

/* The slot that holds key, or the free slot where it belongs. The map must have room. */
static inline struct map_slot *map_slot_of(const struct map *m, uint64_t key)
{
	size_t i = map_home(m, key);

	while (m->slots[i].value && m->slots[i].key != key)
		i = (i + 1) & (m->size - 1);
	return &m->slots[i];
}

/* The key of two numbers. */
static inline uint64_t map_pair(uint32_t a, uint32_t b)
{
	return (uint64_t)a << 32 | b;
}

/* NULL if the key is absent. */
static inline void *map_get(const struct map *m, uint64_t key)
{
	return m->cnt ? map_slot_of(m, key)->value : NULL;
}

/* Stores value (not NULL) and returns the one it replaces, or NULL. */
void *map_set(struct map *m, uint64_t key, void *value);
/* Returns the value; if the key is absent, adds `bytes` zero bytes, to be freed with free(). */
void *map_make(struct map *m, uint64_t key, size_t bytes);
/* Removes the value and returns it; NULL if the key is absent. */
void *map_remove(struct map *m, uint64_t key);
/*
 * Iterates over all values, in no order: returns the next one, or NULL at the end. Start with *at =
 * 0. If key is not NULL, *key is set. The map must not change meanwhile.
 */
void *map_next(const struct map *m, size_t *at, uint64_t *key);
void map_release(struct map *m); /* leaves an empty map; the values are not freed */
void map_free(struct map *m, void (*value_free)(void *value)); /* as map_release, with the values */

/*
 * Numbers for texts: equal texts have the same number, from 1 on, so that keys can hold numbers. 0
 * means no text. A zeroed struct is empty.
 */
struct names {
	struct names_entry *entry; /* by number; owned */
	uint32_t n, cap;
	struct map by_hash; /* hash → number of the last text with that hash */
};

uint32_t names_id(struct names *s, const char *text); /* NULL: 0 */
/* NULL for 0. Valid until names_release. */
const char *names_text(const struct names *s, uint32_t id);
void names_release(struct names *s);

#endif
