/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Converts one measurement into the figures of several suites, so that their users can compare.
 * Equation (1) is that of Denis & Trahay 2016, III.B. The others follow the code of OSU
 * Micro-Benchmarks' non-blocking collectives, Intel MPI Benchmarks' IMB-NBC and IMB-IO, mpiperf,
 * and Sandia's SMB. Clamping is the same as in that code: OSU clamps below only.
 */
#include "core/overlap_ratio.h"

#include <math.h>
#include <stdint.h>

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

/* ---- the interval ---- */

/*
 * A bootstrap of the ratio without resampling. The median of a resample of n samples is the sample
 * of a random rank, which is distributed about the middle with a standard deviation of √n / 2. The
 * interval of a median uses the same approximation (Hoefler & Belli 2015). So each draw takes one
 * sample each of T_comm before, after and beside the point, of T_comp and of T_measured - T_comp,
 * all sorted. The last one is a difference within pairs, so changes that affect both of a pair
 * cancel. T_comm at the moment of the point lies anywhere between the three.
 */

/*
 * Relative standard deviation of T_comm between blocks of samples without any visible change. 1 MiB
 * over shared memory takes 78.2 us alone and 77.1 us in a sequence with 16 us of computation, each
 * accurate to 0.1 us.
 */
#define COMM_KNOWN_TO 0.01
#define DRAWS 2000
#define OUTSIDE 0.025 /* share of the draws left out on each side */

enum { BEFORE, AFTER, BESIDE, COMP, ADDED, ADDED_LESS, SETS };

/* A random number between 0 and 1, both excluded. */
static double uniform(uint64_t *state)
{
	return ((double)(random_step(state) >> 12) + 0.5) * 0x1p-52;
}

/* A normally distributed number, by the method of Box and Muller. */
static double normal(uint64_t *state)
{
	double radius = sqrt(-2 * log(uniform(state)));

	return radius * cos(2 * M_PI * uniform(state));
}

static double draw_median(const struct samples *sorted, uint64_t *state)
{
	double n = (double)sorted->cnt;
	double rank = floor(n * (0.5 + normal(state) / (2 * sqrt(n))));

	return sorted->value[(size_t)fmax(0, fmin(n - 1, rank))];
}

/* A value anywhere between the medians of both sets. */
static double draw_between(const struct samples *a, const struct samples *b, uint64_t *state)
{
	double where = uniform(state);

	return (1 - where) * draw_median(a, state) + where * draw_median(b, state);
}

/*
 * If T_comm beside the point is longer, its calls found cold caches. Calls in T_measured find cold
 * caches too. So any part of T_measured beyond perfect overlap, up to that difference, may have
 * this cause, or none of it.
 */
static double draw_ratio(const struct samples *set, double phases, uint64_t *state)
{
	double comm = draw_between(&set[BEFORE], &set[AFTER], state);
	double colder = draw_median(&set[BESIDE], state) - comm, share = uniform(state);
	struct overlap_times t = {.comp = draw_median(&set[COMP], state)};
	struct overlap_ratios r;
	double over;

	if (colder < 0)
		comm += share * colder;
	t.comm = comm * (1 + COMM_KNOWN_TO * normal(state));
	t.measured = t.comp + draw_between(&set[ADDED], &set[ADDED_LESS], state);
	over = t.measured - fmax(t.comm, t.comp);
	if (colder > 0)
		t.measured -= fmax(0, fmin(over, share * colder * phases));
	overlap_ratios(&t, &r);
	return r.ratio;
}

void overlap_interval(const struct overlap_samples *s, double *low, double *high)
{
	const struct samples *from[SETS] = {s->comm[0], s->comm[1],  s->comm[2],
					    s->comp,	s->added[0], s->added[1]};
	struct samples set[SETS], ratios = {0};
	uint64_t state = 1; /* fixed seed: equal samples give equal intervals */

	*low = *high = NAN;
	for (size_t i = 0; i < SETS; i++) {
		if (!from[i]->cnt)
			return;
	}
	for (size_t i = 0; i < SETS; i++)
		samples_sorted(from[i], &set[i]);
	for (size_t i = 0; i < DRAWS; i++)
		samples_add(&ratios, draw_ratio(set, s->phases, &state));
	if (!isnan(ratios.value[0])) {
		*low = stats_quantile(&ratios, OUTSIDE);
		*high = stats_quantile(&ratios, 1 - OUTSIDE);
	}
	for (size_t i = 0; i < SETS; i++)
		samples_release(&set[i]);
	samples_release(&ratios);
}
