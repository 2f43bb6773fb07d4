/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Texts that are freed together. A sentence made of several phrases needs no owner for each of them.
 *
 *	struct text_pool pool = {0};
 *
 *	puts(text_pool_format(&pool, "%s waits", text_pool_format(&pool, "rank %d", 3)));
 *	text_pool_release(&pool);
 */
#ifndef POV_LIB_TEXT_POOL_H
#define POV_LIB_TEXT_POOL_H

#include <stddef.h>

struct text_pool {
	char **text; /* owned */
	size_t n, cap;
};

/* Takes over text and returns it. It lasts until text_pool_release(). */
char *text_pool_take(struct text_pool *pool, char *text);
char *text_pool_format(struct text_pool *pool, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void text_pool_release(struct text_pool *pool);

#endif
