/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * One sentence for each result, by the rules below: no more than the numbers say, and the same for everybody. Whoever
 * doubts one finds its numbers in the result.
 *
 * Maps. Only points that are known count, as in the picture (map_judge.h); the others are counted, those that are wrong by
 * themselves. An interval below 0.25 holds "overlap", one that begins in 0.75 to 1.25 "no overlap", one above 1.25 "worse than one
 * after the other", one within 0.1 to 0.9 "partial overlap". A point contradicts a claim if its interval is wholly outside of the
 * claim's range. A size has a claim for all computation times from its first known point to its last one if a point holds it
 * and none contradicts it; else it has several, each with its computation times, or none, and then it is named. Neighbouring
 * sizes of one claim are a run, with the computation times of all of them, if no known point of any contradicts that. "At all
 * sizes" and "above" are said only if one claim is made of each size.
 *
 * "(eager)" marks a size as the last one below what looks like an eager threshold: at 1 MiB or below, the next one within
 * a factor of 4. Where only sends are waited for it goes by the time in Wait of known points with T_comm ≤ T_comp ≤ 8 T_comm, less what a Wait
 * takes anyhow (the least of the map, 0.5 us at most): a size whose Wait takes a tenth of T_comm or less was done before,
 * one whose Wait takes a quarter or more was not; all sizes up to the threshold were done before and all others were not, but
 * that the first of these may be in between. It is said at the end of a run, or by itself where no run ends there. In
 * other maps it is where the first of two runs ends, which overlaps, while the second does not (no, worse).
 *
 * Load. Each number of threads is judged by the sizes whose T_comm is below 0.5 ms (larger ones take milliseconds anyhow):
 * by the mean share of messages that came late, 0.5 ms and more behind T_comm, the median of how late these came, and
 * what a message takes on average, in terms of T_comm, by the median over the sizes. The numbers of threads with which
 * 1 % and more come late, and all three for that one of them where the average is largest; if that many are late without any
 * load, others use the cores, and nothing is told.
 *
 * Broadcast. The median latency at the largest number of tasks and the smallest size, for each method, algorithm and
 * operation, as far as these differ; of OL_i the largest, and its task. "Not steady": no test met the stop rule. "At most …
 * (E not above the gap)": the largest OL_i may be too long, as some task was not waited for but busy.
 * Stencil. For each number of ranks per core the median overlap of the sizes with T_comp/4 ≤ T_comm ≤ 4 T_comp whose
 * interval is no wider than 0.5; "not told" without any.
 * Timers. At the largest number of ranks on a core: what MPI_Wtime makes of the CPU time. Curves: both ends; where many
 * messages are under way, the number in a second instead of the time.
 * Protocol. The smallest size that was not eager, and the largest below it, with the receiver in MPI; and with the
 * receiver computing if that is less.
 */
#ifndef POVBENCH_CLASSIFY_H
#define POVBENCH_CLASSIFY_H

#include <stdbool.h>

#include "core/result.h"

/* What is called milliseconds: a message so much behind T_comm came late. */
#define LOAD_LATE_NS 5e5

/* The sentence, to be freed; null if the result has nothing that a rule applies to. */
char *classify_sentence(const struct result *r);
/* Makes it the result's own (result_sentence_set), with what disturbed the run (result_disturbed). */
void classify_set(struct result *r);

enum classify_overlap {
	CLASSIFY_UNJUDGED,
	CLASSIFY_OVERLAP,
	CLASSIFY_PARTIAL,
	CLASSIFY_NONE,
	CLASSIFY_WORSE,
	CLASSIFY_MIXED, /* it depends on the computation time */
};
/* How a map's size is judged, by all its points that are known. */
enum classify_overlap classify_size(const struct result *r, uint64_t bytes);
/*
 * A load: `without`, the largest number of threads up to which no message is late, and `late`, the next one, with which some
 * are; NaN: there is none.
 */
void classify_load_limits(const struct result *r, double *without, double *late);

#endif
