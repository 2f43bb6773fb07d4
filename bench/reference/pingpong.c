/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Ping-pong of contiguous data with blocking calls: half of the round trip. T_comm of most overlap benchmarks.
 */
#include "reference/curve.h"

static void pingpong_measure(struct bench_run *run, size_t bytes, struct samples *out)
{
	measure_pingpong_steady(run, bytes, COMM_CONTIGUOUS, out);
}

static int pingpong_run(struct bench_run *run)
{
	return curve_run(run, pingpong_measure);
}

const struct bench bench_pingpong = {
	.name = "pingpong",
	.group = "reference",
	.brief = "half a ping-pong of contiguous data: latency and bandwidth",
	.source = "Denis & Trahay 2016, III.D: base benchmarks",
	.kind = RESULT_CURVE,
	.ranks_min = 2,
	.ranks_max = 2,
	.run = pingpong_run,
	.estimate_ns = curve_estimate_ns,
};
