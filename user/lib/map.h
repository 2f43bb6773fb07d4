/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A hash table from 64-bit keys to pointers. Any key is allowed; NULL is no value. The pointed-to
 * objects stay the caller's. A zeroed struct is an empty map. Not for concurrent use.
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

/* Here, and inline, for analyses look up several times in each record. */
static inline size_t map_home(const struct map *m, uint64_t key)
{
	/* Multiplying by 2^64 / golden ratio spreads consecutive ids and aligned addresses alike. */
	return (size_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (m->size - 1);
}

/* The slot that holds key, or the free one where it belongs; of a map that has room. */
static inline struct map_slot *map_slot_of(const struct map *m, uint64_t key)
{
	size_t i = map_home(m, key);

	while (m->slots[i].value && m->slots[i].key != key)
		i = (i + 1) & (m->size - 1);
	return &m->slots[i];
}

/* NULL if there is none. */
static inline void *map_get(const struct map *m, uint64_t key)
{
	return m->cnt ? map_slot_of(m, key)->value : NULL;
}

/* Stores value (not NULL) and returns the one it replaces, or NULL. */
void *map_set(struct map *m, uint64_t key, void *value);
/* The value; if there is none, so many zero bytes, to be freed with free(). */
void *map_make(struct map *m, uint64_t key, size_t bytes);
/* Takes the value out and returns it, or NULL. */
void *map_remove(struct map *m, uint64_t key);
/*
 * The value at or behind *at, in no order, or NULL at the end; moves *at behind it and tells its key
 * if key is not NULL. Start with *at = 0; the map must not change meanwhile.
 */
void *map_next(const struct map *m, size_t *at, uint64_t *key);
void map_release(struct map *m); /* leaves an empty map; the values are not freed */
void map_free(struct map *m, void (*value_free)(void *value)); /* the same, freeing them */

#endif
