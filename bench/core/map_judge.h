/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * How much a point of a map tells: the one judgement that tables, sentences and pictures go by. Points are those of a result file
 * (kmod-docs/BENCH_FORMAT.md) and may be anything.
 *
 * A point is unknown if its interval is wider than MAP_KNOWN_WIDTH, or if it is left of the map's line: its computation takes
 * MAP_LINE_FROM_NS at least, and T_comm is a smaller share of it than what computation varies by. That share is of the map as a
 * whole, so that a point whose own interval is narrow by chance is not believed where most of them could not be. A point whose
 * ratio is below MAP_CLEARLY_BELOW is wrong if its whole interval is (too_short_ns), else unknown.
 */
#ifndef POVBENCH_MAP_JUDGE_H
#define POVBENCH_MAP_JUDGE_H

#include <jansson.h>

#include "core/stats.h"

#define MAP_KNOWN_WIDTH 0.5 /* of a ratio's interval; full overlap and none are 1 apart */
#define MAP_LINE_FROM_NS \
	1e5 /* shorter computations vary by what the clock does, and are seldom interrupted */
#define MAP_CLEARLY_BELOW -0.1 /* a ratio below is wrong, not only off */

enum map_judged {
	MAP_BLANK, /* it has no ratio */
	MAP_KNOWN,
	MAP_UNKNOWN,
	MAP_WRONG, /* T_measured is below T_comm or T_comp, beyond what chance and the clock explain */
};

/*
 * What computation varies by in a map, as a share of T_comp: the T_comm whose ratio would have an interval of MAP_KNOWN_WIDTH.
 * map_line_add takes every point, and adds a number for those that tell it; map_line is their median; 0: too few. map_line_of does both.
 */
void map_line_add(struct samples *s, const json_t *point);
double map_line(const struct samples *s);
double map_line_of(const json_t *points);
/* Whether a point lies left of it. */
bool map_is_left(double line, double comm_ns, double comp_ns);
/* In words, to be freed; null: nothing is told of it. */
char *map_line_text(double line);

enum map_judged map_judge(const json_t *point, double line);

#endif
