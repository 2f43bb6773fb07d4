/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* The axes: powers of two are met exactly, nothing comes twice, limits and units hold. */
#include <math.h>

#include "unit/test.h"
#include "core/sweep.h"

static void expect(const struct sweep *s, const uint64_t *value, size_t cnt)
{
	size_t i;

	assert_int_equal(s->cnt, cnt);
	for (i = 0; i < cnt; i++)
		assert_int_equal(s->value[i], value[i]);
}

#define EXPECT(s, ...)                               \
	expect((s), (const uint64_t[]){__VA_ARGS__}, \
	       sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

TEST(sqrt2)
{
	struct sweep s;
	size_t i, powers = 0;

	sweep_init(&s, 1, 64, sqrt(2), 1, 1);
	EXPECT(&s, 1, 2, 3, 4, 6, 8, 11, 16, 23, 32, 45, 64);
	sweep_release(&s);
	sweep_init(&s, 1, 128 << 20, sqrt(2), 1, 1);
	for (i = 0; i < s.cnt; i++) {
		powers += !(s.value[i] & (s.value[i] - 1));
		assert_true(!i || s.value[i] > s.value[i - 1]);
	}
	assert_int_equal(powers, 28); /* 2^0 … 2^27, none missed by rounding */
	assert_int_equal(s.value[s.cnt - 1], 128 << 20);
	sweep_release(&s);
}

TEST(limits)
{
	struct sweep s;

	sweep_init(&s, 64, 4095, 4, 1, 1);
	EXPECT(&s, 64, 256, 1024);
	sweep_release(&s);
	sweep_init(&s, 64, 64, 4, 1, 1);
	EXPECT(&s, 64);
	sweep_release(&s);
	sweep_init(&s, 65, 64, 4, 1, 1);
	assert_int_equal(s.cnt, 0);
	sweep_release(&s);
	sweep_release(NULL);
}

TEST(zero)
{
	struct sweep s;

	sweep_init(&s, 0, 100, 10, 1, 1);
	EXPECT(&s, 0, 1, 10, 100);
	sweep_release(&s);
	sweep_init(&s, 0, 0, 2, 1, 1);
	EXPECT(&s, 0);
	sweep_release(&s);
}

TEST(unit)
{
	struct sweep s;

	sweep_init(&s, 8, 64, sqrt(2), 8, 8);
	EXPECT(&s, 8, 16, 24, 32, 48, 64);
	sweep_release(&s);
	/* 1 and 2 are no multiples of 8, and 0 was not asked for. */
	sweep_init(&s, 1, 32, 2, 8, 8);
	EXPECT(&s, 8, 16, 32);
	sweep_release(&s);
}
