/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Bandwidth of a pair of ranks in one direction, with many messages in flight (message_window.h).
 */
#include "pt2pt/message_window.h"

static void bandwidth_measure(struct bench_run *run, size_t bytes, struct samples *out)
{
	message_window_measure(run, bytes, 1, false, out);
}

static const struct curve curve = {
	.measure = bandwidth_measure,
	.rate = true,
	.messages = message_window_messages,
	.params = message_window_params,
};

const struct bench bench_bandwidth = {
	.name = "bandwidth",
	.group = "pt2pt",
	.brief = "a window of sends at once, one way",
	.source = "OSU: osu_bw; IMB-MPI1: Uniband",
	.kind = RESULT_CURVE,
	.sizes = CURVE_SIZES_OSU(1),
	.ranks_min = 2,
	.ranks_max = 2,
	.no_threads = true,
	.method = &curve,
	.run = curve_run,
	.estimate_ns = curve_estimate_ns,
};
