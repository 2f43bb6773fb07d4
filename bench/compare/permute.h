/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Which of many points differ between two sets of launches, with at most 2 % risk that any is named though none does:
 * Westfall and Young's step-down test of the largest difference (Resampling-Based Multiple Testing, 1993). If the launches
 * of both sets were alike, any of them could have been in either; so they are exchanged as wholes, in all ways or
 * in many drawn ones, and what all points show then is what chance can do. That the points of a launch go together is kept.
 */
#ifndef POVBENCH_COMPARE_PERMUTE_H
#define POVBENCH_COMPARE_PERMUTE_H

#include <stddef.h>

#define PERMUTE_LEVEL 0.02

/*
 * value[point × (n + m) + launch] are logarithms of times: first n launches of one set, then m of the other. p[point]:
 * the share of exchanges in which any point as far down shows as much as this one.
 */
void permute_test(const double *value, size_t point_cnt, size_t n, size_t m, double *p);
/* The least p that so many launches can come to. */
double permute_least_p(size_t n, size_t m);

#endif
