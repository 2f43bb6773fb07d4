/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* One measurement of overlap in the figures of several suites. Times in ns, ratios without unit. */
#ifndef POVBENCH_OVERLAP_RATIO_H
#define POVBENCH_OVERLAP_RATIO_H

#include "core/stats.h"

struct overlap_times {
	double comm;	 /* T_comm, communication alone */
	double comp;	 /* T_comp, computation alone, without any MPI_Test */
	double measured; /* T_measured, both */
	double in_calls; /* spent in the post and wait calls; Sandia's overhead */
};

struct overlap_ratios {
	double ratio; /* equation (1): 0 perfect, 1 serialized, NaN if T_comm or T_comp is 0 */
	/*
	 * OSU's overlap of non-blocking collectives. It is above 100 if T_measured is below T_comp,
	 * as OSU clamps only at 0. OSU's T_cpu contains the Tests, and its formula subtracts
	 * them: T_comp is the remainder.
	 */
	double osu_pct;
	double imb_pct;	   /* IMB-NBC as coded: overlap, 0 … 100 */
	double imb_io_pct; /* IMB-IO: the same, relative to the shorter of T_comm and T_comp */
	double mpiperf;	   /* 1 − (T_measured − T_comp) / T_comm */
	double sandia;	   /* availability: 1 − overhead / transfer */
};

void overlap_ratios(const struct overlap_times *t, struct overlap_ratios *out);

struct overlap_samples {
	/*
	 * T_comm before the measured points, after them, and beside the point: interleaved with its
	 * samples, each immediately after a computation
	 */
	const struct samples *comm[3];
	double phases; /* computations in T_measured; a sample beside the point has one */
	const struct samples *comp;
	/* T_measured - T_comp of each pair, with the least and the greatest possible T_comp. */
	const struct samples *added[2];
};

/* 95 % confidence interval of the ratio. NaN without samples, or if T_comm or T_comp is 0. */
void overlap_interval(const struct overlap_samples *s, double *low, double *high);

#endif
