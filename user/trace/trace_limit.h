/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * How much memory a recording may cost. A few KB of made-up file can stand for gigabytes of records, text or
 * identities; a real recording needs so much at the start, and some times its own size.
 */
#ifndef POV_TRACE_LIMIT_H
#define POV_TRACE_LIMIT_H

#include <stddef.h>
#include <stdint.h>

/* All together: what trace_limit_memory() allows. */
#define TRACE_MEMORY_BASE (192u << 20)
#define TRACE_MEMORY_RATIO 96
/* Parts of it, which are told as what they are when they are too much. */
#define TRACE_META_BASE (16u << 20) /* meta objects */
#define TRACE_META_RATIO 64
#define TRACE_OPEN_BASE (24u << 20) /* decoded blocks at once */
#define TRACE_OPEN_RATIO 64
#define TRACE_IDENTITIES_BASE \
	32768u /* threads and processes; each has taken some bytes of the file */
#define TRACE_IDENTITY_BYTES 4

static inline uint64_t trace_limit(uint64_t base, uint64_t ratio, uint64_t file_bytes)
{
	return base + (file_bytes < UINT64_MAX / 2 / ratio ? ratio * file_bytes : UINT64_MAX / 2);
}

/* What a JSON text takes as objects at most, bytes. */
uint64_t trace_json_bytes(const char *text, size_t len);

/*
 * For a command that only reads recordings: from here on this process gets no more memory than recordings of their size may
 * cost; what wants more ends it with a message. A limit that was set already (ulimit -d) stays.
 */
void trace_limit_memory(char *const *path, int cnt);

#endif
