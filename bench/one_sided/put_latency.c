/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Time to write another rank's memory until the data have arrived. Method: access.h. */
#include "one_sided/access.h"

static void put_latency_measure(struct bench_run *run, size_t bytes, struct samples *out)
{
	access_latency(run, bytes, ACCESS_PUT, out);
}

static const struct curve curve = {
	.measure = put_latency_measure,
};

const struct bench bench_put_latency = {
	.name = "put_latency",
	.group = "one_sided",
	.brief = "an MPI_Put and a flush",
	.source = "OSU: osu_put_latency; IMB-RMA: Unidir_put",
	.kind = RESULT_CURVE,
	.sizes = CURVE_SIZES_OSU(1),
	.ranks_min = 2,
	.ranks_max = 2,
	.needs = COMM_HAS_RMA,
	.no_threads = true,
	.method = &curve,
	.run = curve_run,
	.estimate_ns = curve_estimate_ns,
};
