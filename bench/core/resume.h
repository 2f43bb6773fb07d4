/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Resumes an interrupted run point by point: a benchmark asks before each point whether it was
 * already measured. A benchmark that does not ask is measured again as a whole.
 */
#ifndef POVBENCH_RESUME_H
#define POVBENCH_RESUME_H

#include "core/bench.h"

/*
 * True if the point with these parameters was measured earlier. It is then in the result and must
 * not be measured again. All ranks call it and get the same answer. Costs nothing without
 * --resume.
 */
bool resume_has(struct bench_run *run, const struct result_axis *axis, size_t axis_cnt);
/*
 * The same for points that are measured together or not at all: one for each of `value`, which are
 * values of the second axis. The name of that axis is in axes[1].
 */
bool resume_has_all(struct bench_run *run, const struct result_axis axes[2], const uint64_t *value,
		    size_t cnt);

#endif
