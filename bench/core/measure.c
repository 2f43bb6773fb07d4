/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Sampling, and the two measurements that other ones refer to. Rank 0 decides when there are enough samples; the others
 * learn it from the word of the synchronisation that precedes each of them.
 */
#include "core/bench.h"

#include <stdlib.h>
#include <string.h>

enum { WORD_END = 0, WORD_GO = 1 };
enum { TAG_PING = 1, TAG_PONG = 2 };

#define SAMPLES_LEAST 2 /* also when the time is over */

/* How long to sample, as rank 0 sees it. */
struct watch {
	const struct bench_options *opt;
	uint64_t end_ns; /* 0: no limit */
	size_t look_cnt; /* the interval is looked at when there are so many; sorting takes time */
};

static bool watch_wants_more(struct watch *w, const struct samples *s, uint64_t now_ns)
{
	if (s->cnt < SAMPLES_LEAST)
		return true;
	if (w->end_ns && now_ns >= w->end_ns)
		return false;
	if (s->cnt < w->opt->samples)
		return true;
	if (w->opt->ci_pct <= 0 || s->cnt >= w->opt->samples_max)
		return false;
	if (s->cnt < w->look_cnt)
		return true;
	w->look_cnt = s->cnt + s->cnt / 8 + 1;
	return !stats_settled(s, w->opt->ci_pct);
}

void measure(struct bench_run *run, double (*body)(struct bench_run *run, void *ctx), void *ctx,
	     struct samples *out)
{
	const struct bench_options *opt = run->opt;
	struct comm *c = run->comm;
	struct watch watch = {.opt = opt};
	uint64_t i, word = WORD_GO;
	double sample;

	if (!c->rank)
		samples_clear(out);
	for (i = 0; i < opt->warmup; i++) {
		comm_sync(c, WORD_GO);
		body(run, ctx);
	}
	if (opt->point_ns)
		watch.end_ns = c->ops->now_ns(c) + opt->point_ns;
	for (;;) {
		if (!c->rank && !watch_wants_more(&watch, out, c->ops->now_ns(c)))
			word = WORD_END;
		if (comm_sync(c, word) == WORD_END)
			return;
		sample = body(run, ctx);
		if (!c->rank)
			samples_add(out, sample);
	}
}

/* ---- ping-pong ---- */

struct pingpong {
	struct comm_msg out, in;
	int peer;
};

enum { SEED_PING = 1, SEED_PONG = 2 }; /* what rank 0 and its peer send */

static void fill(const struct bench_run *run, const struct pingpong *p)
{
	uint32_t seed = run->comm->rank ? SEED_PONG : SEED_PING;

	if (run->opt->validate)
		bench_buffer_fill(p->out.buf, p->out.bytes, p->out.layout, seed);
}

/*
 * What is sent stays as it is for all samples: written anew for each, it would be in the sender's cache only, and
 * validation would make large messages twice as slow. What was received is made wrong for the next time instead.
 */
static void check(struct bench_run *run, const struct pingpong *p)
{
	uint32_t seed = run->comm->rank ? SEED_PING : SEED_PONG;

	if (!run->opt->validate)
		return;
	bench_buffer_check(p->in.buf, p->in.bytes, p->in.layout, seed);
	bench_buffer_fill(p->in.buf, p->in.bytes, p->in.layout, ~seed);
}

static double ping(struct bench_run *run, struct pingpong *p)
{
	struct comm *c = run->comm;
	uint64_t began_ns, end_ns;

	began_ns = c->ops->now_ns(c);
	c->ops->send(c, &p->out, p->peer, TAG_PING);
	c->ops->recv(c, &p->in, p->peer, TAG_PONG);
	end_ns = c->ops->now_ns(c);
	check(run, p);
	return (double)(end_ns - began_ns) / 2;
}

static double pingpong_body(struct bench_run *run, void *ctx)
{
	struct pingpong *p = ctx;
	struct comm *c = run->comm;

	if (!c->rank)
		return ping(run, p);
	if (c->rank == p->peer) {
		c->ops->recv(c, &p->in, 0, TAG_PING);
		c->ops->send(c, &p->out, 0, TAG_PONG);
		check(run, p);
	}
	return 0;
}

static void pingpong_measure(struct bench_run *run, int peer, size_t bytes, enum comm_layout layout,
			     struct samples *out)
{
	struct pingpong p = {
		.out = {bench_buffer_new(bytes, layout), bytes, layout},
		.in = {bench_buffer_new(bytes, layout), bytes, layout},
		.peer = peer,
	};

	fill(run, &p);
	measure(run, pingpong_body, &p, out);
	free(p.out.buf);
	free(p.in.buf);
}

double measure_latency_ns(struct bench_run *run, int peer)
{
	struct samples s;
	double median;

	samples_init(&s);
	pingpong_measure(run, peer, 0, COMM_CONTIGUOUS, &s);
	median = stats_quantile(&s, 0.5);
	samples_release(&s);
	return median;
}

void measure_pingpong(struct bench_run *run, size_t bytes, enum comm_layout layout,
		      struct samples *out)
{
	pingpong_measure(run, 1, bytes, layout, out);
}
