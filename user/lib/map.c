/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Open addressing with linear probing, at most three quarters full. Removal moves later entries of
 * the run back into the hole. So there are no tombstones, and look-ups stay short however long the
 * recording is.
 */
#include "lib/map.h"

#include "lib/log.h"

#include <stdlib.h>

#define MAP_SIZE_MIN 16

static void grow(struct map *m)
{
	struct map bigger = {.size = m->size ? m->size * 2 : MAP_SIZE_MIN, .cnt = m->cnt};

	bigger.slots = xcalloc(bigger.size, sizeof(*bigger.slots));
	for (size_t i = 0; i < m->size; i++)
		if (m->slots[i].value)
			*map_slot_of(&bigger, m->slots[i].key) = m->slots[i];
	free(m->slots);
	*m = bigger;
}

void *map_set(struct map *m, uint64_t key, void *value)
{
	struct map_slot *slot;
	void *old;

	if (m->cnt + 1 > m->size / 4 * 3)
		grow(m);
	slot = map_slot_of(m, key);
	old = slot->value;
	slot->key = key;
	slot->value = value;
	m->cnt += !old;
	return old;
}

void *map_make(struct map *m, uint64_t key, size_t bytes)
{
	void *value = map_get(m, key);

	if (!value) {
		value = xcalloc(1, bytes);
		map_set(m, key, value);
	}
	return value;
}

void *map_remove(struct map *m, uint64_t key)
{
	struct map_slot *slot;
	size_t hole;
	void *old;

	if (!m->cnt)
		return NULL;
	slot = map_slot_of(m, key);
	old = slot->value;
	if (!old)
		return NULL;
	hole = (size_t)(slot - m->slots);
	for (size_t i = (hole + 1) & (m->size - 1); m->slots[i].value;
	     i = (i + 1) & (m->size - 1)) {
		size_t from_home = (i - map_home(m, m->slots[i].key)) & (m->size - 1);
		size_t from_hole = (i - hole) & (m->size - 1);

		/* an entry must not move back past its home */
		if (from_home >= from_hole) {
			m->slots[hole] = m->slots[i];
			hole = i;
		}
	}
	m->slots[hole].value = NULL;
	m->cnt--;
	return old;
}

void *map_next(const struct map *m, size_t *at, uint64_t *key)
{
	while (*at < m->size) {
		const struct map_slot *slot = &m->slots[(*at)++];

		if (slot->value) {
			if (key)
				*key = slot->key;
			return slot->value;
		}
	}
	return NULL;
}

void map_release(struct map *m)
{
	free(m->slots);
	*m = (struct map){0};
}

void map_free(struct map *m, void (*value_free)(void *value))
{
	void *value;

	for (size_t at = 0; (value = map_next(m, &at, NULL));)
		value_free(value);
	map_release(m);
}
