/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Overlap of MPI_Ialltoall; bytes is each rank's block for each other one. Method: coll_map.h. */
#include "collective/coll_data.h"

static const struct coll_data data = {
	.op = COMM_ALLTOALL,
	.make = coll_blocks_make,
	.check = coll_blocks_check,
};

static const struct map_pattern pattern = {
	COLL_MAP_PATTERN,
	.data = &data,
	.messages = coll_blocks_cnt,
};

static int ialltoall_run(struct bench_run *run)
{
	return map_run(run, &pattern);
}

static uint64_t ialltoall_estimate_ns(const struct bench_run *run)
{
	return map_estimate_ns(run, &pattern, 1);
}

const struct bench bench_ialltoall = {
	.name = "ialltoall",
	.group = "collective",
	.brief = "overlap of a non-blocking all-to-all",
	.source = "after Denis & Trahay 2016, VII; OSU non-blocking collectives, IMB-NBC",
	.kind = RESULT_MAP,
	.ranks_min = 2,
	.run = ialltoall_run,
	.estimate_ns = ialltoall_estimate_ns,
};
