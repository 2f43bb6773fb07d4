/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Measured algorithms of a collective, for the strategy `collectives`: which algorithm a run used,
 * how to select another one in the library, and how much time a call saves with it.
 */
#ifndef POV_ADVISE_ALGORITHMS_H
#define POV_ADVISE_ALGORITHMS_H

#include "advise/collective_calls.h"
#include "advise/library.h"
#include "advise/measured.h"

/* ---- how far one sample lies above another, whatever their distribution ---- */

#define SHIFT_MOST 48 /* values of a sample that are used */

/* The rank interval over all pairwise differences (lib/rank_interval.h). */
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

/* ---- algorithms ---- */

/* Share of comparisons between equally fast algorithms that may report a difference. */
#define ALGORITHMS_LEVEL 0.05
/* With this many quiet launches of an algorithm, its busy launches are ignored. */
#define ALGORITHMS_QUIET 5

/* An algorithm that was measured, possibly MEASURED_DEFAULT. */
struct algorithm {
	const char *value, *name; /* owned by the struct measured */
};

/* The algorithms of one collective that were measured with the run's settings. */
struct algorithms {
	const struct measured *measured;
	const struct library *library;
	const char *collective;
	struct algorithm *item; /* owned */
	uint32_t n;
	bool openmpi;
	/* Why the last unusable point was left out; NULL: all were usable. Owned. */
	char *left_out;
	const struct measured_point **point; /* the usable points; owned */
	size_t npoint;
};

void algorithms_init(struct algorithms *a, const struct measured *m, const struct library *l,
		     const char *collective);
void algorithms_release(struct algorithms *a);
/* Returns the algorithm that the run's settings select; MEASURED_DEFAULT: none. */
const char *algorithms_used(const struct library *l, const char *collective, bool openmpi);
/* Returns the algorithm's index; UINT32_MAX: it was not measured. */
uint32_t algorithms_find(const struct algorithms *a, const char *value_or_name);
/* Returns the setting that selects the algorithm, as typed. Caller frees. */
char *algorithms_setting(const struct algorithms *a, uint32_t idx);
/* Returns "algorithm 4 (ring)" or "the library's own choice". Caller frees. */
char *algorithms_words(const struct algorithms *a, uint32_t idx);

/*
 * Difference between a call with `used` and a call with `other`, at the measured size nearest to
 * the cell's mean.
 */
struct algorithms_difference {
	uint64_t bytes; /* the measured size */
	/* ns: used minus other; ratio: other over used. */
	struct shift ns, ratio;
	double used_ns, other_ns; /* medians over the launches */
	/* Launches of each algorithm, and the busy ones among both. */
	uint32_t nused, nother, busy;
};

enum algorithms_verdict {
	ALGORITHMS_KNOWN,
	ALGORITHMS_UNMEASURED, /* no measurement near this size for one of the two */
	ALGORITHMS_FEW,	       /* too few launches */
};
enum algorithms_verdict algorithms_compare(const struct algorithms *a,
					   const struct collective_cell *cell, uint32_t used,
					   uint32_t other, struct algorithms_difference *out);

#endif
