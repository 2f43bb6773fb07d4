/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Time of MPI_Alltoallv; bytes is each rank's block. Method: coll_latency.h. */
#include "collective/coll_latency.h"

static const struct coll_latency method = {
	.curve =
		{
			.measure = coll_latency_measure,
			.bytes_max = coll_latency_bytes_max,
			.messages = coll_latency_blocks,
		},
	.data =
		{
			.op = COMM_ALLTOALLV,
			.make = coll_blocks_make,
			.check = coll_blocks_check,
		},
};

const struct bench bench_alltoallv_latency = {
	.name = "alltoallv_latency",
	.group = "collective",
	.brief = "an all-to-all with a size for each block",
	.source = "after OSU: osu_alltoallv; IMB-MPI1: Alltoallv; common start as symmetric_window",
	.kind = RESULT_CURVE,
	.collective = "alltoallv",
	.sizes = CURVE_SIZES_OSU_COLL(1),
	.ranks_min = 2,
	.no_threads = true,
	.method = &method,
	.run = curve_run,
	.estimate_ns = curve_estimate_ns,
};
