/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Distributions of durations, and confidence intervals. */
#ifndef POV_LIB_STATISTICS_H
#define POV_LIB_STATISTICS_H

#include <stddef.h>
#include <stdint.h>

/*
 * A distribution of durations in little memory: each power of two has 64 equal buckets, so a
 * quantile is within 0.8 % of the true value. Values below 64 are exact, and so are count, sum,
 * minimum and maximum. A zeroed struct is an empty histogram.
 */

/* one for 0…63, and one for each power of two above */
#define HISTOGRAM_PAGES 59
#define HISTOGRAM_PAGE_BUCKETS 64

struct histogram {
	uint64_t *page[HISTOGRAM_PAGES]; /* owned; NULL: empty */
	uint64_t cnt, sum, min, max;
};

void histogram_add(struct histogram *h, uint64_t value);
void histogram_merge(struct histogram *into, const struct histogram *from);
/*
 * The smallest value that pct percent of all values do not exceed; 0 if the histogram is empty.
 * Exact for pct 0 (the minimum) and pct 100 (the maximum).
 */
uint64_t histogram_quantile(const struct histogram *h, double pct);
void histogram_release(struct histogram *h);

/*
 * Confidence intervals by ranks, which assume nothing about the distribution of values (Hodges and
 * Lehmann 1963; Hollander & Wolfe, Nonparametric Statistical Methods, 4.3).
 */

/*
 * Rank of the interval's ends among the n × m differences (or ratios) between one of n values and
 * one of m. In order, the interval goes from the rank-th smallest to the rank-th largest of these.
 * The true value lies beyond either end with a probability of at most tail (0.025 gives a 95 %
 * interval). 0: too few values for that.
 */
size_t rank_interval(size_t n, size_t m, double tail);

#endif
