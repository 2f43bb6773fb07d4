/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Buffers whose contents a receiver can check. Every byte depends on its place and on the seed, so that data of the
 * message before, or of another place, is found; the holes of a strided buffer must stay as they were.
 */
#include "core/bench.h"

#include "lib/log.h"

#include <stdlib.h>
#include <string.h>

#define ALIGN_BYTES 4096
#define BLOCK_BYTES 32
#define STRIDE_BYTES 64
#define HOLE 0xa5

static size_t span_of(size_t bytes, enum comm_layout layout)
{
	return layout == COMM_STRIDED ? 2 * bytes + STRIDE_BYTES : bytes;
}

/* Where byte i of the data lies. */
static size_t place_of(size_t i, enum comm_layout layout)
{
	return layout == COMM_STRIDED ? i / BLOCK_BYTES * STRIDE_BYTES + i % BLOCK_BYTES : i;
}

static unsigned char pattern(size_t i, uint32_t seed)
{
	uint32_t x = (uint32_t)i * 2654435761u + seed * 40503u;

	return (unsigned char)(x >> 24 ^ x >> 8);
}

void *bench_buffer_new(size_t bytes, enum comm_layout layout)
{
	size_t span = span_of(bytes, layout);
	void *buf;

	/* At least a byte: an empty message has an address too. */
	if (posix_memalign(&buf, ALIGN_BYTES, span ? span : 1))
		die("out of memory (%zu bytes wanted for a message)", span);
	/* Written once, so that no page is met for the first time while something is timed. */
	memset(buf, HOLE, span ? span : 1);
	return buf;
}

void bench_buffer_fill(void *buf, size_t bytes, enum comm_layout layout, uint32_t seed)
{
	unsigned char *b = buf;
	size_t i;

	for (i = 0; i < bytes; i++)
		b[place_of(i, layout)] = pattern(i, seed);
}

void bench_buffer_check(const void *buf, size_t bytes, enum comm_layout layout, uint32_t seed)
{
	const unsigned char *b = buf;
	size_t i, at;

	for (i = 0; i < bytes; i++) {
		at = place_of(i, layout);
		if (b[at] != pattern(i, seed))
			die("wrong data: byte %zu of %zu is 0x%02x, not 0x%02x", i, bytes, b[at],
			    pattern(i, seed));
		if (layout == COMM_STRIDED && b[at + BLOCK_BYTES] != HOLE)
			die("wrong data: the hole behind byte %zu of %zu was written to", i, bytes);
	}
}
