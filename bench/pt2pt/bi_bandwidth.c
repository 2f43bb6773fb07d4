/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Bandwidth of a pair of ranks in both directions, with many messages in flight
 * (message_window.h).
 */
#include "pt2pt/message_window.h"

static void bi_bandwidth_measure(struct bench_run *run, size_t bytes, struct samples *out)
{
	message_window_measure(run, bytes, 1, true, out);
}

static uint64_t messages(const struct bench_run *run, size_t bytes)
{
	return 2 * message_window_messages(run, bytes);
}

static const struct curve curve = {
	.measure = bi_bandwidth_measure,
	.rate = true,
	.messages = messages,
	.params = message_window_params,
};

const struct bench bench_bi_bandwidth = {
	.name = "bi_bandwidth",
	.group = "pt2pt",
	.brief = "a window of sends at once, both ways together",
	.source = "OSU: osu_bibw; IMB-MPI1: Biband",
	.kind = RESULT_CURVE,
	.sizes = CURVE_SIZES_OSU(1),
	.ranks_min = 2,
	.ranks_max = 2,
	.no_threads = true,
	.method = &curve,
	.run = curve_run,
	.estimate_ns = curve_estimate_ns,
};
