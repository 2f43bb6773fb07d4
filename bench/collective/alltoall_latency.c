/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Time of MPI_Alltoall; bytes is each rank's block. Method: coll_latency.h. */
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
			.op = COMM_ALLTOALL,
			.make = coll_blocks_make,
			.check = coll_blocks_check,
		},
};

const struct bench bench_alltoall_latency = {
	.name = "alltoall_latency",
	.group = "collective",
	.brief = "an all-to-all",
	.source = "after OSU: osu_alltoall; IMB-MPI1: Alltoall; common start as symmetric_window",
	.kind = RESULT_CURVE,
	.collective = "alltoall",
	.sizes = CURVE_SIZES_OSU_COLL(1),
	.ranks_min = 2,
	.no_threads = true,
	.method = &method,
	.run = curve_run,
	.estimate_ns = curve_estimate_ns,
};
