/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Overlap of MPI_Igather to rank 0; bytes is each rank's block. Method: coll_map.h. */
#include "collective/coll_data.h"

static const struct coll_data data = {
	.op = COMM_GATHER,
	.make = coll_blocks_make,
	.check = coll_blocks_check,
};

static const struct map_pattern pattern = {
	COLL_MAP_PATTERN,
	.data = &data,
	.messages = coll_blocks_cnt,
};

static int igather_run(struct bench_run *run)
{
	return map_run(run, &pattern);
}

static uint64_t igather_estimate_ns(const struct bench_run *run)
{
	return map_estimate_ns(run, &pattern, 1);
}

const struct bench bench_igather = {
	.name = "igather",
	.group = "collective",
	.brief = "overlap of a non-blocking gather",
	.source = "after Denis & Trahay 2016, VII; OSU non-blocking collectives, IMB-NBC",
	.kind = RESULT_MAP,
	.ranks_min = 2,
	.run = igather_run,
	.estimate_ns = igather_estimate_ns,
};
