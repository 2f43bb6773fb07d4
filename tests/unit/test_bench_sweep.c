/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Axes: they hit powers of two exactly, have no duplicates, and respect limits and units. Writing
 * and reading of CPU lists.
 */
#include <math.h>

#include "unit/test.h"
#include "core/cpu_list.h"
#include "core/sweep.h"

TEST(values)
{
	static const struct {
		uint64_t min, max;
		double step;
		uint64_t unit;
		const char *values;
	} rows[] = {
		{1, 64, M_SQRT2, 1, " 1 2 3 4 6 8 11 16 23 32 45 64"},
		{64, 4095, 4, 1, " 64 256 1024"},
		{64, 64, 4, 1, " 64"},
		{65, 64, 4, 1, ""},
		{0, 100, 10, 1, " 0 1 10 100"},
		{0, 0, 2, 1, " 0"},
		{8, 64, M_SQRT2, 8, " 8 16 24 32 48 64"},
		/* 1 and 2 are no multiples of 8, and 0 was not requested. */
		{1, 32, 2, 8, " 8 16 32"},
	};
	struct sweep s;
	char text[64];

	for (size_t i = 0; i < COUNT(rows); i++) {
		sweep_init(&s, rows[i].min, rows[i].max, rows[i].step, rows[i].unit, rows[i].unit);
		*text = '\0';
		for (size_t k = 0; k < s.cnt; k++)
			snprintf(text + strlen(text), sizeof(text) - strlen(text), " %llu",
				 (unsigned long long)s.value[k]);
		assert_string_equal(text, rows[i].values);
		sweep_release(&s);
	}
	sweep_release(NULL);
}

TEST(powers_of_two)
{
	struct sweep s;
	size_t i, powers = 0;

	sweep_init(&s, 1, 128 << 20, sqrt(2), 1, 1);
	for (i = 0; i < s.cnt; i++) {
		powers += !(s.value[i] & (s.value[i] - 1));
		assert_true(!i || s.value[i] > s.value[i - 1]);
	}
	assert_int_equal(powers, 28); /* 2^0 … 2^27, none missed by rounding */
	assert_int_equal(s.value[s.cnt - 1], 128 << 20);
	sweep_release(&s);
}

TEST(lists)
{
	static const struct {
		const char *read, *written;
	} rows[] = {{"0", "0"},
		    {"0,2,4-7", "0,2,4-7"},
		    {"1-3,1022-1023", "1-3,1022-1023"},
		    {"5,3-4,5", "3-5"},
		    {"1022-99999999999", "1022-1023"}};
	char text[64];
	cpu_set_t set;

	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_true(cpu_set_read(&set, rows[i].read));
		cpu_set_text(&set, text, sizeof(text));
		assert_string_equal(text, rows[i].written);
	}
}

TEST(no_lists)
{
	static const char *const texts[] = {"", ",", "0,", "1-", "-1", "0 1", "0,,1", "a", "1-2-3"};
	cpu_set_t set;

	for (size_t i = 0; i < COUNT(texts); i++)
		assert_false(cpu_set_read(&set, texts[i]));
}

TEST(little_room)
{
	char text[5];
	cpu_set_t set;

	assert_true(cpu_set_read(&set, "0,2,4"));
	cpu_set_text(&set, text, sizeof(text));
	assert_int_equal(strlen(text), 4);
}
