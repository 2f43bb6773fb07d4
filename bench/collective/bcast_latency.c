/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Time of MPI_Bcast from rank 0. Method: coll_latency.h. */
#include "collective/coll_latency.h"

static const struct coll_latency method = {
	.curve =
		{
			.measure = coll_latency_measure,
		},
	.data =
		{
			.op = COMM_BCAST,
			.make = coll_bcast_make,
			.check = coll_bcast_check,
		},
};

const struct bench bench_bcast_latency = {
	.name = "bcast_latency",
	.group = "collective",
	.brief = "a broadcast from rank 0",
	.source = "after OSU: osu_bcast; IMB-MPI1: Bcast; common start as symmetric_window",
	.kind = RESULT_CURVE,
	.collective = "bcast",
	.sizes = CURVE_SIZES_OSU_COLL(1),
	.ranks_min = 2,
	.no_threads = true,
	.method = &method,
	.run = curve_run,
	.estimate_ns = curve_estimate_ns,
};
