/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Keeps texts in a list until all of them are freed. */
#include "lib/text_pool.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/log.h"

char *text_pool_take(struct text_pool *pool, char *text)
{
	if (pool->n == pool->cap) {
		pool->cap = pool->cap ? 2 * pool->cap : 64;
		pool->text = xrealloc(pool->text, pool->cap * sizeof(*pool->text));
	}
	return pool->text[pool->n++] = text;
}

char *text_pool_format(struct text_pool *pool, const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		die("out of memory");
	va_end(ap);
	return text_pool_take(pool, text);
}

void text_pool_release(struct text_pool *pool)
{
	for (size_t i = 0; i < pool->n; i++)
		free(pool->text[i]);
	free(pool->text);
}
