/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Memory that lives until the next reset: texts and arrays of a decoded call. After the first few
 * calls, nothing more is allocated. A zeroed struct is an empty arena.
 */
#ifndef POV_LAYERS_ARENA_H
#define POV_LAYERS_ARENA_H

#include <stddef.h>

struct arena_block;
struct arena {
	struct arena_block *blocks; /* the first one is used for allocations */
	size_t used;
};

/* Aligned to 8 bytes; never NULL. */
void *arena_alloc(struct arena *a, size_t bytes);
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Invalidates all memory handed out before. */
void arena_reset(struct arena *a);
void arena_release(struct arena *a);

#endif
