/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * How far the values of one sample lie above those of another, whatever their distribution. The
 * method is the rank interval over all pairwise differences (lib/rank_interval.h).
 */
#ifndef POV_ADVISE_SHIFT_H
#define POV_ADVISE_SHIFT_H

#include <stdbool.h>
#include <stdint.h>

#define SHIFT_MOST 48 /* values of a sample that are used */

struct shift {
	double median, low, high;
};

/*
 * Computes a minus b or, if ratio is set, a over b. The interval misses the true value with
 * probability `level`. Returns false if there are too few values for that confidence.
 */
bool shift_of(const double *a, uint32_t na, const double *b, uint32_t nb, bool ratio, double level,
	      struct shift *out);
/*
 * Returns the smallest size of each sample for which an interval exists; 0: SHIFT_MOST is not
 * enough.
 */
uint32_t shift_needs(double level);

#endif
