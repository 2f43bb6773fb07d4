/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Results: what is put in is read back, and printed. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit/test.h"
#include "bench_near.h"
#include "bench_result.h"
#include "core/param_text.h"
#include "core/result_print.h"

TEST_WITH(numbers, setup, teardown)
{
	struct fixture *f = *state;
	struct result *r = result_new(&f->about);
	const struct result_point *p;

	add_point(r, 64);
	add_point(r, 4096);
	assert_int_equal(result_point_cnt(r), 2);
	p = result_point_at(r, 1);
	assert_near(result_number(p, "bytes"), 4096, 0);
	assert_near(result_number(p, "measured"), 5 * 1000.5, 1e-9);
	assert_near(result_number(p, "measured.max"), 9 * 1000.5, 1e-9);
	assert_near(result_number(p, "measured.cnt"), 9, 0);
	assert_near(result_number(p, "ratio"), 0.5, 0);
	assert_true(isnan(result_number(p, "nothing")));
	assert_true(isnan(result_number(p, "too_much")));
	assert_true(isnan(result_number(p, "algorithm")));
	assert_true(isnan(result_number(p, "measured.mode")));
	assert_true(isnan(result_number(p, "comm")));
	result_free(r);
	result_free(NULL);
}

TEST_WITH(samples_kept, setup, teardown)
{
	struct fixture *f = *state;
	struct result_about about = f->about;
	struct result *r = result_new(&about);
	json_t *time;

	add_point(r, 1);
	time = json_object_get(
		json_object_get(json_array_get(json_object_get(result_json(r), "points"), 0),
				"times"),
		"measured");
	assert_null(json_object_get(time, "samples"));
	assert_int_equal(json_array_size(json_object_get(time, "quantiles")), 21);
	result_free(r);
	about.keep_samples = true;
	r = result_new(&about);
	add_point(r, 1);
	time = json_object_get(
		json_object_get(json_array_get(json_object_get(result_json(r), "points"), 0),
				"times"),
		"measured");
	assert_int_equal(json_array_size(json_object_get(time, "samples")), 9);
	assert_near(json_number_value(json_array_get(json_object_get(time, "samples"), 2)), 3001.5,
		    1e-9);
	result_free(r);
}

TEST(param_text)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} rows[] = {
		{0, "0 ns"},
		{20, "20 ns"},
		{1000, "1 us"},
		{20000, "20 us"},
		{1280000, "1.28 ms"},
		{100000000, "100 ms"},
		{1500000000, "1.5 s"},
		{30000000000, "30 s"},
		{1414214, "1.414 ms"},
		{70007000, "70.007 ms"},
		{120000000000, "2 min 0 s"},
	};
	char text[HUMAN_BYTES];
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_string_equal(param_ns(text, sizeof(text), rows[i].ns), rows[i].text);
	assert_string_equal(param_bytes(text, sizeof(text), 0), "0 B");
	assert_string_equal(param_bytes(text, sizeof(text), 1023), "1023 B");
	assert_string_equal(param_bytes(text, sizeof(text), 65536), "64 KiB");
	assert_string_equal(param_bytes(text, sizeof(text), 65480), "65480 B");
	assert_string_equal(param_bytes(text, sizeof(text), (1 << 20) + 1024), "1049600 B");
	assert_string_equal(param_bytes(text, sizeof(text), 128 << 20), "128 MiB");
	assert_string_equal(plural_s(0), "s");
	assert_string_equal(plural_s(1), "");
	assert_string_equal(plural_s(2), "s");
}

/* What was set is written as it is typed; one rank is no ranks. */
TEST_WITH(print_one, setup, teardown)
{
	struct fixture *f = *state;
	struct result_about about = f->about;
	struct result_point *p;
	struct result *r;
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	about.ranks = 1;
	r = result_new(&about);
	p = result_point_add(r);
	result_param(p, "compute_ns", 80000);
	result_param(p, "bytes", 65536);
	result_print(r, true, out);
	fclose(out);
	assert_string_equal(text, "# sender, 1 rank: sender's side\n"
				  "    compute        bytes\n"
				  "      80 us       64 KiB\n\n");
	free(text);
	result_free(r);
}

TEST_WITH(print, setup, teardown)
{
	struct fixture *f = *state;
	struct result *r = result_new(&f->about);
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	add_point(r, 64);
	add_point(r, 1 << 20);
	result_sentence_set(r, "no overlap");
	result_print(r, true, out);
	fclose(out);
	assert_string_equal(text, "# sender, 2 ranks: sender's side\n"
				  "      bytes    algorithm  measured_us        ratio\n"
				  "       64 B     binomial        5.003          0.5\n"
				  "      1 MiB     binomial        5.003          0.5\n"
				  "# no overlap\n\n");
	free(text);
	result_free(r);
}
