/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Ping-pong of a derived datatype, 32 chars of every 64, with blocking calls: half of the round
 * trip. It is T_comm of the non-contiguous overlap benchmark.
 */
#include "core/curve.h"

static void pingpong_noncontig_measure(struct bench_run *run, size_t bytes, struct samples *out)
{
	measure_pingpong_steady(run, bytes, COMM_STRIDED, out);
}

static const struct curve curve = {.measure = pingpong_noncontig_measure};

const struct bench bench_pingpong_noncontig = {
	.name = "pingpong_noncontig",
	.group = "reference",
	.brief = "half a ping-pong of 32 chars of every 64 by a derived datatype",
	.source = "Denis & Trahay 2016, III.D: base benchmarks",
	CURVE_PAIR(curve),
};
