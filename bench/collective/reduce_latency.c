/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Time of MPI_Reduce to rank 0, a sum of doubles. Method: coll_latency.h. */
#include "collective/coll_latency.h"

static const struct coll_latency method = {
	.curve =
		{
			.measure = coll_latency_measure,
			.unit = sizeof(double),
		},
	.data =
		{
			.op = COMM_REDUCE,
			.make = coll_sums_make,
			.check = coll_sums_check,
		},
};

const struct bench bench_reduce_latency = {
	.name = "reduce_latency",
	.group = "collective",
	.brief = "a reduction to rank 0",
	.source = "after OSU: osu_reduce; IMB-MPI1: Reduce; common start as symmetric_window",
	.kind = RESULT_CURVE,
	.collective = "reduce",
	.sizes = CURVE_SIZES_OSU_COLL(8),
	.ranks_min = 2,
	.no_threads = true,
	.method = &method,
	.run = curve_run,
	.estimate_ns = curve_estimate_ns,
};
