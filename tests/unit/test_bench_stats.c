/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Summaries: order statistics, the median's interval, and when that is narrow enough. */
#include <math.h>

#include "unit/test.h"
#include "bench_near.h"
#include "core/bench.h"
#include "core/overlap_ratio.h"
#include "core/stats.h"
#include "model/model.h"

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

/* ---- intervals ---- */

/* Intervals of ratios, from samples with a known ratio; and warming up until times stop falling. */

#define TRIALS 400
#define CNT 50

static uint64_t seed = 7;

static double uniform(void)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (double)(seed >> 11) * 0x1p-53;
}

/* Fills in realistic times with the given median: bounded below at 0.9 of it, with a tail. */
static void fill(struct samples *s, double median)
{
	size_t i;

	*s = (struct samples){0};
	for (i = 0; i < CNT; i++)
		samples_add(s, median * (0.9 + 0.1 * log(1 / (1 - uniform())) / log(2)));
}

/* Fills in the differences of pairs, with median `added`. */
static void fill_added(struct samples *s, double added)
{
	size_t i;

	fill(s, 1000);
	for (i = 0; i < s->cnt; i++)
		s->value[i] += added - 1000;
}

struct medians {
	double before, after, beside, comp;
	/* Time added to the least and to the largest possible T_comp. */
	double added, added_less;
};

/* Computes the interval for samples with these medians. */
static void interval_of(const struct medians *m, double *low, double *high)
{
	struct samples s[6];
	const struct overlap_samples o = {
		.comm = {&s[0], &s[1], &s[2]}, .phases = 1, .comp = &s[3], .added = {&s[4], &s[5]}};
	int i;

	fill(&s[0], m->before);
	fill(&s[1], m->after);
	fill(&s[2], m->beside);
	fill(&s[3], m->comp);
	fill_added(&s[4], m->added);
	fill_added(&s[5], m->added_less);
	overlap_interval(&o, low, high);
	for (i = 0; i < 6; i++)
		samples_release(&s[i]);
}

/* 95 % of the intervals contain the truth; the percent added for T_comm makes it slightly more. */
TEST(covers)
{
	static const double added[] = {0, 500, 1000, 1800};
	struct medians m = {1000, 1000, 1000, 2000, 0, 0};
	double low, high, truth;
	int i, covered = 0;

	for (i = 0; i < TRIALS; i++) {
		truth = added[i % 4] / 1000;
		m.added = m.added_less = added[i % 4];
		interval_of(&m, &low, &high);
		assert_true(low < high);
		covered += low <= truth && truth <= high;
	}
	assert_in_range(covered, TRIALS * 93 / 100, TRIALS);
	assert_true(covered < TRIALS); /* otherwise they are too wide to be useful */
}

/*
 * The interval is wide enough whichever T_comm, cost of cold caches, or rank that was waited for is
 * the right one.
 */
TEST(spans)
{
	static const struct medians drift = {1000, 1400, 1200, 5000, 1200, 1200};
	static const struct medians cold = {1000, 1000, 1800, 5000, 1200, 1200};
	static const struct medians colder = {1000, 1000, 3000, 5000, 600, 600};
	static const struct medians shorter = {1000, 1000, 800, 5000, 800, 800};
	static const struct medians ranks = {1000, 1000, 1000, 5000, 1000, 0};
	static const struct medians steady = {1000, 1000, 1000, 5000, 1000, 1000};
	double low, high;

	interval_of(&drift, &low, &high);
	assert_true(low < 1200.0 / 1400 + 0.1 && high > 1200.0 / 1000 - 0.1);
	interval_of(&cold, &low, &high);
	assert_true(low < 0.4 + 0.1 && high > 1.2 - 0.1);
	interval_of(&colder, &low, &high);
	assert_true(low > -0.1 && low < 0.1 && high > 0.6 - 0.1);
	interval_of(&shorter, &low, &high);
	assert_true(low < 0.8 + 0.1 && high > 1 - 0.1);
	interval_of(&ranks, &low, &high);
	assert_true(low < 0.1 && high > 0.9);
	interval_of(&steady, &low, &high);
	assert_true(high - low < 0.2);
}

/* A change of pace that affects both of a pair does not widen the interval. */
TEST(pairs)
{
	struct samples comm, comp = {0}, added;
	const struct overlap_samples o = {.comm = {&comm, &comm, &comm},
					  .phases = 1,
					  .comp = &comp,
					  .added = {&added, &added}};
	double low, high;
	int i;

	fill(&comm, 1000);
	fill_added(&added, 1000);
	for (i = 0; i < CNT; i++)
		samples_add(&comp, 1e6 + 1e4 * i);
	overlap_interval(&o, &low, &high);
	assert_true(low > 0.9 && high < 1.1);
	samples_release(&comm);
	samples_release(&comp);
	samples_release(&added);
}

TEST(nothing)
{
	struct samples one, none = {0};
	const struct overlap_samples o = {
		.comm = {&one, &none, &one}, .phases = 1, .comp = &one, .added = {&one, &one}};
	double low = 0, high = 0;

	fill(&one, 100);
	overlap_interval(&o, &low, &high);
	assert_true(isnan(low) && isnan(high));
	samples_release(&one);
}

/* ---- warming up ---- */

struct steps {
	uint64_t called, slow;
	bool settle;
	size_t cnt;
	double median;
};

static double step_sample(struct bench_run *run, void *ctx)
{
	const struct compute how = {COMPUTE_WORK, COMPUTE_ONE};
	struct steps *s = ctx;
	uint64_t ns = s->called++ < s->slow ? 5000 : 1000;

	if (!run->comm->rank)
		run->comm->ops->compute(run->comm, &how, ns);
	return (double)ns;
}

static int step_rank(struct comm *c, void *ctx)
{
	const struct bench_options opt = {
		.samples = 20, .warmup = 2, .settle = ((struct steps *)ctx)->settle};
	struct steps own = *(struct steps *)ctx, *s = c->rank ? &own : ctx;
	const struct measure_how how = {.sample = step_sample, .ctx = s};
	struct bench_run run = {.comm = c, .opt = &opt};
	struct samples taken = {0};

	measure(&run, &how, &taken);
	if (!c->rank) {
		s->cnt = taken.cnt;
		s->median = stats_quantile(&taken, 0.5);
	}
	samples_release(&taken);
	return 0;
}

static struct steps steps_of(uint64_t slow, bool settle)
{
	struct steps s = {.slow = slow, .settle = settle};
	struct model_settings set;

	model_settings_init(&set);
	assert_int_equal(model_run(&set, step_rank, &s), 0);
	return s;
}

TEST(settles)
{
	struct steps s;

	s = steps_of(400, true);
	assert_int_equal(s.cnt, 20);
	assert_true(s.median == 1000);
	assert_true(s.called >= 500);
	s = steps_of(400, false);
	assert_true(s.median == 5000);
	assert_int_equal(s.called, 22);
}
