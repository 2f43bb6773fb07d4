/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Overlap of MPI_Ireduce to rank 0, a sum of doubles, where the library computes too (coll_map.h).
 */
#include "collective/coll_data.h"

static const struct coll_data data = {
	.op = COMM_REDUCE,
	.make = coll_sums_make,
	.check = coll_sums_check,
};

static const struct map_pattern pattern = {
	COLL_MAP_PATTERN,
	.data = &data,
	.unit = sizeof(double),
};

const struct bench bench_ireduce = {
	.name = "ireduce",
	.group = "collective",
	.brief = "overlap of a non-blocking reduction",
	.source = "after Denis & Trahay 2016, VII; OSU non-blocking collectives, IMB-NBC",
	.kind = RESULT_MAP,
	.ranks_min = 2,
	.method = &pattern,
	.run = map_run,
	.estimate_ns = map_estimate_ns,
};
