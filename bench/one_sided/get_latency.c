/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Time to read another rank's memory until the data have arrived. Method: access.h. */
#include "one_sided/access.h"

static void get_latency_measure(struct bench_run *run, size_t bytes, struct samples *out)
{
	access_latency(run, bytes, ACCESS_GET, out);
}

static const struct curve curve = {
	.measure = get_latency_measure,
};

const struct bench bench_get_latency = {
	.name = "get_latency",
	.group = "one_sided",
	.brief = "an MPI_Get and a flush",
	.source = "OSU: osu_get_latency; IMB-RMA: Unidir_get",
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
