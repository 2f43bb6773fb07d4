/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Between which bounds a ratio of equation (1) lies (Denis & Trahay 2016, III.B), by the samples that it is made of. */
#ifndef POVBENCH_OVERLAP_INTERVAL_H
#define POVBENCH_OVERLAP_INTERVAL_H

#include "core/stats.h"

struct overlap_samples {
	const struct samples *comm[3]; /* T_comm before and after what was measured, and beside it */
	double phases; /* computations in T_measured, for each one beside which T_comm was taken */
	const struct samples *comp;
	const struct samples *added
		[2]; /* T_measured - T_comp of each pair; by the least and the most that T_comp may be */
};

/* 95 % confidence interval of the ratio. NaN without samples, or if T_comm or T_comp is 0. */
void overlap_interval(const struct overlap_samples *s, double *low, double *high);

#endif
