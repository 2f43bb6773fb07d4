/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Time of MPI_Allreduce, a sum of doubles. Method: coll_latency.h. */
#include "collective/coll_latency.h"

static const struct coll_latency method = {
	.curve =
		{
			.measure = coll_latency_measure,
			.unit = sizeof(double),
		},
	.data =
		{
			.op = COMM_ALLREDUCE,
			.make = coll_sums_make,
			.check = coll_sums_check,
		},
};

const struct bench bench_allreduce_latency = {
	.name = "allreduce_latency",
	.group = "collective",
	.brief = "a reduction to all",
	.source = "after OSU: osu_allreduce; IMB-MPI1: Allreduce; common start as symmetric_window",
	.kind = RESULT_CURVE,
	.collective = "allreduce",
	.sizes = CURVE_SIZES_OSU_COLL(8),
	.ranks_min = 2,
	.no_threads = true,
	.method = &method,
	.run = curve_run,
	.estimate_ns = curve_estimate_ns,
};
