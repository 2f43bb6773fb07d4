/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The ratio of two sets of launches and its 95 % confidence interval, by ranks (Hodges and
 * Lehmann; Hollander & Wolfe, Nonparametric Statistical Methods, 4.3). The method assumes no
 * distribution of the launches.
 */
#ifndef POVBENCH_COMPARE_INTERVAL_H
#define POVBENCH_COMPARE_INTERVAL_H

#include <stdbool.h>
#include <stddef.h>

struct ratio {
	double value, low, high;
};

/*
 * There are n × m ratios of a launch of one set to a launch of the other. In order, the interval
 * goes from the rank-th smallest to the rank-th largest. Returns 0 if there are too few launches
 * for 95 %.
 */
size_t interval_rank(size_t n, size_t m);

/*
 * Median of b over median of a. With rank 0 the interval is from the smallest to the largest
 * ratio, with less than 95 % confidence. Neither set may be empty, and all values must be above 0.
 */
struct ratio interval_ratio(const double *a, size_t n, const double *b, size_t m, size_t rank);

#endif
