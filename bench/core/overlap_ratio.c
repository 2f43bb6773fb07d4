/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Converts one measurement into the figures of several suites, so that their users can compare.
 * Equation (1) is that of Denis & Trahay 2016, III.B. The others follow the code of OSU
 * Micro-Benchmarks' non-blocking collectives, Intel MPI Benchmarks' IMB-NBC and IMB-IO, mpiperf,
 * and Sandia's SMB. Clamping is the same as in that code: OSU clamps below only.
 */
#include "core/overlap_ratio.h"

#include <math.h>

static double clamp_pct(double fraction)
{
	return 100 * fmin(1, fmax(0, fraction));
}

void overlap_ratios(const struct overlap_times *t, struct overlap_ratios *out)
{
	double saved = t->comm + t->comp - t->measured;
	double shorter = fmin(t->comm, t->comp), longer = fmax(t->comm, t->comp);

	if (t->comm <= 0 || t->comp <= 0) {
		/* Without communication or without computation nothing can overlap. */
		*out = (struct overlap_ratios){NAN, NAN, NAN, NAN, NAN, NAN};
		return;
	}
	out->ratio = (t->measured - longer) / shorter;
	out->osu_pct = 100 * fmax(0, 1 - (t->measured - t->comp) / t->comm);
	out->imb_pct = clamp_pct(saved / longer);
	out->imb_io_pct = clamp_pct(saved / shorter);
	out->mpiperf = 1 - (t->measured - t->comp) / t->comm;
	out->sandia = 1 - t->in_calls / t->comm;
}
