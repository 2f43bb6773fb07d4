/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Overlap of MPI_Iscatter from rank 0; bytes is each rank's block. Method: coll_map.h. */
#include "collective/coll_data.h"

static const struct coll_data data = {
	.op = COMM_SCATTER,
	.make = coll_blocks_make,
	.check = coll_blocks_check,
};

static const struct map_pattern pattern = {
	COLL_MAP_PATTERN,
	.data = &data,
	.messages = coll_blocks_cnt,
};

static int iscatter_run(struct bench_run *run)
{
	return map_run(run, &pattern);
}

static uint64_t iscatter_estimate_ns(const struct bench_run *run)
{
	return map_estimate_ns(run, &pattern, 1);
}

const struct bench bench_iscatter = {
	.name = "iscatter",
	.group = "collective",
	.brief = "overlap of a non-blocking scatter",
	.source = "after Denis & Trahay 2016, VII; OSU non-blocking collectives, IMB-NBC",
	.kind = RESULT_MAP,
	.ranks_min = 2,
	.run = iscatter_run,
	.estimate_ns = iscatter_estimate_ns,
};
