/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Time of MPI_Gather to rank 0; bytes is each rank's block. Method: coll_latency.h. */
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
			.op = COMM_GATHER,
			.make = coll_blocks_make,
			.check = coll_blocks_check,
		},
};

const struct bench bench_gather_latency = {
	.name = "gather_latency",
	.group = "collective",
	.brief = "a gather to rank 0",
	.source = "after OSU: osu_gather; IMB-MPI1: Gather; common start as symmetric_window",
	.kind = RESULT_CURVE,
	.collective = "gather",
	.sizes = CURVE_SIZES_OSU_COLL(1),
	.ranks_min = 2,
	.no_threads = true,
	.method = &method,
	.run = curve_run,
	.estimate_ns = curve_estimate_ns,
};
