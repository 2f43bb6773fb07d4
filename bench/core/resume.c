/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Rank 0 has the points and sends the answer to the other ranks. */
#include "core/resume.h"

bool resume_has(struct bench_run *run, const struct result_axis *axis, size_t axis_cnt)
{
	bool there;

	if (!run->resume)
		return false;
	there = run->result && result_point_take(run->result, axis, axis_cnt);
	return comm_tell(run->comm, there) != 0;
}

static bool take_all(struct result *r, const struct result_axis axes[2], const uint64_t *value,
		     size_t cnt)
{
	struct result_axis both[] = {axes[0], axes[1]};
	size_t i;

	for (i = 0; i < cnt; i++) {
		both[1].value = value[i];
		if (!result_point_known(r, both, 2))
			return false;
	}
	for (i = 0; i < cnt; i++) {
		both[1].value = value[i];
		result_point_take(r, both, 2);
	}
	return true;
}

bool resume_has_all(struct bench_run *run, const struct result_axis axes[2], const uint64_t *value,
		    size_t cnt)
{
	bool there;

	if (!run->resume)
		return false;
	there = run->result && take_all(run->result, axes, value, cnt);
	return comm_tell(run->comm, there) != 0;
}
