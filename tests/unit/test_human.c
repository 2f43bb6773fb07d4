/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Quantities: what is printed, what is read, and where the limits are. */
#include <errno.h>
#include <string.h>

#include "unit/test.h"
#include "base/human.h"

#define CNT(a) (sizeof(a) / sizeof((a)[0]))

TEST(ns)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} rows[] = {
		{0, "0 ns"},
		{999, "999 ns"},
		{1000, "1.000 us"},
		{1234, "1.234 us"},
		{999999, "999.999 us"},
		{1000000, "1.000 ms"},
		{12345678, "12.346 ms"},
		{999999499, "999.999 ms"},
		{999999500, "1.000 s"},
		{1500000000, "1.500 s"},
		{99999000000, "99.999 s"},
		{123000000000, "2 min 3 s"},
		{12000000000000, "3 h 20 min"},
		{UINT64_MAX, "5124095 h 34 min"},
	};
	char buf[HUMAN_BYTES];
	size_t i;

	for (i = 0; i < CNT(rows); i++)
		assert_string_equal(human_ns(buf, sizeof(buf), rows[i].ns), rows[i].text);
}

TEST(bytes)
{
	static const struct {
		uint64_t value;
		const char *text;
	} rows[] = {
		{0, "0 B"},
		{1023, "1023 B"},
		{1024, "1 KiB"},
		{1536, "1.5 KiB"},
		{65536, "64 KiB"},
		{102400, "100 KiB"},
		{1048575, "1 MiB"},
		{1048576, "1 MiB"},
		{3435973837, "3.2 GiB"},
		{UINT64_MAX, "16 EiB"},
	};
	char buf[HUMAN_BYTES];
	size_t i;

	for (i = 0; i < CNT(rows); i++)
		assert_string_equal(human_bytes(buf, sizeof(buf), rows[i].value), rows[i].text);
}

TEST(count)
{
	char buf[HUMAN_BYTES], tiny[4];

	assert_string_equal(human_count(buf, sizeof(buf), 0), "0");
	assert_string_equal(human_count(buf, sizeof(buf), 999), "999");
	assert_string_equal(human_count(buf, sizeof(buf), 1000), "1,000");
	assert_string_equal(human_count(buf, sizeof(buf), UINT64_MAX),
			    "18,446,744,073,709,551,615");
	human_count(tiny, sizeof(tiny), 1234567);
	assert_true(strlen(tiny) < sizeof(tiny));
}

TEST(parse_u64)
{
	uint64_t v = 7;

	assert_int_equal(human_parse_u64("18446744073709551615", &v), 0);
	assert_true(v == UINT64_MAX);
	assert_int_equal(human_parse_u64("18446744073709551616", &v), -ERANGE);
	assert_int_equal(human_parse_u64("", &v), -EINVAL);
	assert_int_equal(human_parse_u64("-1", &v), -EINVAL);
	assert_int_equal(human_parse_u64("1.5", &v), -EINVAL);
	assert_int_equal(human_parse_u64("12x", &v), -EINVAL);
	assert_int_equal(human_parse_u64(" 12", &v), -EINVAL);
	assert_true(v == UINT64_MAX);
}

TEST(parse_bytes)
{
	static const struct {
		const char *text;
		uint64_t value;
	} rows[] = {
		{"0", 0},	  {"4096", 4096},    {"64K", 65536},	  {"64k", 65536},
		{"64KiB", 65536}, {"1.5M", 1572864}, {"2G", 2147483648u}, {"1T", 1099511627776u},
		{"512B", 512},	  {"16EB", 0},
	};
	uint64_t v;
	size_t i;

	for (i = 0; i + 1 < CNT(rows); i++) {
		assert_int_equal(human_parse_bytes(rows[i].text, &v), 0);
		assert_true(v == rows[i].value);
	}
	assert_int_equal(human_parse_bytes("16EB", &v), -EINVAL);
	assert_int_equal(human_parse_bytes("1.5", &v), -EINVAL);
	assert_int_equal(human_parse_bytes("K", &v), -EINVAL);
	assert_int_equal(human_parse_bytes("1K2", &v), -EINVAL);
	assert_int_equal(human_parse_bytes("99999999999T", &v), -ERANGE);
}

TEST(parse_ns)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} rows[] = {
		{"1", 1000000000},	   {"1.5", 1500000000},	  {"0.1", 100000000},
		{"10ms", 10000000},	   {"1.5us", 1500},	  {"7ns", 7},
		{"2m", 120000000000},	   {"1h", 3600000000000}, {"0.000000001", 1},
		{"0.0000000000000001", 0}, {"3s", 3000000000},	  {"1min", 60000000000},
	};
	uint64_t v;
	size_t i;

	for (i = 0; i < CNT(rows); i++) {
		assert_int_equal(human_parse_ns(rows[i].text, &v), 0);
		assert_true(v == rows[i].ns);
	}
	assert_int_equal(human_parse_ns("", &v), -EINVAL);
	assert_int_equal(human_parse_ns(".", &v), -EINVAL);
	assert_int_equal(human_parse_ns("5 s", &v), -EINVAL);
	assert_int_equal(human_parse_ns("1.2.3", &v), -EINVAL);
	assert_int_equal(human_parse_ns("18446744074", &v), -ERANGE);
}
