/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Where the dynamic linker finds a library by its name: the table that ldconfig writes (/etc/ld.so.cache). */
#ifndef POV_TARGET_LD_CACHE_H
#define POV_TARGET_LD_CACHE_H

#include <stddef.h>

struct ld_cache {
	char *bytes; /* the file; NULL: none here, or in a form not known */
	size_t size, table, cnt;
};

/* Reads it. There may be none: then nothing is found in it. */
void ld_cache_open(const char *path, struct ld_cache *out);
/* The i-th file of that name (they differ in machine and hardware); NULL behind the last. Owned by the cache. */
const char *ld_cache_find(const struct ld_cache *cache, const char *name, size_t i);
void ld_cache_close(struct ld_cache *cache);

#endif
