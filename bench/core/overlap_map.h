/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Judges how much a point of a map shows. Tables, sentences and pictures all use this judgement.
 * Points come from a result file (kmod-docs/BENCH_FORMAT.md) and may contain anything.
 *
 * A point is unknown if its interval is wider than MAP_KNOWN_WIDTH, or if it is left of the map's
 * line. It is left of the line if its computation takes MAP_LINE_FROM_NS or more and T_comm is a
 * smaller share of it than the variation of computation. That share applies to the whole map, so a
 * point whose own interval is narrow by chance is not trusted where most points are unknown. A
 * point with a ratio below MAP_CLEARLY_BELOW is wrong if it has too_short_ns (its whole interval is
 * too low), otherwise unknown.
 */
#ifndef POVBENCH_OVERLAP_MAP_H
#define POVBENCH_OVERLAP_MAP_H

#include "core/stats.h"
#include "core/classify.h"

#include <jansson.h>

#define MAP_KNOWN_WIDTH 0.5 /* of a ratio's interval; full overlap and none are 1 apart */
/* Shorter computations vary by the clock's resolution and are seldom interrupted. */
#define MAP_LINE_FROM_NS 1e5
#define MAP_CLEARLY_BELOW -0.1 /* a ratio below this is wrong, not just inexact */

enum map_judged {
	MAP_BLANK, /* the point has no ratio */
	MAP_KNOWN,
	MAP_UNKNOWN,
	/* T_measured is below T_comm or T_comp by more than chance and the clock explain. */
	MAP_WRONG,
};

/*
 * The variation of computation in a map, as a share of T_comp: the T_comm whose ratio would have an
 * interval of MAP_KNOWN_WIDTH. map_line_add takes every point and adds a number for those that
 * show it. map_line returns their median, or 0 if there are too few. map_line_of does both.
 */
void map_line_add(struct samples *s, const json_t *point);
double map_line(const struct samples *s);
double map_line_of(const json_t *points);
/* True if a point with these times is left of the line. */
bool map_is_left(double line, double comm_ns, double comp_ns);
/* The line in words, owned by the caller; null if there is no line. */
char *map_line_text(double line);

enum map_judged map_judge(const json_t *point, double line);

/* ---- claims ---- */

/*
 * The claims that a map's known points support for each size, each for a
 * range of computation times. A claim is made for a range if one of its points holds it and none
 * contradicts it (numbers in classify.h). A size's points are divided into as few ranges as
 * possible, starting with the shortest computation.
 */

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
	double line;		     /* overlap_map.h */
};

void map_claims_init(struct map_claims *c, const struct result *r);
void map_claims_release(struct map_claims *c);

/* True if no known point of sizes from … to, with the claim's computation times, contradicts it. */
bool map_claims_allow(const struct map_claims *c, size_t from, size_t to,
		      const struct map_claim *claim);
/* Class from all claims of a size: CLASSIFY_UNJUDGED without any, CLASSIFY_MIXED with several. */
enum classify_overlap map_size_class(const struct map_size_claims *size);

#endif
