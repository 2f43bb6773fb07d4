/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Summaries: order statistics, the median's interval, and when that is narrow enough. */
#include <math.h>

#include "unit/test.h"
#include "bench_near.h"
#include "core/stats.h"

#define EXACT 1e-9

/* Adds 1 … n in unsorted order (n must not be a multiple of 7). */
static void fill_ranks(struct samples *s, size_t n)
{
	size_t i;

	*s = (struct samples){0};
	for (i = 0; i < n; i++)
		samples_add(s, (double)(i * 7 % n + 1));
}

TEST(interval_ranks)
{
	/*
	 * Computed by hand from ⌊(n−1.96√n)/2⌋ and ⌈1+(n+1.96√n)/2⌉; a sample's value is its rank.
	 */
	static const struct {
		size_t cnt;
		double low, high;
	} rows[] = {
		{2, 1, 2},   {5, 1, 5},	   {6, 1, 6},	  {10, 1, 10},
		{30, 9, 22}, {50, 18, 33}, {100, 40, 61}, {1000, 469, 532},
	};
	struct summary sum;
	struct samples s;
	size_t i;

	for (i = 0; i < COUNT(rows); i++) {
		fill_ranks(&s, rows[i].cnt);
		stats_summarize(&s, &sum);
		assert_int_equal(sum.cnt, rows[i].cnt);
		assert_near(sum.ci_low, rows[i].low, EXACT);
		assert_near(sum.ci_high, rows[i].high, EXACT);
		samples_release(&s);
	}
}

TEST(summary)
{
	struct summary sum;
	struct samples s;

	fill_ranks(&s, 101);
	stats_summarize(&s, &sum);
	assert_near(sum.min, 1, EXACT);
	assert_near(sum.p25, 26, EXACT);
	assert_near(sum.median, 51, EXACT);
	assert_near(sum.p75, 76, EXACT);
	assert_near(sum.p90, 91, EXACT);
	assert_near(sum.p99, 100, EXACT);
	assert_near(sum.max, 101, EXACT);
	assert_near(sum.mean, 51, EXACT);
	/* The variance of 1 … n is n(n+1)/12, with n−1 in the denominator. */
	assert_near(sum.sd, sqrt(101.0 * 102 / 12), 1e-9);
	/* The samples keep the order in which they were taken. */
	assert_near(s.value[1], 8, EXACT);
	samples_release(&s);
}

TEST(few)
{
	struct summary sum;
	struct samples s = {0};

	stats_summarize(&s, &sum);
	assert_int_equal(sum.cnt, 0);
	assert_near(sum.median, 0, EXACT);
	assert_near(stats_quantile(&s, 0.5), 0, EXACT);
	assert_false(stats_settled(&s, 100));
	assert_false(stats_steady(&s, 100));
	samples_add(&s, 4);
	stats_summarize(&s, &sum);
	assert_near(sum.median, 4, EXACT);
	assert_near(sum.sd, 0, EXACT);
	assert_near(sum.ci_high, 4, EXACT);
	assert_false(stats_steady(&s, 100));
	samples_add(&s, 8);
	assert_near(stats_quantile(&s, 0.5), 6, EXACT);
	assert_near(stats_quantile(&s, 0.75), 7, EXACT);
	assert_near(stats_quantile(&s, 0), 4, EXACT);
	assert_near(stats_quantile(&s, 1), 8, EXACT);
	samples_clear(&s);
	assert_int_equal(s.cnt, 0);
	samples_release(&s);
	samples_release(NULL);
}

TEST(settled)
{
	struct samples s;
	int i;

	/* 1 … 50 has median 25.5 and interval 18 … 33, which is ±7.5 of 25.5, or 29.4 %. */
	fill_ranks(&s, 50);
	assert_true(stats_settled(&s, 29.5));
	assert_false(stats_settled(&s, 29.3));
	samples_clear(&s);
	for (i = 0; i < 5; i++)
		samples_add(&s, 100);
	assert_false(stats_settled(&s, 5)); /* too few samples */
	samples_add(&s, 100);
	assert_true(stats_settled(&s, 5));
	samples_release(&s);
}

TEST(steady)
{
	struct samples s = {0};

	/* Mean 100, standard deviation √2 · 2. */
	samples_add(&s, 98);
	samples_add(&s, 102);
	assert_true(stats_steady(&s, 3));
	assert_false(stats_steady(&s, 2.8));
	samples_release(&s);
}
