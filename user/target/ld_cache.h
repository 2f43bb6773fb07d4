/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Reads the table with which the dynamic linker finds a library by name, made by ldconfig
 * (/etc/ld.so.cache).
 */
#ifndef POV_TARGET_LD_CACHE_H
#define POV_TARGET_LD_CACHE_H

#include <stddef.h>

struct ld_cache {
	char *bytes; /* contents of the file; NULL: none, or in an unknown format */
	size_t size, table, cnt;
};

/* Reads the file. Without one, nothing is found in it. */
void ld_cache_open(const char *path, struct ld_cache *out);
/*
 * Returns the i-th file of that name (they differ in machine and hardware); NULL after the last.
 * Owned by the cache.
 */
const char *ld_cache_find(const struct ld_cache *cache, const char *name, size_t i);
void ld_cache_close(struct ld_cache *cache);

#endif
