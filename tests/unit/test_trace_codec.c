/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* The coding of event blocks: what goes in comes out, and made-up payloads do no harm. */
#include <stdlib.h>
#include <string.h>

#include "unit/test.h"
#include "base/log.h"
#include "trace/trace_codec.h"
#include "trace/trace_format.h"
#include "trace_help.h"

struct coded {
	struct codec_encoder e;
	struct codec_block b;
	uint64_t truth[TRACE_RECBYTES_MAX / 8]; /* the records put in */
	uint8_t payload[TRACE_RAW_MAX];
	uint32_t len;
	uint64_t out[TRACE_RECBYTES_MAX / 8];
};

static int setup(void **state)
{
	struct coded *c = xcalloc(1, sizeof(*c));

	for (int i = 0; i < CODEC_COL_CNT; i++)
		c->b.col[i] = xmalloc(codec_col_bytes(i));
	codec_encode_begin(&c->e, &c->b);
	*state = c;
	return 0;
}

static int teardown(void **state)
{
	struct coded *c = *state;

	for (int i = 0; i < CODEC_COL_CNT; i++)
		free(c->b.col[i]);
	free(c);
	return 0;
}

static bool put(struct coded *c, const union any_record *rec)
{
	uint32_t before = codec_block_bytes(&c->b);

	if (codec_encode_full(&c->e, &c->b, rec->hdr.size))
		return false;
	memcpy((char *)c->truth + c->b.record_bytes, rec, rec->hdr.size);
	codec_encode(&c->e, &c->b, &rec->hdr);
	assert_true(codec_block_bytes(&c->b) - before <= codec_worst_bytes(rec->hdr.size));
	return true;
}

/* As if there were so many more records, and bytes of them. */
static int decode(struct coded *c, const uint8_t *payload, uint32_t len, int more, int more_bytes)
{
	return codec_decode(payload, len, c->b.nrecords + (uint32_t)more,
			    c->b.record_bytes + (uint32_t)more_bytes, c->out);
}

static void check(struct coded *c)
{
	c->len = codec_block_store(&c->b, c->payload);
	assert_int_equal(c->len, codec_block_bytes(&c->b));
	memset(c->out, 0xaa, c->b.record_bytes);
	assert_int_equal(decode(c, c->payload, c->len, 0, 0), 0);
	assert_memory_equal(c->out, c->truth, c->b.record_bytes);
}

TEST(mixed)
{
	struct coded *c = *state;
	uint64_t seed = 12345, now = 1000000;
	union any_record rec;

	for (int block = 0; block < 5; block++) {
		uint64_t min = UINT64_MAX, max = 0;

		codec_encode_begin(&c->e, &c->b);
		for (random_record(&seed, &now, &rec); put(c, &rec);
		     random_record(&seed, &now, &rec)) {
			min = rec.hdr.ts_ns < min ? rec.hdr.ts_ns : min;
			max = rec.hdr.ts_ns > max ? rec.hdr.ts_ns : max;
		}
		assert_true(c->b.nrecords > 500);
		assert_int_equal(c->b.min_ts, min);
		assert_int_equal(c->b.max_ts, max);
		check(c);
	}
}

/* Every size there is, with every bit of every word in use. */
TEST(sizes)
{
	struct coded *c = *state;
	uint64_t seed = 99;
	union any_record rec;

	for (uint32_t size = TRACE_RECORD_MIN; size <= TRACE_RECORD_MAX; size += 8) {
		for (uint32_t i = 0; i < size / 8; i++)
			rec.w[i] = random_next(&seed);
		rec.hdr.size = (uint16_t)size;
		if (!put(c, &rec)) {
			check(c);
			codec_encode_begin(&c->e, &c->b);
			assert_true(put(c, &rec));
		}
	}
	check(c);
}

/* The first and the last of many words, so that masks of all lengths occur; times go back and wrap. */
TEST(edges)
{
	struct coded *c = *state;
	union any_record rec;

	memset(&rec, 0, sizeof(rec));
	rec.hdr.size = 4096;
	rec.hdr.kind = 250;
	for (uint32_t i = 2; i < 60; i++) {
		rec.w[511 - i * 7 % 500] ^= UINT64_MAX << i;
		rec.hdr.ts_ns = i & 1 ? UINT64_MAX - i : i;
		assert_true(put(c, &rec));
	}
	assert_true(put(c, &rec)); /* nothing changed */
	check(c);
}

/* A block holds few slots; a new key must close it rather than be lost. */
TEST(slots_run_out)
{
	struct coded *c = *state;
	union any_record rec;
	uint32_t n = 0;

	memset(&rec, 0, sizeof(rec));
	rec.hdr.size = 16;
	do
		rec.hdr.tid = ++n;
	while (put(c, &rec));
	assert_int_equal(c->b.nrecords, CODEC_SLOTS_MAX);
	check(c);
}

TEST(made_up)
{
	struct coded *c = *state;
	uint64_t seed = 7, now = 1;
	union any_record rec;
	uint32_t rejected = 0;
	uint8_t *copy;

	for (int i = 0; i < 300; i++) {
		random_record(&seed, &now, &rec);
		if (rec.hdr.size < 1024)
			put(c, &rec);
	}
	check(c);
	copy = xmalloc(c->len);
	for (uint32_t len = 0; len < c->len; len += 1 + len / 64) {
		uint8_t *cut = xmalloc(len ? len : 1); /* exact, for the sanitizer */

		memcpy(cut, c->payload, len);
		assert_int_not_equal(decode(c, cut, len, 0, 0), 0);
		free(cut);
	}
	for (int i = 0; i < 8000; i++) {
		memcpy(copy, c->payload, c->len);
		for (uint64_t n = 1 + random_next(&seed) % 3; n; n--)
			copy[random_next(&seed) % c->len] = (uint8_t)random_next(&seed);
		rejected += !!decode(c, copy, c->len, 0, 0);
	}
	assert_true(rejected > 400);
	assert_int_not_equal(decode(c, c->payload, c->len, 1, 0), 0);
	assert_int_not_equal(decode(c, c->payload, c->len, 0, -8), 0);
	assert_int_not_equal(decode(c, c->payload, c->len, 0, 8), 0);
	free(copy);
}

EACH_TEST(setup, teardown);
