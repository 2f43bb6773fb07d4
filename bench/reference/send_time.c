/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The sender's processor time: how long a blocking Send occupies rank 0. Small messages are copied
 * and the call returns early. Large ones occupy the sender until the receiver has them.
 */
#include "core/curve.h"

#include <stdlib.h>

static const uint32_t send_time_seed = 7;

enum { TAG_DATA = 1 };

struct send_time {
	struct comm_msg msg;
	double clock_ns;
};

static double send_time_sample(struct bench_run *run, void *ctx)
{
	const struct send_time *s = ctx;
	const struct comm_msg *msg = &s->msg;
	struct comm *c = run->comm;
	uint64_t start;

	if (c->rank == 1) {
		c->ops->recv(c, msg, 0, TAG_DATA);
		if (!run->opt->validate)
			return 0;
		bench_buffer_check(msg->buf, msg->bytes, msg->layout, send_time_seed);
		bench_buffer_fill(msg->buf, msg->bytes, msg->layout, ~send_time_seed);
		return 0;
	}
	start = c->ops->now_ns(c);
	c->ops->send(c, msg, 1, TAG_DATA);
	return (double)(c->ops->now_ns(c) - start) - s->clock_ns;
}

static void send_time_measure(struct bench_run *run, size_t bytes, struct samples *out)
{
	struct send_time s = {.msg = {.buf = bench_buffer_new(bytes, COMM_CONTIGUOUS),
				      .bytes = bytes},
			      .clock_ns = measure_clock_ns(run->comm)};
	const struct measure_how how = {.sample = send_time_sample, .ctx = &s};

	bench_buffer_fill(s.msg.buf, bytes, s.msg.layout,
			  run->comm->rank == 0 ? send_time_seed : ~send_time_seed);
	measure(run, &how, out);
	free(s.msg.buf);
}

static const struct curve curve = {.measure = send_time_measure};

const struct bench bench_send_time = {
	.name = "send_time",
	.group = "reference",
	.brief = "how long a blocking send keeps the sender",
	.source = "Denis & Trahay 2016, III.D: base benchmarks",
	CURVE_PAIR(curve),
};
