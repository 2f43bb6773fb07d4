/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Memory that lives until the next reset: a decoded call's texts and arrays. After the first few calls
 * nothing is allocated any more. A zeroed struct is an empty arena.
 */
#ifndef POV_LAYERS_ARENA_H
#define POV_LAYERS_ARENA_H

#include <stddef.h>

struct arena_block;
struct arena {
	struct arena_block *blocks; /* the first one is in use */
	size_t used;
};

/* Aligned to 8 bytes; never NULL. */
void *arena_alloc(struct arena *a, size_t bytes);
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Everything handed out before becomes invalid. */
void arena_reset(struct arena *a);
void arena_release(struct arena *a);

#endif
