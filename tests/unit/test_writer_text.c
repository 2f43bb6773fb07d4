/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Numbers and names as the timeline writers print them, and the output file. */
#include <unistd.h>
#include <zlib.h>

#include <jansson.h>

#include "unit/test.h"
#include "timeline/writer.h"
#include "lib/text.h"

static const char *ended(char *buf, char *end)
{
	*end = 0;
	return buf;
}

TEST(numbers)
{
	char b[64];

	assert_string_equal(ended(b, text_u64(b, 0)), "0");
	assert_string_equal(ended(b, text_u64(b, 9)), "9");
	assert_string_equal(ended(b, text_u64(b, 10)), "10");
	assert_string_equal(ended(b, text_u64(b, 100)), "100");
	assert_string_equal(ended(b, text_u64(b, UINT64_MAX)), "18446744073709551615");
	assert_string_equal(ended(b, text_i64(b, INT64_MIN)), "-9223372036854775808");
	assert_string_equal(ended(b, text_i64(b, -1)), "-1");
	assert_string_equal(ended(b, text_hex(b, 0)), "0x0");
	assert_string_equal(ended(b, text_hex(b, 0x10)), "0x10");
	assert_string_equal(ended(b, text_hex(b, UINT64_MAX)), "0xffffffffffffffff");
	assert_string_equal(ended(b, text_us(b, 0)), "0.000");
	assert_string_equal(ended(b, text_us(b, 1)), "0.001");
	assert_string_equal(ended(b, text_us(b, 1234567)), "1234.567");
	assert_string_equal(ended(b, text_count(b, 0)), "0");
	assert_string_equal(ended(b, text_count(b, 999)), "999");
	assert_string_equal(ended(b, text_count(b, 1000)), "1,000");
	assert_string_equal(ended(b, text_count(b, 1234567)), "1,234,567");
}

static const char *json_of(const char *s, size_t n)
{
	static char b[1024];

	return ended(b, text_json(b, s, n));
}

TEST(json_strings)
{
	assert_string_equal(json_of("plain", 5), "\"plain\"");
	assert_string_equal(json_of("", 0), "\"\"");
	assert_string_equal(json_of("a\"b\\c", 5), "\"a\\\"b\\\\c\"");
	assert_string_equal(json_of("\n\t\x01\x7f", 4), "\"\\n\\t\\u0001\\u007f\"");
	assert_string_equal(json_of("a\0b", 3), "\"a\\u0000b\"");
	assert_string_equal(json_of("\xc3\x97 \xe2\x82\xac \xf0\x9f\x8c\x8d", 11),
			    "\"\xc3\x97 \xe2\x82\xac \xf0\x9f\x8c\x8d\"");
	/*
	 * invalid UTF-8: stray continuation, truncated, overlong, surrogate, beyond the last
	 * character
	 */
	assert_string_equal(json_of("\x80", 1), "\"\xef\xbf\xbd\"");
	assert_string_equal(json_of("x\xe2\x82", 3), "\"x\xef\xbf\xbd\xef\xbf\xbd\"");
	assert_string_equal(
		json_of("\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf",
			18),
		"\"\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf\"");
	assert_string_equal(json_of("\xe0\x9f\xbf", 3), "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
	assert_string_equal(json_of("\xc0\xaf", 2), "\"\xef\xbf\xbd\xef\xbf\xbd\"");
	assert_string_equal(json_of("\xed\xa0\x80", 3), "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
	assert_string_equal(json_of("\xf4\x90\x80\x80", 4),
			    "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
}

/* Each byte at each position among plain ones. */
TEST(plain_text_ends_where_it_does)
{
	char s[20];

	for (int c = 0; c < 256; c++) {
		bool plain = c >= 0x20 && c < 0x7f && c != '"' && c != '\\';

		for (size_t at = 0; at < sizeof(s); at++) {
			memset(s, at % 2 ? ' ' : '~', sizeof(s));
			s[at] = (char)c;
			assert_int_equal(text_plain_len(s, sizeof(s)), plain ? sizeof(s) : at);
			assert_int_equal(text_plain_len(s, at), at);
		}
	}
}

/* For any bytes, a strict reader accepts the output, and the promised room suffices. */
TEST(json_strings_always_valid)
{
	char in[64], out[TEXT_JSON_BYTES(sizeof(in))], *end;
	unsigned int seed = 1;

	for (int round = 0; round < 20000; round++) {
		size_t n = (size_t)(rand_r(&seed) % (int)sizeof(in));
		json_t *j;

		for (size_t i = 0; i < n; i++)
			in[i] = (char)(rand_r(&seed) % 256);
		end = text_json(out, in, n);
		assert_true((size_t)(end - out) <= sizeof(out));
		j = json_loadb(out, (size_t)(end - out), JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
		assert_non_null(j);
		if (text_utf8_valid(in, n)) {
			assert_int_equal(json_string_length(j), n);
			assert_memory_equal(json_string_value(j), in, n);
		}
		json_decref(j);
		end = text_utf8(out, in, n);
		assert_true((size_t)(end - out) <= TEXT_UTF8_BYTES(n));
		assert_true(text_utf8_valid(out, (size_t)(end - out)));
	}
}

TEST(ftrace_names)
{
	char b[64];

	assert_string_equal(ended(b, text_ftrace_comm(b, "kworker/1:1", 11)), "kworker/1:1");
	assert_string_equal(ended(b, text_ftrace_comm(b, "Web Content=\"\\\xff\n", 16)),
			    "Web_Content_____");
	assert_string_equal(ended(b, text_ftrace_comm(b, "", 0)), "?");
}

TEST(out_plain_and_gzip)
{
	enum { LINES = 100000 };
	char line[32], back[32];
	uint64_t bytes[2];

	for (int zip = 0; zip < 2; zip++) {
		FILE *f = tmpfile();
		struct out *o = out_new(f, zip);
		gzFile g;

		for (int i = 0; i < LINES; i++) {
			char *p = text_u64(out_room(o), (uint64_t)i);

			*p++ = '\n';
			out_advance(o, p);
		}
		assert_int_equal(out_finish(o, &bytes[zip]), 0);
		assert_int_equal(ftell(f), bytes[zip]);
		/* zlib reads both files */
		rewind(f);
		g = gzdopen(dup(fileno(f)), "r");
		for (int i = 0; i < LINES; i++) {
			assert_non_null(gzgets(g, back, sizeof(back)));
			snprintf(line, sizeof(line), "%d\n", i);
			assert_string_equal(back, line);
		}
		assert_null(gzgets(g, back, sizeof(back)));
		gzclose(g);
		fclose(f);
	}
	assert_int_equal(bytes[0], 588890);
	assert_true(bytes[1] < bytes[0] / 2);
}

TEST(out_errors_stick)
{
	static char block[1 << 20];
	uint64_t bytes = 7;

	for (int zip = 0; zip < 2; zip++) {
		FILE *f = fopen("/dev/full", "w");
		struct out *o;

		if (!f)
			skip();
		o = out_new(f, zip);
		for (int i = 0; i < 8; i++)
			out_write(o, block, sizeof(block));
		out_text(o, "end");
		assert_int_equal(out_finish(o, &bytes), -ENOSPC);
		assert_int_equal(bytes, 7);
		fclose(f);
	}
}
