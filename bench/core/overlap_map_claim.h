/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The claims that a map's known points (overlap_map_judge.h) support for each size, each for a
 * range of computation times. A claim is made for a range if one of its points holds it and none
 * contradicts it (numbers in classify.h). A size's points are divided into as few ranges as
 * possible, starting with the shortest computation.
 */
#ifndef POVBENCH_OVERLAP_MAP_CLAIM_H
#define POVBENCH_OVERLAP_MAP_CLAIM_H

#include "core/classify.h"

struct map_cell_known {
	double bytes, compute_ns; /* NaN: without computation times */
	double low, high;	  /* of the ratio; equal if there is no interval */
	const struct result_point *point;
};

struct map_claim {
	enum classify_overlap class;
	double compute_low, compute_high; /* ns */
};

struct map_size_claims {
	double bytes;
	size_t cell, cell_cnt;	 /* its known cells */
	struct map_claim *claim; /* by computation time; owned */
	size_t claim_cnt;	 /* 0: no claim */
};

struct map_claims {
	struct map_cell_known *cell; /* by size, then computation time; owned */
	size_t cell_cnt;
	struct map_size_claims *size; /* all sizes of the map, ascending; owned */
	size_t size_cnt;
	size_t point_cnt, wrong_cnt; /* of the map */
	double line;		     /* overlap_map_judge.h */
};

void map_claims_init(struct map_claims *c, const struct result *r);
void map_claims_release(struct map_claims *c);

/* True if no known point of sizes from … to, with the claim's computation times, contradicts it. */
bool map_claims_allow(const struct map_claims *c, size_t from, size_t to,
		      const struct map_claim *claim);
/* Class from all claims of a size: CLASSIFY_UNJUDGED without any, CLASSIFY_MIXED with several. */
enum classify_overlap map_size_class(const struct map_size_claims *size);

#endif
