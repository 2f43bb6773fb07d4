/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Judges how much a point of a map shows. Tables, sentences and pictures all use this judgement.
 * Points come from a result file (kmod-docs/BENCH_FORMAT.md) and may contain anything.
 *
 * A point is unknown if its interval is wider than MAP_KNOWN_WIDTH, or if it is left of the map's
 * line. It is left of the line if its computation takes MAP_LINE_FROM_NS or more and T_comm is a
 * smaller share of it than the variation of computation. That share applies to the whole map, so a
 * point whose own interval is narrow by chance is not trusted where most points are unknown. A
 * point with a ratio below MAP_CLEARLY_BELOW is wrong if its whole interval is (too_short_ns),
 * otherwise unknown.
 */
#ifndef POVBENCH_OVERLAP_MAP_JUDGE_H
#define POVBENCH_OVERLAP_MAP_JUDGE_H

#include <jansson.h>

#include "core/stats.h"

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

#endif
