/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The protobuf appender, compared with bytes worked out by hand, and the table of interned strings.
 */
#include "unit/test.h"
#include "timeline/pb.h"

#define ASSERT_BYTES(b, ...)                                        \
	do {                                                        \
		const uint8_t want[] = {__VA_ARGS__};               \
		assert_int_equal(pb_len(b), sizeof(want));          \
		assert_memory_equal((b)->base, want, sizeof(want)); \
	} while (0)

TEST(scalars)
{
	struct pb b = {0};

	pb_u64(&b, 1, 0);
	ASSERT_BYTES(&b, 0x08, 0x00);
	pb_reset(&b);
	pb_u64(&b, 1, 150);
	ASSERT_BYTES(&b, 0x08, 0x96, 0x01);
	pb_reset(&b);
	pb_u64(&b, 126, UINT64_MAX);
	ASSERT_BYTES(&b, 0xf0, 0x07, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01);
	pb_reset(&b);
	pb_i64(&b, 2, -2);
	ASSERT_BYTES(&b, 0x10, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01);
	pb_reset(&b);
	pb_fixed64(&b, 47, 0x0102030405060708);
	ASSERT_BYTES(&b, 0xf9, 0x02, 8, 7, 6, 5, 4, 3, 2, 1);
	pb_reset(&b);
	pb_double(&b, 5, 1.0);
	ASSERT_BYTES(&b, 0x29, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f);
	pb_reset(&b);
	pb_bytes(&b, 2, "abc", 3);
	pb_bytes(&b, 2, NULL, 0);
	ASSERT_BYTES(&b, 0x12, 3, 'a', 'b', 'c', 0x12, 0);
	pb_release(&b);
}

TEST(messages_in_place)
{
	struct pb b = {0}, inner = {0}, same = {0};
	uint8_t data[40000] = {0};
	size_t outer, at;

	at = pb_open(&b, 3);
	pb_u64(&b, 1, 150);
	pb_close(&b, at);
	ASSERT_BYTES(&b, 0x1a, 3, 0x08, 0x96, 0x01);
	pb_reset(&b);
	at = pb_open(&b, 3);
	pb_close(&b, at);
	ASSERT_BYTES(&b, 0x1a, 0);
	/* lengths of one, two and three bytes, nested: same as from a separate buffer */
	for (size_t n = 100; n < sizeof(data); n += n / 8) {
		pb_reset(&b);
		outer = pb_open(&b, 11);
		at = pb_open(&b, 4);
		pb_bytes(&b, 6, data, n);
		pb_close(&b, at);
		pb_u64(&b, 9, 1);
		pb_close(&b, outer);

		pb_reset(&inner);
		pb_bytes(&inner, 6, data, n);
		pb_reset(&same);
		pb_message(&same, 4, &inner);
		pb_u64(&same, 9, 1);
		pb_reset(&inner);
		pb_message(&inner, 11, &same);
		assert_int_equal(pb_len(&b), pb_len(&inner));
		assert_memory_equal(b.base, inner.base, pb_len(&b));
	}
	pb_release(&b);
	pb_release(&inner);
	pb_release(&same);
}

TEST(packed)
{
	struct pb array = {0}, b = {0};

	pb_varint(&array, 3);
	pb_varint(&array, 270);
	pb_varint(&array, 86942);
	pb_message(&b, 6, &array);
	ASSERT_BYTES(&b, 0x32, 6, 3, 0x8e, 0x02, 0x9e, 0xa7, 0x05);
	pb_release(&array);
	pb_release(&b);
}

TEST(intern_numbers)
{
	struct intern *in = intern_new(1000, 1 << 20);
	struct pb fresh = {0};
	char reused[16] = "one";

	assert_int_equal(intern_add(in, INTERN_EVENT_NAME, "MPI_Send", &fresh), 1);
	ASSERT_BYTES(&fresh, 0x12, 12, 0x08, 1, 0x12, 8, 'M', 'P', 'I', '_', 'S', 'e', 'n', 'd');
	pb_reset(&fresh);
	assert_int_equal(intern_add(in, INTERN_EVENT_NAME, "MPI_Send", &fresh), 1);
	assert_int_equal(pb_len(&fresh), 0);
	/* another kind is another entry */
	assert_int_equal(intern_add(in, INTERN_TEXT, "MPI_Send", &fresh), 2);
	assert_int_equal(fresh.base[0], 0xea); /* field 29 */
	assert_int_equal(fresh.base[1], 0x01);
	/* a buffer with other contents by now */
	assert_int_equal(intern_add(in, INTERN_TEXT, reused, &fresh), 3);
	strcpy(reused, "two");
	assert_int_equal(intern_add(in, INTERN_TEXT, reused, &fresh), 4);
	strcpy(reused, "one");
	assert_int_equal(intern_add(in, INTERN_TEXT, reused, &fresh), 3);
	/* invalid UTF-8 is repaired */
	pb_reset(&fresh);
	assert_int_equal(intern_add(in, INTERN_ARG_NAME, "\xff", &fresh), 5);
	ASSERT_BYTES(&fresh, 0x1a, 7, 0x08, 5, 0x12, 3, 0xef, 0xbf, 0xbd);
	intern_free(in);
	pb_release(&fresh);
}

TEST(intern_bounded)
{
	struct intern *in = intern_new(100, 1 << 20);
	struct pb fresh = {0};
	char s[16];

	for (int round = 0; round < 3; round++) {
		for (uint32_t i = 0; i < 100; i++) {
			assert_false(intern_full(in));
			snprintf(s, sizeof(s), "s%u", i);
			assert_int_equal(intern_add(in, INTERN_TEXT, s, &fresh), i + 1);
		}
		assert_true(intern_full(in));
		/* the present packet may still finish */
		for (uint32_t i = 0; i < 500; i++) {
			snprintf(s, sizeof(s), "t%u", i);
			assert_int_equal(intern_add(in, INTERN_TEXT, s, &fresh), i + 101);
		}
		snprintf(s, sizeof(s), "s%u", 7);
		assert_int_equal(intern_add(in, INTERN_TEXT, s, &fresh), 8);
		intern_reset(in);
		assert_int_equal(intern_add(in, INTERN_TEXT, s, &fresh), 1);
		intern_reset(in);
		pb_reset(&fresh);
	}
	intern_free(in);
	in = intern_new(100, 64);
	memset(s, 'x', sizeof(s));
	s[15] = 0;
	for (int i = 0; i < 4; i++) {
		assert_false(intern_full(in));
		s[0] = (char)('a' + i);
		intern_add(in, INTERN_TEXT, s, &fresh);
	}
	assert_true(intern_full(in));
	intern_free(in);
	pb_release(&fresh);
}
