/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Each drift b leaves a range for the difference at the first bound's time: from the highest lower
 * bound to the lowest upper bound, each projected back along b. The width of this range is a
 * concave function of b. Everything here is found by searching along b.
 */
#include "analysis/host_clocks.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "lib/log.h"

#define ROOM_MIN 64
#define STEPS 120
/* rounding of the times of a message's two ends */
#define ROUNDING_NS 2

/* ---- hulls ---- */

static int bound_compare(const void *va, const void *vb)
{
	const struct bound *a = va, *b = vb;

	if (a->at_ns != b->at_ns)
		return a->at_ns < b->at_ns ? -1 : 1;
	return (a->apart_ns < b->apart_ns) - (a->apart_ns > b->apart_ns);
}

/* b lies on or below the line from a to c. */
static bool is_below(const struct bound *a, const struct bound *b, const struct bound *c)
{
	return (b->apart_ns - a->apart_ns) * (c->at_ns - a->at_ns) <=
	       (c->apart_ns - a->apart_ns) * (b->at_ns - a->at_ns);
}

/* Keeps the corners of the upper hull: a line above all corners is above all bounds. */
static void hull_make(struct bounds *s)
{
	uint32_t n = 0;

	if (s->cnt)
		qsort(s->bound, s->cnt, sizeof(*s->bound), bound_compare);
	for (uint32_t i = 0; i < s->cnt; i++) {
		struct bound next = s->bound[i];

		if (n && s->bound[n - 1].at_ns == next.at_ns)
			continue;
		while (n > 1 && is_below(&s->bound[n - 2], &s->bound[n - 1], &next))
			n--;
		s->bound[n++] = next;
	}
	s->cnt = n;
}

static void bound_add(struct clock_bounds *c, struct bounds *s, uint64_t at_ns, int64_t apart_ns,
		      int sign)
{
	if (!c->least.messages && !c->most.messages) {
		c->first_ns = at_ns;
		c->first_apart_ns = apart_ns;
	}
	if (s->cnt == s->room) {
		hull_make(s);
		if (s->cnt * 2 >= s->room) {
			s->room = s->room ? s->room * 2 : ROOM_MIN;
			s->bound = xrealloc(s->bound, s->room * sizeof(*s->bound));
		}
	}
	s->bound[s->cnt++] = (struct bound){
		.at_ns = (double)(int64_t)(at_ns - c->first_ns),
		.apart_ns = sign *
			    (double)(int64_t)((uint64_t)apart_ns - (uint64_t)c->first_apart_ns),
	};
	s->messages++;
}

void clock_bounds_least(struct clock_bounds *c, uint64_t at_ns, int64_t apart_ns)
{
	bound_add(c, &c->least, at_ns, apart_ns, 1);
}

void clock_bounds_most(struct clock_bounds *c, uint64_t at_ns, int64_t apart_ns)
{
	bound_add(c, &c->most, at_ns, apart_ns, -1);
}

void clock_bounds_release(struct clock_bounds *c)
{
	free(c->least.bound);
	free(c->most.bound);
}

/* ---- lines of a given drift ---- */

/* The highest bound, projected along the drift to a time. */
static double bounds_highest(const struct bounds *s, double drift, double at_ns)
{
	double most = -INFINITY;

	for (uint32_t i = 0; i < s->cnt; i++)
		most = fmax(most, s->bound[i].apart_ns + drift * (at_ns - s->bound[i].at_ns));
	return most;
}

/* The least difference of the clocks at a time, for a given drift. */
static double least_at(const struct clock_bounds *c, double drift, double at_ns)
{
	return bounds_highest(&c->least, drift, at_ns);
}

static double most_at(const struct clock_bounds *c, double drift, double at_ns)
{
	return -bounds_highest(&c->most, -drift, at_ns);
}

static double clock_bounds_width(const struct clock_bounds *c, double drift, double at_ns)
{
	(void)at_ns; /* the width is the same at any time */
	return most_at(c, drift, 0) - least_at(c, drift, 0);
}

static double least_below(const struct clock_bounds *c, double drift, double at_ns)
{
	return -least_at(c, drift, at_ns);
}

/* ---- drifts ---- */

struct drifts {
	double low, high;
};

/* Finds the drift with the largest value of a concave function. */
static double drift_of_most(const struct clock_bounds *c, struct drifts d, double at_ns,
			    double (*f)(const struct clock_bounds *c, double drift, double at_ns))
{
	for (int i = 0; i < STEPS; i++) {
		double third = (d.high - d.low) / 3, a = d.low + third, b = d.high - third;

		if (f(c, a, at_ns) < f(c, b, at_ns))
			d.low = a;
		else
			d.high = b;
	}
	return (d.low + d.high) / 2;
}

/* The last possible drift on the way from a possible drift to another one. */
static double drift_edge(const struct clock_bounds *c, double possible, double other)
{
	if (clock_bounds_width(c, other, 0) >= 0)
		return other;
	for (int i = 0; i < STEPS; i++) {
		double mid = (possible + other) / 2;

		*(clock_bounds_width(c, mid, 0) >= 0 ? &possible : &other) = mid;
	}
	return possible;
}

/* How far the truth can be from a given difference at a time. */
static double truth_farthest(const struct clock_bounds *c, struct drifts possible, double at_ns,
			     double apart_ns)
{
	double most = most_at(c, drift_of_most(c, possible, at_ns, most_at), at_ns);
	double least = least_at(c, drift_of_most(c, possible, at_ns, least_below), at_ns);

	return fmax(most - apart_ns, apart_ns - least);
}

/* Finds the range of possible drifts. False: there is none. */
static bool drifts_possible(const struct clock_bounds *c, struct drifts *d, double *widest_ns)
{
	double drift;

	*d = (struct drifts){-CLOCK_BOUNDS_DRIFT_MAX, CLOCK_BOUNDS_DRIFT_MAX};
	drift = drift_of_most(c, *d, 0, clock_bounds_width);
	*widest_ns = clock_bounds_width(c, drift, 0);
	if (*widest_ns < 0)
		return false;
	d->low = drift_edge(c, drift, d->low);
	d->high = drift_edge(c, drift, d->high);
	return true;
}

static double since_first(const struct clock_bounds *c, uint64_t ns)
{
	return (double)(int64_t)(ns - c->first_ns);
}

double clock_bounds_uncertainty(const struct clock_bounds *c, uint64_t from_ns, uint64_t to_ns,
				const struct clock_bounds_line *line)
{
	double from = since_first(c, from_ns), to = since_first(c, to_ns), widest;
	double apart = line->apart_ns - (double)c->first_apart_ns;
	struct drifts d;

	if (!drifts_possible(c, &d, &widest))
		return INFINITY;
	return fmax(truth_farthest(c, d, from, apart),
		    truth_farthest(c, d, to, apart + line->drift * (to - from))) +
	       ROUNDING_NS;
}

enum clock_bounds_state clock_bounds_line(const struct clock_bounds *c, uint64_t from_ns,
					  uint64_t to_ns, struct clock_bounds_line *out)
{
	double from = since_first(c, from_ns), widest;
	struct clock_bounds_line line = {0};
	struct drifts d;

	if (!c->least.messages || !c->most.messages)
		return CLOCK_BOUNDS_OPEN;
	if (!drifts_possible(c, &d, &widest)) {
		*out = (struct clock_bounds_line){.violated_ns = -widest / 2};
		return CLOCK_BOUNDS_CLOSED;
	}
	line.drift = (d.low + d.high) / 2;
	line.apart_ns = (double)c->first_apart_ns +
			(least_at(c, line.drift, from) + most_at(c, line.drift, from)) / 2;
	line.uncertainty_ns = clock_bounds_uncertainty(c, from_ns, to_ns, &line);
	*out = line;
	return CLOCK_BOUNDS_LINE;
}
