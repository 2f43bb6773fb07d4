/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * How much memory reading a recording may take. A made-up file of a few KB can stand for gigabytes
 * of records, text or identities. A real recording needs a base amount and some multiple of its own
 * size.
 */
#ifndef POV_TRACE_LIMIT_H
#define POV_TRACE_LIMIT_H

#include <stddef.h>
#include <stdint.h>

/* The total, as trace_limit_memory() allows it. */
#define TRACE_MEMORY_BASE (192u << 20)
#define TRACE_MEMORY_RATIO 256 /* advise on a storm of messages needs most: 180 */
/* Parts of the total; exceeding one gives a specific message. */
#define TRACE_META_BASE (16u << 20) /* meta objects */
#define TRACE_META_RATIO 64
#define TRACE_OPEN_BASE (24u << 20) /* decoded blocks at once */
#define TRACE_OPEN_RATIO 64
/* Threads and processes; each has taken some bytes of the file. */
#define TRACE_IDENTITIES_BASE 32768u
#define TRACE_IDENTITY_BYTES 4

static inline uint64_t trace_limit(uint64_t base, uint64_t ratio, uint64_t file_bytes)
{
	return base + (file_bytes < UINT64_MAX / 2 / ratio ? ratio * file_bytes : UINT64_MAX / 2);
}

/* Upper bound of the memory of a JSON text as objects, bytes. */
uint64_t trace_json_bytes(const char *text, size_t len);

/*
 * For a command that only reads recordings: limits the memory of this process to what recordings of
 * their size may need, and keeps freed memory for reuse. Exceeding the limit ends the process with
 * a message. An existing limit (ulimit -d) stays.
 */
void trace_limit_memory(char *const *path, int cnt);

#endif
