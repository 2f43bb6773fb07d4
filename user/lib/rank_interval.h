/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Confidence intervals by ranks, which assume nothing about the distribution of values (Hodges and
 * Lehmann 1963; Hollander & Wolfe, Nonparametric Statistical Methods, 4.3).
 */
#ifndef POV_LIB_RANK_INTERVAL_H
#define POV_LIB_RANK_INTERVAL_H

#include <stddef.h>

/*
 * Rank of the interval's ends among the n × m differences (or ratios) between one of n values and
 * one of m. In order, the interval goes from the rank-th smallest to the rank-th largest of these.
 * The true value lies beyond either end with a probability of at most tail (0.025 gives a 95 %
 * interval). 0: too few values for that.
 */
size_t rank_interval(size_t n, size_t m, double tail);

#endif
