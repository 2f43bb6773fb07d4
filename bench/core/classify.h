/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Writes one sentence for each result by the rules below. A sentence claims no more than the
 * numbers show, and the result contains the numbers behind it.
 *
 * Maps. Only known points count, as in the picture (overlap_map.h). The others are counted,
 * and impossible ones separately. A point's interval holds a claim as follows: "overlap" if it is
 * below 0.25, "no overlap" if it begins within 0.75 to 1.25, "worse than one after the other" if it
 * is above 1.25, "partial overlap" if it is within 0.1 to 0.9. A point contradicts a claim if its
 * interval is wholly outside of the claim's range. A size has one claim for all computation times
 * from its first known point to its last one if a point holds it and none contradicts it.
 * Otherwise the size has several claims, each with its computation times, or no claim, and then the
 * sentence names the size. Neighbouring sizes with the same claim form a run. A run covers the
 * computation times of all its sizes, provided that no known point of any contradicts that.
 * The sentence says "at all sizes" and "above" only if each size has exactly one claim.
 *
 * "(eager)" marks the last size below an apparent eager threshold, which is at 1 MiB or below. The
 * next size must be within a factor of 4. If only sends are waited for, the rule uses the time in
 * Wait of known points with T_comm ≤ T_comp ≤ 8 T_comm. It subtracts the cost of an idle Wait (the
 * least Wait of the map, 0.5 us at most). A size whose Wait takes a tenth of T_comm or less was
 * done before the Wait; a size whose Wait takes a quarter or more was not. All sizes up to the
 * threshold must have been done before, and all others not, but the first of these may be in
 * between. The mark is at the end of a run, or on its own where no run ends. In other maps
 * the threshold is the end of the first of two runs, if the first overlaps and the second does not
 * ("no overlap", or "worse").
 *
 * Load. Only sizes with T_comm below 0.5 ms count, because larger ones take milliseconds anyway.
 * Each number of threads has three figures: the mean share of late messages (0.5 ms or more later
 * than T_comm), the median of their lateness, and the mean time of a message in units of T_comm,
 * as the median over the sizes. The sentence names the numbers of threads with which
 * at least 1 % of the messages are late, and gives all three figures for the one with the largest
 * mean time. If that share is late without any load, other programs use the cores, and there is no
 * sentence.
 *
 * Broadcast. The median latency at the largest number of tasks and the smallest size, for each
 * method, algorithm and operation, as far as these differ. For OL_i, the largest one and its task.
 * "Not steady" means that no test met the stop rule. "At most … (E not above the gap)" means that
 * the largest OL_i may be too long, because a task was busy instead of being waited for.
 *
 * Stencil. For each number of ranks per core, the median overlap of the sizes with
 * T_comp/4 ≤ T_comm ≤ 4 T_comp whose interval is no wider than 0.5. Without any: "unknown".
 *
 * Timers. At the largest number of ranks on a core, the factor between MPI_Wtime and CPU time.
 *
 * Curves. Both ends of the curve. If many messages are in flight, messages per second instead of
 * the time.
 *
 * Protocol. The smallest size that was not eager and the largest size below it, with the receiver
 * in MPI. The same with the receiver computing, if that limit is smaller.
 */
#ifndef POVBENCH_CLASSIFY_H
#define POVBENCH_CLASSIFY_H

#include "core/result_file.h"

#include <stdbool.h>

/* A message that is this much later than T_comm counts as late by milliseconds. */
#define LOAD_LATE_NS 5e5

/* Returns the sentence, owned by the caller; null if no rule applies to the result. */
char *classify_sentence(const struct result *r);
/* Stores the sentence in the result (result_sentence_set), with disturbances (result_disturbed). */
void classify_set(struct result *r);

enum classify_overlap {
	CLASSIFY_UNJUDGED,
	CLASSIFY_OVERLAP,
	CLASSIFY_PARTIAL,
	CLASSIFY_NONE,
	CLASSIFY_WORSE,
	CLASSIFY_MIXED, /* depends on the computation time */
};
/* The class of a size of a map, by all of its known points. */
enum classify_overlap classify_size(const struct result *r, uint64_t bytes);
/*
 * Limits of a load. `without` is the largest number of threads up to which no message is late, and
 * `late` the next number, with which some are. NaN if there is no such number.
 */
void classify_load_limits(const struct result *r, double *without, double *late);

/* ---- for all rules: selecting points, joining parts of sentences (classify.c) ---- */

/* Returns the distinct values of a parameter in ascending order; the caller releases out. */
void classify_values(const struct result *r, const char *param, struct samples *out);
/* True if the point's parameter has this value. */
bool classify_is(const struct result *r, size_t idx, const char *param, double value);
/* Returns a text parameter of the point, or "". Borrowed. */
const char *classify_text(const struct result *r, size_t idx, const char *param);

/*
 * The sentences of these kinds, one file each, without the benchmark's name. Null if there is
 * nothing to report. The caller frees them.
 */
char *classify_map(const struct result *r);
char *classify_load(const struct result *r);

#endif
