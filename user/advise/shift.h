/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * By how much values of one kind lie above those of another, whatever their distribution: the interval of all pairs' differences by
 * ranks (lib/rank_interval.h).
 */
#ifndef POV_ADVISE_SHIFT_H
#define POV_ADVISE_SHIFT_H

#include <stdbool.h>
#include <stdint.h>

#define SHIFT_MOST 48 /* values of a kind that are looked at */

struct shift {
	double median, low, high;
};

/*
 * a less b, or, with ratio, a over b. The interval holds the truth but in `level` of all cases. false: with so few values no interval can
 * be that sure.
 */
bool shift_of(const double *a, uint32_t na, const double *b, uint32_t nb, bool ratio, double level,
	      struct shift *out);
/* The least number of values of each kind with which there is one; 0: not with SHIFT_MOST either. */
uint32_t shift_needs(double level);

#endif
