/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Reads the numbers of unwind tables and of their expressions (DWARF 4, 7.6), never past their end.
 */
#ifndef POV_TARGET_UNWIND_BYTES_H
#define POV_TARGET_UNWIND_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct bytes {
	const uint8_t *at, *end;
	bool bad;
};

static inline uint64_t bytes_take(struct bytes *b, size_t n)
{
	uint64_t v = 0;

	if ((size_t)(b->end - b->at) < n) {
		b->bad = true;
		b->at = b->end;
		return 0;
	}
	memcpy(&v, b->at, n);
	b->at += n;
	return v;
}

/* A number of 7 bits a byte, the lowest first. is_signed: the highest bit read counts negative. */
static inline uint64_t leb_take(struct bytes *b, bool is_signed)
{
	uint64_t v = 0, byte;
	unsigned int shift = 0;

	do {
		byte = bytes_take(b, 1);
		if (shift < 64)
			v |= (byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80 && !b->bad);
	if (is_signed && shift < 64 && byte & 0x40)
		v |= ~0ull << shift;
	return v;
}

static inline uint64_t uleb_take(struct bytes *b)
{
	return leb_take(b, false);
}

static inline int64_t sleb_take(struct bytes *b)
{
	return (int64_t)leb_take(b, true);
}

#endif
