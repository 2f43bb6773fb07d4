/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Intervals by ranks, of which nothing is supposed of how values are distributed (Hodges and Lehmann 1963; Hollander & Wolfe, Nonparametric
 * Statistical Methods, 4.3).
 */
#ifndef POV_LIB_RANK_INTERVAL_H
#define POV_LIB_RANK_INTERVAL_H

#include <stddef.h>

/*
 * Of the n × m differences (or ratios) of one of n values and one of m, in order, the interval goes from the rank-th smallest to the
 * rank-th largest; the truth lies beyond either end with a probability of tail (0.025: 95 %) at most. 0: there are too few values for that.
 */
size_t rank_interval(size_t n, size_t m, double tail);

#endif
