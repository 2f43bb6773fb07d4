/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* The new format of glibc 2.2 on, by itself or behind the old one; offsets count from its own header. */
#include "target/ld_cache.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/log.h"

#define MAGIC "glibc-ld.so.cache1.1"
#define CACHE_BYTES_MAX (16u << 20)

struct cache_header {
	char magic[20];
	uint32_t cnt, string_bytes;
	uint32_t unused[5];
};

struct cache_entry {
	int32_t flags;
	uint32_t key, value; /* offsets of the name and of the path */
	uint32_t os_version;
	uint64_t hardware;
};

static char *file_read(const char *path, size_t *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	char *bytes = NULL;
	ssize_t n = -1;

	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size <= CACHE_BYTES_MAX) {
		bytes = xmalloc((size_t)st.st_size + 1);
		n = read(fd, bytes, (size_t)st.st_size);
	}
	close(fd);
	if (n < 0) {
		free(bytes);
		return NULL;
	}
	bytes[n] = '\0';
	*size = (size_t)n;
	return bytes;
}

void ld_cache_open(const char *path, struct ld_cache *out)
{
	struct cache_header h;
	const char *at;

	memset(out, 0, sizeof(*out));
	out->bytes = file_read(path, &out->size);
	if (!out->bytes)
		return;
	at = memmem(out->bytes, out->size, MAGIC, sizeof(MAGIC) - 1);
	out->table = at ? (size_t)(at - out->bytes) : out->size;
	if (out->size - out->table < sizeof(h)) {
		ld_cache_close(out);
		return;
	}
	memcpy(&h, at, sizeof(h));
	out->cnt = (out->size - out->table - sizeof(h)) / sizeof(struct cache_entry);
	if (h.cnt < out->cnt)
		out->cnt = h.cnt;
}

static const char *text_at(const struct ld_cache *cache, uint32_t offset)
{
	return offset < cache->size - cache->table ? cache->bytes + cache->table + offset : "";
}

const char *ld_cache_find(const struct ld_cache *cache, const char *name, size_t i)
{
	const size_t first = cache->table + sizeof(struct cache_header);
	struct cache_entry e;

	for (size_t at = 0; cache->bytes && at < cache->cnt; at++) {
		memcpy(&e, cache->bytes + first + at * sizeof(e), sizeof(e));
		if (!strcmp(text_at(cache, e.key), name) && !i--)
			return text_at(cache, e.value);
	}
	return NULL;
}

void ld_cache_close(struct ld_cache *cache)
{
	free(cache->bytes);
	memset(cache, 0, sizeof(*cache));
}
