/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Summaries of samples. Summarise times first, then form ratios, never the other way round. */
#ifndef POVBENCH_STATS_H
#define POVBENCH_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All zeros: empty. */
struct samples {
	double *value; /* ns, in the order they were taken; owned */
	size_t cnt;
};

struct summary {
	size_t cnt;
	double min, p25, median, p75, p90, p99, max, mean, sd;
	/*
	 * 95 % confidence interval of the median: the order statistics of rank ⌊(n−z√n)/2⌋ and
	 * ⌈1+(n+z√n)/2⌉, z = 1.96 (Hoefler & Belli 2015); from 6 samples on, else min and max.
	 */
	double ci_low, ci_high;
};

void samples_release(struct samples *s);
void samples_clear(struct samples *s);
void samples_add(struct samples *s, double value);

void samples_append(struct samples *to, const struct samples *from);
/* Keeps only cnt samples, from the first-th on, as far as they exist. */
void samples_cut(struct samples *s, size_t first, size_t cnt);

/* Compares two doubles, for qsort: ascending. */
int stats_compare(const void *a, const void *b);
/* Copies the samples in ascending order; the caller releases out. */
void samples_sorted(const struct samples *s, struct samples *out);

/* Fills out, with zeros if there are no samples. */
void stats_summarize(const struct samples *s, struct summary *out);
/* Interpolated linearly between order statistics; q in 0 … 1. */
double stats_quantile(const struct samples *s, double q);
/* The median of cnt values; 0 without any. */
double stats_median(const double *value, size_t cnt);
/* Quantiles 0, 1/parts, 2/parts … 1. out has room for parts + 1. All 0 without samples. */
void stats_quantiles(const struct samples *s, int parts, double *out);
/* True if the confidence interval is within ±pct percent of the median. */
bool stats_settled(const struct samples *s, double pct);
/*
 * De Supinski & Karonis 1999, 3: true if the standard deviation is below pct percent of the mean.
 */
bool stats_steady(const struct samples *s, double pct);

/* Advances a random state by Knuth's MMIX generator, whose high bits have the best quality. */
static inline uint64_t random_step(uint64_t *state)
{
	return *state = *state * 6364136223846793005u + 1442695040888963407u;
}

#endif
