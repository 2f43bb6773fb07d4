/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Rank 0 has the points, and tells the others. */
#include "core/resume.h"

bool resume_has(struct bench_run *run, const struct result_axis *axis, size_t axis_cnt)
{
	bool there;

	if (!run->resume)
		return false;
	there = run->result && result_point_take(run->result, axis, axis_cnt);
	return comm_tell(run->comm, there) != 0;
}
