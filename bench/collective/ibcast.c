/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Overlap of MPI_Ibcast from rank 0. Method: coll_map.h. */
#include "collective/coll_data.h"

static const struct coll_data data = {
	.op = COMM_BCAST,
	.make = coll_bcast_make,
	.check = coll_bcast_check,
};

static const struct map_pattern pattern = {
	COLL_MAP_PATTERN,
	.data = &data,
};

const struct bench bench_ibcast = {
	.name = "ibcast",
	.group = "collective",
	.brief = "overlap of a non-blocking broadcast",
	.source = "after Denis & Trahay 2016, VII; OSU non-blocking collectives, IMB-NBC",
	.kind = RESULT_MAP,
	.ranks_min = 2,
	.method = &pattern,
	.run = map_run,
	.estimate_ns = map_estimate_ns,
};
