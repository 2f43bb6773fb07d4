/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Comparison of artificial launches: ranks and permutations against known values, and equal
 * launches that must not be called different.
 */
#include <math.h>
#include <unistd.h>

#include "unit/test.h"
#include "bench_near.h"
#include "bench_result.h"
#include "compare/compare.h"
#include "core/result_file.h"

#define POINTS 40
#define TRIALS 40

/*
 * Lower critical values of U for 5 %, two-sided, plus one (Hollander & Wolfe, table A.5, less the
 * smallest sum of ranks).
 */
TEST(interval_orders)
{
	static const struct {
		size_t n, m, order;
	} rows[] = {{1, 1, 0}, {3, 3, 0}, {2, 8, 1},  {4, 4, 1},    {3, 5, 1},	   {5, 5, 3},
		    {4, 6, 3}, {6, 6, 6}, {8, 8, 14}, {10, 10, 24}, {20, 20, 128}, {0, 5, 0}};
	size_t i;

	for (i = 0; i < COUNT(rows); i++) {
		assert_int_equal(interval_order(rows[i].n, rows[i].m), rows[i].order);
		assert_int_equal(interval_order(rows[i].m, rows[i].n), rows[i].order);
	}
	/* The normal approximation continues where exact counting ends. */
	assert_true(fabs((double)interval_order(60, 60) - (double)interval_order(61, 60)) < 45);
}

TEST(interval)
{
	const double a[] = {100, 102, 98, 101}, b[] = {210, 204, 206, 208};
	struct ratio r = interval_ratio(a, 4, b, 4, interval_order(4, 4));

	assert_near(r.value, 207 / 100.5, 1e-12);
	assert_near(r.low, 204.0 / 102, 1e-12);
	assert_near(r.high, 210.0 / 98, 1e-12);
}

/* Counts how often a 95 % interval contains the true ratio. */
TEST(coverage)
{
	size_t held = 0, i, k;
	uint64_t seed = 7;

	for (i = 0; i < 20000; i++) {
		double a[8], b[8];
		struct ratio r;

		for (k = 0; k < 8; k++) {
			a[k] = 100 * exp(0.02 * random_normal(&seed));
			b[k] = 110 * exp(0.02 * random_normal(&seed));
		}
		r = interval_ratio(a, 8, b, 8, interval_order(8, 8));
		held += r.low <= 1.1 && r.high >= 1.1;
	}
	assert_in_range(held, 18900, 19200); /* 94.5 to 96 % */
}

/* Exact p for sets that are fully apart: only this arrangement and its exchange are as extreme. */
TEST(permutations)
{
	const double value[] = {0, 0.01, 0.02, 0.03, 0.5,  0.51, 0.52, 0.53,  /* apart */
				0, 0.03, 0.01, 0.02, 0.03, 0,	 0.02, 0.01}; /* not */
	double p[2];

	permute_test(value, 2, 4, 4, p);
	assert_near(p[0], 2.0 / 70, 1e-12);
	assert_near(p[1], 1, 1e-12);
	assert_near(permute_least_p(4, 4), 2.0 / 70, 1e-12);
	assert_near(permute_least_p(3, 5), 1.0 / 56, 1e-12);
	assert_near(permute_least_p(10, 10), 1e-4, 1e-12);
	assert_near(permute_least_p(1, 1), 1, 1e-12);
	permute_test(value, 1, 1, 1, p);
	assert_near(p[0], 1, 1e-12);
}

/* ---- whole files ---- */

static double varied(double value, double deviation, uint64_t *seed)
{
	return value * exp(deviation * random_normal(seed));
}

static json_t *point_json(int bytes, double ns)
{
	return json_pack("{s:i, s:{s:{s:i, s:f, s:f, s:f}}, s:{}}", "bytes", bytes, "times",
			 "measured", "cnt", 50, "median", ns, "ci_low", 0.99 * ns, "ci_high",
			 1.01 * ns, "values");
}

/* Launches vary by 2 %, and points by 0.5 % more. */
static json_t *launch_json(uint64_t *seed)
{
	json_t *points = json_array();
	double factor = varied(1, 0.02, seed);

	for (int i = 0; i < POINTS; i++)
		json_array_append_new(
			points, point_json(i + 1, varied((1000 + 100 * i) * factor, 0.005, seed)));
	return json_pack("{s:{s:s}, s:[{s:s, s:s, s:i, s:{}, s:o}]}", "factors", "host", "here",
			 "results", "benchmark", "pingpong", "kind", "curve", "ranks", 2, "options",
			 "points", points);
}

static char *file_write(const char *dir, const char *name, size_t launches, uint64_t seed)
{
	json_t *root = json_pack("{s:s, s:i, s:[]}", "format", "povbench", "version", 2,
				 "launches");
	char *path = xasprintf("%s/%s.json", dir, name);

	while (launches--)
		json_array_append_new(json_object_get(root, "launches"), launch_json(&seed));
	assert_int_equal(json_dump_file(root, path, 0), 0);
	json_decref(root);
	return path;
}

static void file_drop(char *path)
{
	unlink(path);
	free(path);
}

static bool has_spread(const struct comparison *c, int file)
{
	json_t *list = spread_find(c, file);
	bool has = json_array_size(list) > 0;

	json_decref(list);
	return has;
}

/* Whether any point, or all together, or launches within a file are called different. */
static bool are_different(const char *dir, size_t launches, uint64_t seed)
{
	char *a = file_write(dir, "a", launches, 2 * seed + 1000);
	char *b = file_write(dir, "b", launches, 2 * seed + 1001);
	struct judgement *j;
	struct comparison c;
	bool different;

	assert_int_equal(collect(&c, a, b), 0);
	assert_int_equal(c.cnt, 1);
	assert_int_equal(c.result[0].point_cnt, POINTS);
	j = judge(&c);
	different = j->slower_cnt || j->faster_cnt || j->all.verdict != VERDICT_NONE ||
		    has_spread(&c, A) || has_spread(&c, B);
	judge_release(j, c.cnt);
	collect_release(&c);
	file_drop(a);
	file_drop(b);
	return different;
}

/* Launches that are equal. golden/compare.bats has others. */
TEST_WITH(equal, setup, teardown)
{
	static const size_t launches[] = {5, 10};
	const struct fixture *f = *state;

	for (size_t k = 0; k < 2; k++) {
		size_t called = 0;

		for (size_t i = 0; i < TRIALS; i++)
			called += are_different(f->dir, launches[k], 100 * k + i);
		print_message("equal launches, %zu each: called different in %zu of %d trials\n",
			      launches[k], called, TRIALS);
		assert_in_range(called, 0, 2); /* 5 % */
	}
}
