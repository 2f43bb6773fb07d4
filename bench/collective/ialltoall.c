/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Overlap of MPI_Ialltoall; bytes is each rank's block for each other rank. Method: coll_map.h. */
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

const struct bench bench_ialltoall = {
	.name = "ialltoall",
	.group = "collective",
	.brief = "overlap of a non-blocking all-to-all",
	.source = "after Denis & Trahay 2016, VII; OSU non-blocking collectives, IMB-NBC",
	.kind = RESULT_MAP,
	.ranks_min = 2,
	.method = &pattern,
	.run = map_run,
	.estimate_ns = map_estimate_ns,
};
