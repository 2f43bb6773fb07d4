/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Bandwidth at which a rank writes another rank's memory with many puts in flight (access.h). */
#include "one_sided/access.h"

static void put_bandwidth_measure(struct bench_run *run, size_t bytes, struct samples *out)
{
	access_bandwidth(run, bytes, ACCESS_PUT, out);
}

static const struct curve curve = {
	.measure = put_bandwidth_measure,
	.rate = true,
	.messages = access_messages,
	.params = access_params,
};

const struct bench bench_put_bandwidth = {
	.name = "put_bandwidth",
	.group = "one_sided",
	.brief = "a window of MPI_Puts, then a flush",
	.source = "OSU: osu_put_bw",
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
