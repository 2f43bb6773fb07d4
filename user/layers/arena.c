/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A list of blocks, the newest and largest first. A reset keeps only that one, so that an arena
 * settles at the size its largest user needs.
 */
#include "layers/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/log.h"

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
