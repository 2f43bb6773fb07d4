/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The coding of event blocks: decoding returns what was encoded, and invalid payloads do no harm.
 */
#include "unit/test.h"
#include "trace/trace_codec.h"
#include "trace/trace_format.h"
#include "trace_help.h"

static struct codec_encoder e;
static struct codec_block b;
static uint64_t truth[TRACE_RECBYTES_MAX / 8]; /* the encoded records */
static uint8_t payload[TRACE_RAW_MAX];
static uint32_t len; /* of payload */
static uint64_t out[TRACE_RECBYTES_MAX / 8];

static int begin(void **state)
{
	for (int i = 0; i < CODEC_COL_CNT; i++)
		b.col[i].begin = b.col[i].begin ? b.col[i].begin : xmalloc(codec_col_bytes(i));
	codec_encode_begin(&e, &b);
	return 0;
}

static bool put(const union any_record *rec)
{
	uint32_t before = codec_block_bytes(&b);

	if (codec_encode_full(&e, &b, rec->hdr.size))
		return false;
	memcpy((char *)truth + b.record_bytes, rec, rec->hdr.size);
	codec_encode(&e, &b, &rec->hdr);
	assert_true(codec_block_bytes(&b) - before <= codec_worst_bytes(rec->hdr.size));
	return true;
}

/* Decodes as if there were that many more records, and bytes of them. */
static int decode(const uint8_t *coded, uint32_t bytes, int more, int more_bytes)
{
	return codec_decode(coded, bytes, b.nrecords + (uint32_t)more,
			    b.record_bytes + (uint32_t)more_bytes, out);
}

static void check(void)
{
	len = codec_block_store(&b, payload);
	assert_int_equal(len, codec_block_bytes(&b));
	memset(out, 0xaa, b.record_bytes);
	assert_int_equal(decode(payload, len, 0, 0), 0);
	assert_memory_equal(out, truth, b.record_bytes);
}

TEST(mixed)
{
	uint64_t seed = 12345, now = 1000000;
	union any_record rec;

	for (int block = 0; block < 5; block++) {
		uint64_t min = UINT64_MAX, max = 0;

		codec_encode_begin(&e, &b);
		for (random_record(&seed, &now, &rec); put(&rec);
		     random_record(&seed, &now, &rec)) {
			min = rec.hdr.ts_ns < min ? rec.hdr.ts_ns : min;
			max = rec.hdr.ts_ns > max ? rec.hdr.ts_ns : max;
		}
		assert_true(b.nrecords > 500);
		assert_int_equal(b.min_ts, min);
		assert_int_equal(b.max_ts, max);
		check();
	}
}

/* Every record size, with all bits of every word in use. */
TEST(sizes)
{
	uint64_t seed = 99;
	union any_record rec;

	for (uint32_t size = TRACE_RECORD_MIN; size <= TRACE_RECORD_MAX; size += 8) {
		for (uint32_t i = 0; i < size / 8; i++)
			rec.w[i] = random_next(&seed);
		rec.hdr.size = (uint16_t)size;
		if (!put(&rec)) {
			check();
			codec_encode_begin(&e, &b);
			assert_true(put(&rec));
		}
	}
	check();
}

/*
 * Changes early and late words of many, so that masks of all lengths occur. Times go back and wrap.
 */
TEST(edges)
{
	union any_record rec;

	memset(&rec, 0, sizeof(rec));
	rec.hdr.size = 4096;
	rec.hdr.kind = 250;
	for (uint32_t i = 2; i < 60; i++) {
		rec.w[511 - i * 7 % 500] ^= UINT64_MAX << i;
		rec.hdr.ts_ns = i & 1 ? UINT64_MAX - i : i;
		assert_true(put(&rec));
	}
	assert_true(put(&rec)); /* nothing changed */
	check();
}

static void mask_check(uint32_t before, const uint8_t *mask, uint32_t bytes)
{
	const uint8_t *op = b.col[CODEC_COL_OP].begin + before;

	assert_int_equal(codec_col_len(&b, CODEC_COL_OP), before + 1 + bytes);
	assert_int_equal(op[0], 1); /* the slot */
	assert_memory_equal(op + 1, mask, bytes);
}

/*
 * The mask of a long record has a bit for each word but the time, and ends with its last byte that
 * is not zero.
 */
TEST(long_masks)
{
	const uint8_t none[] = {0}, early[] = {0x80 | 1 << 2, 1 << 6};
	const uint8_t late[] = {0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1 << 1};
	union any_record rec;
	uint32_t len0, len1, len2;

	memset(&rec, 0, sizeof(rec));
	rec.hdr.size = 600;
	assert_true(put(&rec));
	len0 = codec_col_len(&b, CODEC_COL_OP);
	assert_true(put(&rec));
	mask_check(len0, none, sizeof(none));
	len1 = codec_col_len(&b, CODEC_COL_OP);
	rec.w[3]++;
	rec.w[14]++;
	assert_true(put(&rec));
	mask_check(len1, early, sizeof(early));
	len2 = codec_col_len(&b, CODEC_COL_OP);
	rec.w[58]++; /* bit 57 */
	assert_true(put(&rec));
	mask_check(len2, late, sizeof(late));
	check();
}

/* A block has few slots. A new key must close it and must not be lost. */
TEST(slots_run_out)
{
	union any_record rec;
	uint32_t n = 0;

	memset(&rec, 0, sizeof(rec));
	rec.hdr.size = 16;
	do
		rec.hdr.tid = ++n;
	while (put(&rec));
	assert_int_equal(b.nrecords, CODEC_SLOTS_MAX);
	check();
}

/* The header counts more or other bytes than there are. The fuzzer fuzz_trace damages payloads. */
TEST(wrong_counts)
{
	uint64_t seed = 7, now = 1;
	union any_record rec;

	for (int i = 0; i < 300; i++) {
		random_record(&seed, &now, &rec);
		if (rec.hdr.size < 1024)
			put(&rec);
	}
	check();
	assert_int_not_equal(decode(payload, len - 1, 0, 0), 0);
	assert_int_not_equal(decode(payload, len, 1, 0), 0);
	assert_int_not_equal(decode(payload, len, 0, -8), 0);
	assert_int_not_equal(decode(payload, len, 0, 8), 0);
}

EACH_TEST(begin, NULL);
