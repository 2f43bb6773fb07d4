/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Bounds of a ratio of equation (1) (Denis & Trahay 2016, III.B), from the samples behind it. */
#ifndef POVBENCH_OVERLAP_INTERVAL_H
#define POVBENCH_OVERLAP_INTERVAL_H

#include "core/stats.h"

struct overlap_samples {
	const struct samples *comm[3]; /* T_comm before, after and beside the measured point */
	double phases; /* computations in T_measured per computation beside T_comm */
	const struct samples *comp;
	/* T_measured - T_comp of each pair, with the least and the greatest possible T_comp. */
	const struct samples *added[2];
};

/* 95 % confidence interval of the ratio. NaN without samples, or if T_comm or T_comp is 0. */
void overlap_interval(const struct overlap_samples *s, double *low, double *high);

#endif
