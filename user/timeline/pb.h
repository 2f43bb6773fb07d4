/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Appends protobuf fields to a growing buffer. Written by hand, where the rest of the project would
 * use a library, because of the cost per event. A generated encoder first fills a tree of structs,
 * then walks it twice (size, bytes) and allocates for repeated fields. An event here has some sixty
 * bytes of known shape, and the aim is 2 million events per second. The check against mistakes is
 * tests/data/perfetto_subset.proto: in the tests, protoc decodes everything with it.
 * A field is appended by number. Nested messages are built in place (pb_open, pb_close) or in a
 * buffer of their own (pb_message).
 */
#ifndef POV_TIMELINE_PB_H
#define POV_TIMELINE_PB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "lib/text.h"

/*
 * A field's number. The name, for the reader, is from tests/data/perfetto_subset.proto; a test
 * compares them.
 */
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

/* Does not check for space. */
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
 * Appends a nested message in place: pb_open(), its fields, pb_close(). Its length is known only at
 * the end, so one byte is reserved for it, and longer messages are moved.
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

/* Appends a bare value: an element of a packed array. */
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

/* int32, int64: negative numbers take ten bytes, as the format requires. */
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

/* Appends a string of any bytes; invalid UTF-8 is replaced. */
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

/*
 * Strings that a packet sequence has sent once and then refers to by number. Bounded: when full,
 * the caller resets the sequence's state (intern_reset()) and sets SEQ_INCREMENTAL_STATE_CLEARED.
 */

/* Values are the field numbers in InternedData. */
enum intern_kind {
	INTERN_CATEGORY = 1,
	INTERN_EVENT_NAME = 2,
	INTERN_ARG_NAME = 3,
	INTERN_FUNCTION = 5,
	INTERN_MAPPING_PATH = 17,
	INTERN_SOURCE_PATH = 18,
	INTERN_TEXT = 29,
	INTERN_ACTIVITY = 43
};

struct intern;

struct intern *intern_new(void);
void intern_free(struct intern *in);

/* True if the bounds are reached: reset before the next packet. One packet may exceed them. */
bool intern_full(const struct intern *in);
void intern_reset(struct intern *in);

/*
 * Returns the string's number, from 1. Appends a new string to fresh as InternedData. Accepts any
 * bytes and converts them to UTF-8.
 */
uint64_t intern_add(struct intern *in, enum intern_kind kind, const char *s, struct pb *fresh);

#endif
