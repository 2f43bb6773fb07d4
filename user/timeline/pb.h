/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Appends protobuf fields to a growing buffer. Written by hand, where the rest of the project would take
 * a library, because of what one event costs: a generated encoder first fills a tree of structs, then walks it
 * twice (size, bytes) and allocates for repeated fields; an event here is some sixty bytes of known shape
 * and 2 million of them are wanted a second. What keeps it honest: tests/data/perfetto_subset.proto, against
 * which protoc decodes everything in the tests.
 *
 * A field is appended by number; messages within messages in place (pb_open, pb_close) or from a buffer of
 * their own (pb_message).
 */
#ifndef POV_TIMELINE_PB_H
#define POV_TIMELINE_PB_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "lib/text.h"

/* A field's number, and for the reader its name in tests/data/perfetto_subset.proto, which a test compares. */
#define FIELD(name, number) (number)

#define PB_VARINT_BYTES 10
#define PB_TAG_BYTES 5

enum pb_wire { PB_VARINT = 0, PB_FIXED64 = 1, PB_BYTES = 2 };

struct pb {
	uint8_t *base, *pos, *end;
};

static inline void pb_release(struct pb *b)
{
	free(b->base);
	b->base = b->pos = b->end = NULL;
}

static inline void pb_reset(struct pb *b)
{
	b->pos = b->base;
}

static inline size_t pb_len(const struct pb *b)
{
	return (size_t)(b->pos - b->base);
}

static inline void pb_reserve(struct pb *b, size_t bytes)
{
	size_t used = pb_len(b), room = (size_t)(b->end - b->base);

	if ((size_t)(b->end - b->pos) >= bytes)
		return;
	while (room < used + bytes)
		room = room ? 2 * room : 256;
	b->base = xrealloc(b->base, room);
	b->pos = b->base + used;
	b->end = b->base + room;
}

/* Without looking for room. */
static inline uint8_t *pb_put_varint(uint8_t *p, uint64_t v)
{
	while (v >= 0x80) {
		*p++ = (uint8_t)v | 0x80;
		v >>= 7;
	}
	*p++ = (uint8_t)v;
	return p;
}

static inline uint8_t *pb_put_tag(uint8_t *p, uint32_t field, enum pb_wire wire)
{
	return pb_put_varint(p, (uint64_t)field << 3 | wire);
}

/*
 * A message within b, appended in place: pb_open(), its fields, pb_close(). Its length is only then known, so
 * room for one byte is left, and longer messages are moved on by what is missing.
 */
static inline size_t pb_open(struct pb *b, uint32_t field)
{
	pb_reserve(b, PB_TAG_BYTES + 1);
	b->pos = pb_put_tag(b->pos, field, PB_BYTES) + 1;
	return pb_len(b);
}

static inline void pb_close(struct pb *b, size_t at)
{
	size_t len = pb_len(b) - at, more = 0;

	for (size_t rest = len >> 7; rest; rest >>= 7)
		more++;
	if (more) {
		pb_reserve(b, more);
		memmove(b->base + at + more, b->base + at, len);
		b->pos += more;
	}
	pb_put_varint(b->base + at - 1, len);
}

/* A bare value: an element of a packed array. */
static inline void pb_varint(struct pb *b, uint64_t v)
{
	pb_reserve(b, PB_VARINT_BYTES);
	b->pos = pb_put_varint(b->pos, v);
}

static inline void pb_u64(struct pb *b, uint32_t field, uint64_t v)
{
	pb_reserve(b, PB_TAG_BYTES + PB_VARINT_BYTES);
	b->pos = pb_put_varint(pb_put_tag(b->pos, field, PB_VARINT), v);
}

/* int32, int64: negative numbers as ten bytes, as the format demands. */
static inline void pb_i64(struct pb *b, uint32_t field, int64_t v)
{
	pb_u64(b, field, (uint64_t)v);
}

static inline void pb_fixed64(struct pb *b, uint32_t field, uint64_t v)
{
	pb_reserve(b, PB_TAG_BYTES + 8);
	b->pos = pb_put_tag(b->pos, field, PB_FIXED64);
	for (int i = 0; i < 8; i++)
		*b->pos++ = (uint8_t)(v >> 8 * i);
}

static inline void pb_double(struct pb *b, uint32_t field, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	pb_fixed64(b, field, bits);
}

static inline void pb_bytes(struct pb *b, uint32_t field, const void *data, size_t bytes)
{
	pb_reserve(b, PB_TAG_BYTES + PB_VARINT_BYTES + bytes);
	b->pos = pb_put_varint(pb_put_tag(b->pos, field, PB_BYTES), bytes);
	if (bytes)
		memcpy(b->pos, data, bytes);
	b->pos += bytes;
}

/* A string of any bytes: whatever is no UTF-8 is replaced. */
static inline void pb_text(struct pb *b, uint32_t field, const char *s)
{
	size_t n = strlen(s);
	char small[3 * 64], *clean = small;

	if (text_utf8_valid(s, n)) {
		pb_bytes(b, field, s, n);
		return;
	}
	if (TEXT_UTF8_BYTES(n) > sizeof(small))
		clean = xmalloc(TEXT_UTF8_BYTES(n));
	pb_bytes(b, field, clean, (size_t)(text_utf8(clean, s, n) - clean));
	if (clean != small)
		free(clean);
}

static inline void pb_message(struct pb *b, uint32_t field, const struct pb *message)
{
	pb_bytes(b, field, message->base, pb_len(message));
}

#endif
