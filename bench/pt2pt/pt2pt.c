/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Latency and bandwidth of pairs of ranks.
 *
 * Bandwidth as the OSU benchmarks define it. A round is a window of non-blocking sends to one
 * peer, which posts its receives window by window, a Waitall on both sides, and one message
 * without data that confirms that all have arrived. In both directions at once, each rank posts
 * receives and sends, waits for the sends, then for the receives, and there is no confirmation. As
 * in OSU, all messages of a window use the same buffer, so the library is measured and not the
 * memory. With several pairs, rank i sends to rank i + pairs, and the time is the mean of the
 * senders' own times. Requests are prepared in advance. The clock is read before and after all
 * rounds of a sample.
 */
#include <errno.h>
#include <stdlib.h>

#include "core/curve.h"
#include "lib/log.h"

#define WINDOW_DEFAULT 64 /* OSU's */

enum { TAG_DATA = 1, TAG_ACK };

struct message_window {
	struct comm_msg out, in;
	struct comm_request *send, *recv; /* cnt each; recv follows send in one array */
	int cnt, pairs;
	int peer; /* -1: this rank belongs to no pair */
	bool sends, receives;
};

/* The method of a benchmark. */
struct message_window_method {
	struct curve curve; /* must be first, because curve_run reads it */
	bool both_ways, all_pairs;
};

/* Number of a pair's messages in flight, in one direction. */
static int message_window_cnt(const struct bench_run *run)
{
	return run->opt->window ? (int)run->opt->window : WINDOW_DEFAULT;
}

static int pairs_of(const struct bench_run *run)
{
	const struct message_window_method *method = run->bench->method;

	if (!method->all_pairs)
		return 1;
	return run->opt->pairs ? (int)run->opt->pairs : run->comm->size / 2;
}

/* Number of messages in flight, of all pairs and directions. */
static uint64_t message_window_messages(const struct bench_run *run, size_t bytes)
{
	const struct message_window_method *method = run->bench->method;

	return (method->both_ways ? 2U : 1U) * (uint64_t)message_window_cnt(run) *
	       (uint64_t)pairs_of(run);
}

static void message_window_params(const struct bench_run *run, size_t bytes, struct result_point *p)
{
	const struct message_window_method *method = run->bench->method;

	if (method->all_pairs)
		result_param(p, "pairs", (uint64_t)pairs_of(run));
	result_param(p, "window", (uint64_t)message_window_cnt(run));
}

/* ---- the timed part ---- */

static void rounds_run(struct comm *c, struct message_window *w, uint64_t rounds)
{
	while (rounds--) {
		for (int i = 0; w->receives && i < w->cnt; i++)
			c->ops->irecv(c, &w->in, w->peer, TAG_DATA, &w->recv[i]);
		for (int i = 0; w->sends && i < w->cnt; i++)
			c->ops->isend(c, &w->out, w->peer, TAG_DATA, &w->send[i]);
		if (w->sends)
			c->ops->waitall(c, w->send, w->cnt);
		if (w->receives)
			c->ops->waitall(c, w->recv, w->cnt);
		if (!w->receives)
			comm_await(c, w->peer, TAG_ACK);
		else if (!w->sends)
			comm_signal(c, w->peer, TAG_ACK);
	}
}

/* ---- a sample ---- */

static uint32_t seed_of(int rank)
{
	return (uint32_t)rank * 1009 + 11;
}

static double message_window_rounds(struct bench_run *run, void *ctx, uint64_t rounds)
{
	struct comm *c = run->comm;
	struct message_window *w = ctx;
	uint64_t start_ns = c->ops->now_ns(c), ns;

	if (w->peer >= 0)
		rounds_run(c, w, rounds);
	ns = c->ops->now_ns(c) - start_ns;
	if (run->opt->validate && w->receives)
		bench_msg_check(&w->in, seed_of(w->peer));
	/* The mean over the pairs' first ranks, which are 0 … pairs - 1. */
	if (w->pairs > 1)
		return (double)comm_sum(c, c->rank < w->pairs ? ns : 0) / w->pairs;
	return (double)ns;
}

/* ---- a size ---- */

static void message_window_init(struct message_window *w, struct bench_run *run, size_t bytes,
				int pairs, bool both_ways)
{
	struct comm *c = run->comm;
	bool first = c->rank < pairs, paired = c->rank < 2 * pairs;

	*w = (struct message_window){.cnt = message_window_cnt(run), .pairs = pairs};
	w->peer = !paired ? -1 : first ? c->rank + pairs : c->rank - pairs;
	w->sends = paired && (first || both_ways);
	w->receives = paired && (!first || both_ways);
	w->out = (struct comm_msg){bench_buffer_new(bytes, COMM_CONTIGUOUS), bytes,
				   COMM_CONTIGUOUS};
	w->in = (struct comm_msg){bench_buffer_new(bytes, COMM_CONTIGUOUS), bytes, COMM_CONTIGUOUS};
	bench_buffer_fill(w->out.buf, bytes, COMM_CONTIGUOUS, seed_of(c->rank));
	bench_buffer_fill(w->in.buf, bytes, COMM_CONTIGUOUS, ~seed_of(w->peer));
	w->send = xcalloc(2 * (size_t)w->cnt, sizeof(*w->send));
	w->recv = w->send + w->cnt;
	c->ops->requests_prepare(c, w->send, 2 * w->cnt);
}

static void message_window_release(struct comm *c, struct message_window *w)
{
	c->ops->requests_release(c, w->send, 2 * w->cnt);
	free(w->send);
	free(w->in.buf);
	free(w->out.buf);
}

/* Times of a message: those of a window divided by its messages, of all pairs and directions. */
static void message_window_measure(struct bench_run *run, size_t bytes, struct samples *out)
{
	const struct message_window_method *method = run->bench->method;
	struct message_window w;

	message_window_init(&w, run, bytes, pairs_of(run), method->both_ways);
	rounds_measure(run, message_window_rounds, &w, (double)message_window_messages(run, bytes),
		       out);
	message_window_release(run->comm, &w);
}

/* ---- the benchmarks ---- */

#define MESSAGE_WINDOW(...)                                    \
	{                                                      \
		.curve = {.measure = message_window_measure,   \
			  .rate = true,                        \
			  .messages = message_window_messages, \
			  .params = message_window_params},    \
		__VA_ARGS__                                    \
	}

static const struct message_window_method bandwidth = MESSAGE_WINDOW(.both_ways = false);
static const struct message_window_method bi_bandwidth = MESSAGE_WINDOW(.both_ways = true);
static const struct message_window_method message_rate = MESSAGE_WINDOW(.all_pairs = true);

const struct bench bench_bandwidth = {
	.name = "bandwidth",
	.group = "pt2pt",
	.brief = "a window of sends at once, one way",
	.source = "OSU: osu_bw; IMB-MPI1: Uniband",
	.sizes = CURVE_SIZES_OSU(1),
	.no_threads = true,
	CURVE_PAIR(bandwidth),
};

const struct bench bench_bi_bandwidth = {
	.name = "bi_bandwidth",
	.group = "pt2pt",
	.brief = "a window of sends at once, both ways together",
	.source = "OSU: osu_bibw; IMB-MPI1: Biband",
	.sizes = CURVE_SIZES_OSU(1),
	.no_threads = true,
	CURVE_PAIR(bi_bandwidth),
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
	.method = &message_rate,
	.run = message_rate_run,
	.estimate_ns = curve_estimate_ns,
};

/*
 * ---- ping-pong ----
 *
 * Ping-pong with blocking calls: half the round trip. Of contiguous data (osu_latency, IMB
 * PingPong), and of a derived datatype, 32 chars of every 64, which is T_comm of the non-contiguous
 * overlap benchmark.
 */
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
