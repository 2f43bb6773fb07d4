/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Open addressing with linear probing, at most three quarters full. Removal moves later entries of
 * the run back into the hole. So there are no tombstones, and look-ups stay short however long the
 * recording is.
 */
#include "lib/map.h"

#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "lib/table.h"

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

/* ---- numbers for texts: a map by hash; texts with the same hash are chained ---- */

struct names_entry {
	char *text;
	uint32_t same_hash; /* number of the next text with this hash, or 0 */
};

/* FNV-1a. */
static uint64_t hash_of(const char *text)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return h;
}

uint32_t names_id(struct names *s, const char *text)
{
	uint64_t hash;
	uint32_t first, id;

	if (!text)
		return 0;
	hash = hash_of(text);
	first = (uint32_t)(uintptr_t)map_get(&s->by_hash, hash);
	for (id = first; id; id = s->entry[id].same_hash) {
		if (!strcmp(s->entry[id].text, text))
			return id;
	}
	id = ++s->n;
	*table_row(s->entry, s->cap, id) = (struct names_entry){xstrdup(text), first};
	map_set(&s->by_hash, hash, (void *)(uintptr_t)id);
	return id;
}

const char *names_text(const struct names *s, uint32_t id)
{
	return id ? s->entry[id].text : NULL;
}

void names_release(struct names *s)
{
	for (uint32_t id = 1; id <= s->n; id++)
		free(s->entry[id].text);
	free(s->entry);
	map_release(&s->by_hash);
	*s = (struct names){0};
}
