/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* The JSON writer: exact text in each style. */
#include <math.h>

#include "unit/test.h"
#include "lib/json_out.h"

struct doc {
	char *text;
	size_t len;
	FILE *f;
	struct json_out *j;
};

static struct json_out *doc_begin(struct doc *d, enum json_out_style style)
{
	d->f = open_memstream(&d->text, &d->len);
	assert_non_null(d->f);
	d->j = json_out_new(d->f, style);
	return d->j;
}

static void doc_end(struct doc *d, const char *wanted)
{
	assert_int_equal(json_out_finish(d->j), 0);
	assert_int_equal(fclose(d->f), 0);
	assert_string_equal(d->text, wanted);
	free(d->text);
}

static void write_sample(struct json_out *j)
{
	json_out_object_begin(j);
	json_out_key_string(j, "name", "a");
	json_out_key_array(j, "list");
	json_out_int(j, -3);
	json_out_object_begin(j);
	json_out_object_end(j);
	json_out_array_begin(j);
	json_out_array_end(j);
	json_out_array_end(j);
	json_out_key_double(j, "t", 1.234);
	json_out_object_end(j);
}

TEST(styles)
{
	static const char *const wanted[] = {
		[JSON_OUT_COMPACT] = "{\"name\":\"a\",\"list\":[-3,{},[]],\"t\":1.234}\n",
		[JSON_OUT_LINES] =
			"{\n\"name\":\"a\",\n\"list\":[\n-3,\n{},\n[]\n],\n\"t\":1.234\n}\n",
		[JSON_OUT_PRETTY] = ("{\n  \"name\": \"a\",\n  \"list\": [\n    -3,\n    {},\n"
				     "    []\n  ],\n  \"t\": 1.234\n}\n"),
	};
	struct doc d;

	for (enum json_out_style style = 0; style < 3; style++) {
		write_sample(doc_begin(&d, style));
		doc_end(&d, wanted[style]);
	}
}

TEST(numbers)
{
	struct doc d;
	struct json_out *j = doc_begin(&d, JSON_OUT_COMPACT);

	json_out_array_begin(j);
	json_out_int(j, INT64_MIN);
	json_out_int(j, INT64_MAX);
	json_out_uint(j, UINT64_MAX);
	json_out_hex(j, UINT64_MAX);
	json_out_double(j, 0.1);
	json_out_double(j, 1.0 / 3);
	json_out_double(j, NAN);
	json_out_double(j, -INFINITY);
	json_out_bool(j, true);
	json_out_bool(j, false);
	json_out_null(j);
	json_out_array_end(j);
	doc_end(&d, "[-9223372036854775808,9223372036854775807,18446744073709551615,"
		    "\"0xffffffffffffffff\",0.1,"
		    "0.33333333333333331,null,null,true,false,null]\n");
}

static void check_string(const char *in, const char *out)
{
	struct doc d;

	json_out_string(doc_begin(&d, JSON_OUT_COMPACT), in);
	doc_end(&d, out);
}

TEST(strings)
{
	check_string("", "\"\"\n");
	check_string(NULL, "null\n");
	check_string("a\"b\\c\b\f\n\r\t\x01\x1f\x7f", "\"a\\\"b\\\\c\\b\\f\\n\\r\\t\\u0001\\u001f"
						      "\\u007f\"\n");
}
