/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Comparison of artificial launches: ranks and permutations against known values, equal launches
 * that must not be called different, and planted differences that must be found.
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

struct planted {
	double slow;	      /* factor of all times */
	double point;	      /* factor of the first point */
	size_t every;	      /* every n-th launch … */
	double by;	      /* … is slower by this factor */
	double noise, single; /* standard deviation of launches, and of each point */
};

static const struct planted equal = {1, 1, 0, 1, 0.02, 0.005};

static json_t *point_json(int bytes, double ns)
{
	return json_pack("{s:i, s:{s:{s:i, s:f, s:f, s:f}}, s:{}}", "bytes", bytes, "times",
			 "measured", "cnt", 50, "median", ns, "ci_low", 0.99 * ns, "ci_high",
			 1.01 * ns, "values");
}

static json_t *launch_json(const struct planted *how, size_t number, uint64_t *seed)
{
	json_t *points = json_array();
	double factor = how->slow * exp(how->noise * random_normal(seed));
	int i;

	if (how->every && number % how->every == 0)
		factor *= how->by;
	for (i = 0; i < POINTS; i++) {
		double ns = (1000 + 100 * i) * factor * (i ? 1 : how->point);

		json_array_append_new(
			points, point_json(i + 1, ns * exp(how->single * random_normal(seed))));
	}
	return json_pack("{s:{s:s}, s:[{s:s, s:s, s:i, s:{}, s:o}]}", "factors", "host", "here",
			 "results", "benchmark", "pingpong", "kind", "curve", "ranks", 2, "options",
			 "points", points);
}

static void write_file(const char *path, const struct planted *how, size_t launches, uint64_t seed)
{
	json_t *root = json_pack("{s:s, s:i, s:[]}", "format", "povbench", "version", 2,
				 "launches");
	size_t i;

	for (i = 1; i <= launches; i++)
		json_array_append_new(json_object_get(root, "launches"),
				      launch_json(how, i, &seed));
	assert_int_equal(json_dump_file(root, path, 0), 0);
	json_decref(root);
}

struct trial {
	struct comparison c;
	struct judgement *j;
	char *a, *b;
};

static void trial_begin(struct trial *t, const struct fixture *f, const struct planted *other,
			size_t launches, uint64_t seed)
{
	t->a = xasprintf("%s/a.json", f->dir);
	t->b = xasprintf("%s/b.json", f->dir);
	write_file(t->a, &equal, launches, 2 * seed + 1000);
	write_file(t->b, other, launches, 2 * seed + 1001);
	assert_int_equal(collect(&t->c, t->a, t->b), 0);
	assert_int_equal(t->c.cnt, 1);
	assert_int_equal(t->c.result[0].point_cnt, POINTS);
	t->j = NULL;
}

static void trial_judge(struct trial *t, const struct fixture *f, const struct planted *other,
			size_t launches, uint64_t seed)
{
	trial_begin(t, f, other, launches, seed);
	t->j = judge(&t->c);
}

static void trial_end(struct trial *t)
{
	if (t->j)
		judge_release(t->j, t->c.cnt);
	collect_release(&t->c);
	unlink(t->a);
	unlink(t->b);
	free(t->a);
	free(t->b);
}

/* Whether the comparison calls any point, or all together, different, or launches within a file. */
static bool calls_different(const struct trial *t)
{
	const struct judgement *j = &t->j[0];
	json_t *a = spread_find(&t->c, A), *b = spread_find(&t->c, B);
	bool spread = json_array_size(a) || json_array_size(b);

	json_decref(a);
	json_decref(b);
	return spread || j->slower_cnt || j->faster_cnt || j->all.verdict != VERDICT_NONE;
}

TEST_WITH(equal, setup, teardown)
{
	static const size_t launches[] = {5, 10};
	size_t i, k, called;
	struct trial t;

	for (k = 0; k < 2; k++) {
		for (i = 0, called = 0; i < TRIALS; i++) {
			trial_judge(&t, *state, &equal, launches[k], 100 * k + i);
			called += calls_different(&t);
			trial_end(&t);
		}
		print_message("equal launches, %zu each: called different in %zu of %d trials\n",
			      launches[k], called, TRIALS);
		assert_in_range(called, 0, 2); /* 5 % */
	}
}

/* All points slower by a tenth, or one of many points; launches vary by 2 %. */
TEST_WITH(slower, setup, teardown)
{
	static const struct {
		struct planted how;
		size_t slower;
	} rows[] = {{{1.1, 1, 0, 1, 0.02, 0.005}, POINTS}, {{1, 1.2, 0, 1, 0.02, 0.005}, 1}};
	struct trial t;

	for (size_t k = 0; k < 2; k++) {
		for (size_t i = 0; i < 8; i++) {
			trial_judge(&t, *state, &rows[k].how, 10, i);
			assert_int_equal(t.j[0].point[0].verdict, VERDICT_SLOWER);
			assert_int_equal(t.j[0].faster_cnt, 0);
			if (rows[k].slower == 1) {
				assert_int_equal(t.j[0].slower_cnt, 1);
			} else {
				assert_int_equal(t.j[0].all.verdict, VERDICT_SLOWER);
				assert_near(t.j[0].all.ratio.value, 1.1, 0.04);
			}
			trial_end(&t);
		}
	}
}

/* Whether exactly the file's third, sixth … launches are named. */
static bool every_third_named(const json_t *spread, size_t launches)
{
	const json_t *list = json_object_get(json_array_get(spread, 0), "launches"), *one;
	size_t i;

	if (json_array_size(spread) != 1 || json_array_size(list) != launches / 3)
		return false;
	json_array_foreach(list, i, one)
	{
		if (json_integer_value(one) != (json_int_t)(3 * i + 3))
			return false;
	}
	return true;
}

TEST_WITH(every_third, setup, teardown)
{
	const struct planted third = {1, 1, 3, 1.1, 0.01, 0.005};
	size_t i, named = 0;
	struct trial t;
	json_t *spread;
	char *text;

	for (i = 0; i < TRIALS; i++) {
		trial_begin(&t, *state, &third, 15, i);
		spread = spread_find(&t.c, B);
		named += every_third_named(spread, 15);
		if (!i) {
			text = spread_text(json_array_get(spread, 0));
			assert_memory_equal(
				text, "pingpong, 2 ranks: launches 3, 6, 9, 12 and 15 of 15 are ",
				57);
			assert_non_null(strstr(text, " % slower than the others"));
			free(text);
		}
		json_decref(spread);
		trial_end(&t);
	}
	print_message("every third launch a tenth slower, of 15: named in %zu of %d trials\n",
		      named, TRIALS);
	assert_in_range(named, 38, TRIALS);
}

/*
 * Single launches have no verdict and use their own intervals. A few launches have no verdict
 * either.
 */
TEST_WITH(few, setup, teardown)
{
	const struct planted twice = {2, 1, 0, 1, 0.02, 0.005};
	struct trial t;

	trial_judge(&t, *state, &twice, 1, 1);
	assert_false(t.j[0].repeated);
	assert_int_equal(t.j[0].all.verdict, VERDICT_UNKNOWN);
	assert_int_equal(t.j[0].point[0].verdict, VERDICT_UNKNOWN);
	assert_near(t.j[0].point[0].ratio.low, t.j[0].point[0].ratio.value * 0.99 / 1.01, 1e-9);
	assert_true(isnan(t.j[0].all.ratio.low));
	assert_int_equal(judge_launches_needed(&t.c), 5);
	trial_end(&t);
	trial_judge(&t, *state, &twice, 4, 1);
	assert_true(t.j[0].repeated);
	assert_false(t.j[0].able);
	assert_int_equal(t.j[0].slower_cnt, 0);
	trial_end(&t);
	trial_judge(&t, *state, &twice, 5, 1);
	assert_true(t.j[0].able);
	assert_int_equal(t.j[0].slower_cnt, POINTS);
	trial_end(&t);
}
