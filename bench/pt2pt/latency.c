/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Ping-pong of contiguous data with blocking calls: half the round trip (osu_latency, IMB
 * PingPong).
 */
#include "core/curve.h"

static void latency_measure(struct bench_run *run, size_t bytes, struct samples *out)
{
	measure_pingpong_steady(run, bytes, COMM_CONTIGUOUS, out);
}

static const struct curve curve = {.measure = latency_measure};

const struct bench bench_latency = {
	.name = "latency",
	.alias = "pingpong",
	.group = "pt2pt",
	.brief = "half a ping-pong of contiguous data",
	.source = "OSU: osu_latency; IMB-MPI1: PingPong",
	.sizes = CURVE_SIZES_OSU(0),
	.no_threads = true,
	CURVE_PAIR(curve),
};
