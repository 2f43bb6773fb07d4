/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Ping-pong with blocking calls: half the round trip. Of contiguous data (osu_latency, IMB
 * PingPong), and of a derived datatype, 32 chars of every 64, which is T_comm of the non-contiguous
 * overlap benchmark.
 */
#include "core/curve.h"

static void latency_measure(struct bench_run *run, size_t bytes, struct samples *out)
{
	measure_pingpong_steady(run, bytes, COMM_CONTIGUOUS, out);
}

static const struct curve latency = {.measure = latency_measure};

const struct bench bench_latency = {
	.name = "latency",
	.alias = "pingpong",
	.group = "pt2pt",
	.brief = "half a ping-pong of contiguous data",
	.source = "OSU: osu_latency; IMB-MPI1: PingPong",
	.sizes = CURVE_SIZES_OSU(0),
	.no_threads = true,
	CURVE_PAIR(latency),
};

static void pingpong_noncontig_measure(struct bench_run *run, size_t bytes, struct samples *out)
{
	measure_pingpong_steady(run, bytes, COMM_STRIDED, out);
}

static const struct curve noncontig = {.measure = pingpong_noncontig_measure};

const struct bench bench_pingpong_noncontig = {
	.name = "pingpong_noncontig",
	.group = "reference",
	.brief = "half a ping-pong of 32 chars of every 64 by a derived datatype",
	.source = "Denis & Trahay 2016, III.D: base benchmarks",
	CURVE_PAIR(noncontig),
};
