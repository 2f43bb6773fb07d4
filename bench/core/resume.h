/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Going on with a broken-off run, point by point: a benchmark asks before each point whether it was measured already. One
 * that does not ask is measured again as a whole.
 */
#ifndef POVBENCH_RESUME_H
#define POVBENCH_RESUME_H

#include "core/bench.h"

/*
 * Whether the point with these parameters is there from before; then it is in the result now, and not to be measured. The same
 * on all ranks, which all call it. Without --resume it costs nothing.
 */
bool resume_has(struct bench_run *run, const struct result_axis *axis, size_t axis_cnt);
/*
 * The same of points that are measured together, or not at all: one for each value of the second axis, whose name is in axes[1] and
 * whose values are these.
 */
bool resume_has_all(struct bench_run *run, const struct result_axis axes[2], const uint64_t *value,
		    size_t cnt);

#endif
