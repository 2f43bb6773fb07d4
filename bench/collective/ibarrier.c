/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Overlap of MPI_Ibarrier. It has no data, so the map is one column of 0 bytes. Method:
 * coll_map.h.
 */
#include "collective/coll_map.h"

static const struct coll_data data = {.op = COMM_BARRIER};

static const struct map_pattern pattern = {
	COLL_MAP_PATTERN,
	.data = &data,
	.no_bytes = true,
};

const struct bench bench_ibarrier = {
	.name = "ibarrier",
	.group = "collective",
	.brief = "overlap of a non-blocking barrier",
	.source = "after Denis & Trahay 2016, VII; OSU non-blocking collectives, IMB-NBC",
	.kind = RESULT_MAP,
	.ranks_min = 2,
	.method = &pattern,
	.run = map_run,
	.estimate_ns = map_estimate_ns,
};
