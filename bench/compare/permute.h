/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Finds the points that differ between two sets of launches. The risk of naming any point although
 * none differs is at most 2 %. The method is Westfall and Young's step-down test of the largest
 * difference (Resampling-Based Multiple Testing, 1993). If both sets were alike, each launch could
 * have been in either. So whole launches are exchanged, in all ways or in many drawn ones, which
 * shows the effect of chance on all points. The dependence between the points of a launch is
 * preserved.
 */
#ifndef POVBENCH_COMPARE_PERMUTE_H
#define POVBENCH_COMPARE_PERMUTE_H

#include <stddef.h>

#define PERMUTE_LEVEL 0.02

/*
 * value[point × (n + m) + launch] are logarithms of times: first the n launches of one set, then
 * the m of the other. p[point] is the share of exchanges in which this point, or a point with a
 * smaller actual difference, differs as much as this one does.
 */
void permute_test(const double *value, size_t point_cnt, size_t n, size_t m, double *p);
/* The least p that is possible with that many launches. */
double permute_least_p(size_t n, size_t m);

#endif
