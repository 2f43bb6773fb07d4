/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Overlap of MPI_Ialltoallv with blocks of equal size. Method: coll_map.h. */
#include "collective/coll_data.h"

static const struct coll_data data = {
	.op = COMM_ALLTOALLV,
	.make = coll_blocks_make,
	.check = coll_blocks_check,
};

static const struct map_pattern pattern = {
	COLL_MAP_PATTERN,
	.data = &data,
	.messages = coll_blocks_cnt,
};

const struct bench bench_ialltoallv = {
	.name = "ialltoallv",
	.group = "collective",
	.brief = "overlap of a non-blocking all-to-all with a size for each block",
	.source = "after Denis & Trahay 2016, VII; OSU non-blocking collectives, IMB-NBC",
	.kind = RESULT_MAP,
	.ranks_min = 2,
	.method = &pattern,
	.run = map_run,
	.estimate_ns = map_estimate_ns,
};
