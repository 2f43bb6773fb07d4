/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Algorithms of a collective as they were measured, for the strategy `collectives`: which one a run used, how libraries are told another one, and
 * by how much a call takes less with it.
 */
#ifndef POV_ADVISE_ALGORITHMS_H
#define POV_ADVISE_ALGORITHMS_H

#include "advise/collective_calls.h"
#include "advise/library.h"
#include "advise/measured.h"
#include "advise/shift.h"

#define ALGORITHMS_LEVEL \
	0.05 /* of so many comparisons of equal algorithms one may say that they differ */
#define ALGORITHMS_QUIET 5 /* launches of an algorithm are enough without those that were busy */

/* One that was measured; "default" is one, too. */
struct algorithm {
	const char *value, *name; /* of the measured file */
};

/* The algorithms of a collective that were measured with the settings of the run. */
struct algorithms {
	const struct measured *measured;
	const struct library *library;
	const char *collective;
	struct algorithm *item; /* owned */
	uint32_t n;
	bool openmpi;
	/* Why points were left out, the last of them; NULL: none was. Owned. */
	char *left_out;
	const struct measured_point **point; /* those that are not; owned */
	size_t npoint;
};

void algorithms_init(struct algorithms *a, const struct measured *m, const struct library *l,
		     const char *collective);
void algorithms_release(struct algorithms *a);
/* What the run was told to use; MEASURED_DEFAULT: nothing. */
const char *algorithms_used(const struct library *l, const char *collective, bool openmpi);
/* Its index; UINT32_MAX: it was not measured. */
uint32_t algorithms_find(const struct algorithms *a, const char *value_or_name);
/* What to type for it. Caller frees. */
char *algorithms_setting(const struct algorithms *a, uint32_t idx);
/* "algorithm 4 (ring)", "the library's own choice". Caller frees. */
char *algorithms_words(const struct algorithms *a, uint32_t idx);

/* A call with `used` instead of `other`, of the size measured that is nearest to the cell's mean. */
struct algorithms_difference {
	uint64_t bytes;		      /* of that size */
	struct shift ns, ratio;	      /* used less other; other over used */
	double used_ns, other_ns;     /* medians over launches */
	uint32_t nused, nother, busy; /* launches; of both, those that were busy */
};

enum algorithms_verdict {
	ALGORITHMS_KNOWN,
	ALGORITHMS_UNMEASURED, /* one of them, at about this size */
	ALGORITHMS_FEW,	       /* launches */
};
enum algorithms_verdict algorithms_compare(const struct algorithms *a,
					   const struct collective_cell *cell, uint32_t used,
					   uint32_t other, struct algorithms_difference *out);

#endif
