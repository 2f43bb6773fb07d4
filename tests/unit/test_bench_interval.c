/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Intervals of ratios, by samples whose ratio is known; and warming up until times fall no more. */
#include <math.h>
#include <stdlib.h>

#include "unit/test.h"
#include "core/bench.h"
#include "core/overlap_interval.h"
#include "model/model.h"

#define TRIALS 400
#define CNT 50

static uint64_t seed = 7;

static double uniform(void)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (double)(seed >> 11) * 0x1p-53;
}

/* Times as they are: never below the median's half, with a tail. Their median is `median`. */
static void fill(struct samples *s, double median)
{
	size_t i;

	samples_init(s);
	for (i = 0; i < CNT; i++)
		samples_add(s, median * (0.9 + 0.1 * log(1 / (1 - uniform())) / log(2)));
}

/* Of the interval for samples with these medians, on the way out. */
static void interval_of(double before, double behind, double comp, double measured, double *low,
			double *high)
{
	struct samples s[4];
	const struct overlap_samples o = {.comm = {&s[0], &s[1]}, .comp = &s[2], .measured = &s[3]};
	int i;

	fill(&s[0], before);
	fill(&s[1], behind);
	fill(&s[2], comp);
	fill(&s[3], measured);
	overlap_interval(&o, low, high);
	for (i = 0; i < 4; i++)
		samples_release(&s[i]);
}

/* 95 % of intervals have the truth in them; T_comm's own percent makes it some more. */
TEST(covers)
{
	static const double measured[] = {2000, 2500, 3000, 3800};
	double low, high, truth;
	int i, covered = 0;

	for (i = 0; i < TRIALS; i++) {
		truth = (measured[i % 4] - 2000) / 1000;
		interval_of(1000, 1000, 2000, measured[i % 4], &low, &high);
		assert_true(low < high);
		covered += low <= truth && truth <= high;
	}
	assert_in_range(covered, TRIALS * 93 / 100, TRIALS);
	assert_true(covered < TRIALS); /* or they are so wide that they say nothing */
}

/* What T_comm was in between is not known: both are in the interval. */
TEST(drift)
{
	double low, high;

	interval_of(1000, 1400, 5000, 6200, &low, &high);
	assert_true(low < 1200.0 / 1400 + 0.05 && high > 1200.0 / 1000 - 0.05);
	interval_of(1000, 1000, 5000, 6000, &low, &high);
	assert_true(high - low < 0.9);
}

TEST(nothing)
{
	struct samples one, none;
	const struct overlap_samples o = {.comm = {&one, &none}, .comp = &one, .measured = &one};
	double low = 0, high = 0;

	samples_init(&none);
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
	struct samples taken;

	samples_init(&taken);
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
