/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Results: values are read back as stored, and printed. */
#include <math.h>

#include "unit/test.h"
#include "bench_near.h"
#include "bench_result.h"
#include "core/param_text.h"
#include "core/result_file.h"

EACH_TEST(setup, teardown);

TEST(numbers)
{
	struct fixture *f = *state;
	const struct result_point *p;

	add_point(f->r, 64);
	add_point(f->r, 4096);
	assert_int_equal(result_point_cnt(f->r), 2);
	p = result_point_at(f->r, 1);
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
	result_free(NULL);
}

/* Sorted by bytes, then by window, in whatever order the points came. */
TEST(sorted)
{
	static const uint64_t added[][2] = {{64, 2}, {8, 3}, {64, 1}, {8, 1}};
	static const uint64_t wanted[][2] = {{8, 1}, {8, 3}, {64, 1}, {64, 2}};
	struct fixture *f = *state;

	for (size_t i = 0; i < 4; i++) {
		struct result_point *p = result_point_add(f->r);

		result_param(p, "bytes", added[i][0]);
		result_param(p, "window", added[i][1]);
	}
	result_sort(f->r, "bytes", "window");
	for (size_t i = 0; i < 4; i++) {
		const struct result_point *p = result_point_at(f->r, i);

		assert_near(result_number(p, "bytes"), (double)wanted[i][0], 0);
		assert_near(result_number(p, "window"), (double)wanted[i][1], 0);
	}
}

/* Returns the time "measured" of the first point; borrowed. */
static json_t *first_time(struct result *r)
{
	json_t *point = json_array_get(json_object_get(result_json(r), "points"), 0);

	return json_object_get(json_object_get(point, "times"), "measured");
}

TEST(samples_kept)
{
	struct fixture *f = *state;
	struct result_about about = f->about;
	struct result *r;
	json_t *samples;

	add_point(f->r, 1);
	assert_null(json_object_get(first_time(f->r), "samples"));
	assert_int_equal(json_array_size(json_object_get(first_time(f->r), "quantiles")), 21);
	about.keep_samples = true;
	r = result_new(&about);
	add_point(r, 1);
	samples = json_object_get(first_time(r), "samples");
	assert_int_equal(json_array_size(samples), 9);
	assert_near(json_number_value(json_array_get(samples, 2)), 3001.5, 1e-9);
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

	for (i = 0; i < COUNT(rows); i++)
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

/* Parameters are printed as users type them. A single rank is not printed. */
TEST(print_one)
{
	struct fixture *f = *state;
	struct result_about about = f->about;
	struct result_point *p;
	struct result *r;

	about.ranks = 1;
	r = result_new(&about);
	p = result_point_add(r);
	result_param(p, "compute_ns", 80000);
	result_param(p, "bytes", 65536);
	assert_prints("# sender, 1 rank: sender's side\n"
		      "    compute        bytes\n"
		      "      80 us       64 KiB\n\n",
		      out, result_print(r, true, out));
	result_free(r);
}

TEST(print)
{
	struct fixture *f = *state;

	add_point(f->r, 64);
	add_point(f->r, 1 << 20);
	result_sentence_set(f->r, "no overlap");
	assert_prints("# sender, 2 ranks: sender's side\n"
		      "      bytes    algorithm  measured_us        ratio\n"
		      "       64 B     binomial        5.003          0.5\n"
		      "      1 MiB     binomial        5.003          0.5\n"
		      "# no overlap\n\n",
		      out, result_print(f->r, true, out));
}

/*
 * Curves as tables in the format of the OSU benchmarks: other lines than rows begin with '#', and
 * sizes are plain numbers.
 */
static struct result_point *point(struct result *r, uint64_t bytes, double ns)
{
	struct result_point *p = result_point_add(r);
	struct samples s = {0};

	samples_add(&s, ns);
	samples_add(&s, ns);
	samples_add(&s, 4 * ns);
	result_param(p, "bytes", bytes);
	result_time(p, "measured", &s);
	result_value(p, "mb_per_s", (double)bytes / ns * 1e3);
	samples_release(&s);
	return p;
}

static struct result *curve(const struct fixture *f, const char *name, const char *brief)
{
	struct result_about about = f->about;

	about.benchmark = name;
	about.brief = brief;
	about.kind = RESULT_CURVE;
	return result_new(&about);
}

static void assert_table(struct result *r, const char *expected)
{
	assert_prints(expected, out, result_print(r, false, out));
	result_free(r);
}

TEST(curve_of_latencies)
{
	struct result *r = curve(*state, "latency", "half a ping-pong");

	point(r, 0, 1000);
	point(r, 4 << 20, 500123.4);
	result_sentence_set(r, "latency: good");
	assert_table(r, "# povbench latency, 2 ranks: half a ping-pong\n"
			"# Size (B)    Latency p50 (us)    p99 (us)   mean (us)        MB/s\n"
			"0                        1.000       3.940       2.000        0.00\n"
			"4194304                500.123    1970.486    1000.247     8386.54\n"
			"# latency: good\n\n");
}

TEST(curve_of_rates)
{
	struct result *r = curve(*state, "bandwidth", "a window of sends");
	struct result_point *p = point(r, 1, 100);

	result_value(p, "messages_per_s", 1e7);
	result_param(p, "window", 64);
	assert_table(
		r,
		"# povbench bandwidth, 2 ranks: a window of sends\n"
		"# Size (B)    Bandwidth (MB/s)  Messages/s    p50 (us)    p99 (us)      Window\n"
		"1                        10.00    10000000       0.100       0.394          64\n\n");
}

/* A value that only one row has gets a column in all. */
TEST(curve_of_pairs)
{
	struct result *r = curve(*state, "message_rate", "windows in pairs");
	struct result_point *p = point(r, 1, 100);

	result_value(p, "messages_per_s", 1e7);
	p = point(r, 2, 100);
	result_value(p, "messages_per_s", 1e7);
	result_param(p, "pairs", 3);
	assert_table(
		r,
		"# povbench message_rate, 2 ranks: windows in pairs\n"
		"# Size (B)    Bandwidth (MB/s)  Messages/s    p50 (us)    p99 (us)       Pairs\n"
		"1                        10.00    10000000       0.100       0.394           -\n"
		"2                        20.00    10000000       0.100       0.394           3\n\n");
}

TEST(empty_curve)
{
	assert_table(curve(*state, "latency", "half a ping-pong"),
		     "# povbench latency, 2 ranks: half a ping-pong\n# Size (B)  \n\n");
}
