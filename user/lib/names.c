/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A map by hash; texts with the same hash are chained.
 */
#include "lib/names.h"

#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "lib/table.h"

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
