/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* How many messages several pairs of ranks move together, one way. Method: message_window.h. */
#include "pt2pt/message_window.h"

#include "lib/log.h"

#include <errno.h>

static int pairs_of(const struct bench_run *run)
{
	return run->opt->pairs ? (int)run->opt->pairs : run->comm->size / 2;
}

static void message_rate_measure(struct bench_run *run, size_t bytes, struct samples *out)
{
	message_window_measure(run, bytes, pairs_of(run), false, out);
}

static uint64_t messages(const struct bench_run *run, size_t bytes)
{
	return message_window_messages(run, bytes) * (uint64_t)pairs_of(run);
}

static void params(const struct bench_run *run, size_t bytes, struct result_point *p)
{
	result_param(p, "pairs", (uint64_t)pairs_of(run));
	message_window_params(run, bytes, p);
}

static const struct curve curve = {
	.measure = message_rate_measure,
	.rate = true,
	.messages = messages,
	.params = params,
};

static int message_rate_run(struct bench_run *run)
{
	if (2 * pairs_of(run) <= run->comm->size)
		return curve_run(run);
	if (run->comm->rank == 0)
		log_error("message_rate: %d pairs need %d ranks, there are %d", pairs_of(run),
			  2 * pairs_of(run), run->comm->size);
	return -EINVAL;
}

const struct bench bench_message_rate = {
	.name = "message_rate",
	.group = "pt2pt",
	.brief = "windows of sends in several pairs at once, messages of all of them",
	.source = "OSU: osu_mbw_mr",
	.kind = RESULT_CURVE,
	.sizes = CURVE_SIZES_OSU(1),
	.ranks_min = 2,
	.no_threads = true,
	.method = &curve,
	.run = message_rate_run,
	.estimate_ns = curve_estimate_ns,
};
