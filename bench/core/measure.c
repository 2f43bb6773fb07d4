/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Sampling, and the two measurements that other ones refer to. Rank 0 decides when there are enough samples; the others
 * learn it from the word of the synchronisation that precedes each of them.
 */
#include "core/bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_END = 0, WORD_GO = 1 };
enum { TAG_PING = 1, TAG_PONG = 2 };

/*
 * Of a steady ping-pong's sample: so long that reading the clock twice, some 50 ns, and the first round trip, still under
 * the impression of the synchronisation, add less than 1 % (Hoefler & Belli 2015 allow 5 %).
 */
#define SAMPLE_NS_LEAST 100000.0
#define ROUNDS_MAX 1000.0
#define PROBES 5

/* How long to sample, as rank 0 sees it. */
struct watch {
	const struct bench_options *opt;
	uint64_t end_ns; /* 0: no limit */
	size_t look_cnt; /* the interval is looked at when there are so many; sorting takes time */
};

static bool watch_wants_more(struct watch *w, const struct samples *s, uint64_t now_ns)
{
	if (s->cnt < MEASURE_SAMPLES_LEAST)
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

static void warm_up(struct bench_run *run, double (*body)(struct bench_run *run, void *ctx),
		    void *ctx)
{
	struct comm *c = run->comm;
	uint64_t i;

	c->ops->mark_begin(c, 3, "warm-up");
	for (i = 0; i < run->opt->warmup; i++) {
		comm_sync(c, WORD_GO);
		body(run, ctx);
	}
	c->ops->mark_end(c, 3);
}

void measure(struct bench_run *run, double (*body)(struct bench_run *run, void *ctx), void *ctx,
	     struct samples *out)
{
	const struct bench_options *opt = run->opt;
	struct comm *c = run->comm;
	struct watch watch = {.opt = opt};
	uint64_t word = WORD_GO;
	double sample;

	if (!c->rank)
		samples_clear(out);
	if (opt->warmup)
		warm_up(run, body, ctx);
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
	uint64_t rounds;   /* of a sample */
	uint64_t pause_ns; /* at most, before a sample; 0: none */
	uint64_t random;
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

/* Always computing: who sleeps is let in before others when it wakes. */
static void pause_for_a_while(struct bench_run *run, struct pingpong *p)
{
	const struct compute how = {.kind = COMPUTE_DEADLINE, .cores = COMPUTE_ONE};

	/* Knuth's MMIX generator; its high bits are the good ones. */
	p->random = p->random * 6364136223846793005u + 1442695040888963407u;
	run->comm->ops->compute(run->comm, &how, (p->random >> 32) * p->pause_ns >> 32);
}

static double ping(struct bench_run *run, struct pingpong *p)
{
	struct comm *c = run->comm;
	uint64_t began_ns, end_ns, i;

	if (p->pause_ns)
		pause_for_a_while(run, p);
	began_ns = c->ops->now_ns(c);
	for (i = 0; i < p->rounds; i++) {
		c->ops->send(c, &p->out, p->peer, TAG_PING);
		c->ops->recv(c, &p->in, p->peer, TAG_PONG);
	}
	end_ns = c->ops->now_ns(c);
	check(run, p);
	return (double)(end_ns - began_ns) / 2 / (double)p->rounds;
}

static void pong(struct bench_run *run, struct pingpong *p)
{
	struct comm *c = run->comm;
	uint64_t i;

	for (i = 0; i < p->rounds; i++) {
		c->ops->recv(c, &p->in, 0, TAG_PING);
		c->ops->send(c, &p->out, 0, TAG_PONG);
	}
	check(run, p);
}

static double pingpong_body(struct bench_run *run, void *ctx)
{
	struct pingpong *p = ctx;
	struct comm *c = run->comm;

	if (!c->rank)
		return ping(run, p);
	if (c->rank == p->peer)
		pong(run, p);
	return 0;
}

/* How many round trips make a sample long against reading the clock; every rank gets to know. */
static uint64_t enough_rounds(struct bench_run *run, struct pingpong *p)
{
	double least_ns = INFINITY;
	int i;

	for (i = 0; i < PROBES; i++) {
		comm_sync(run->comm, WORD_GO);
		least_ns = fmin(least_ns, 2 * pingpong_body(run, p));
	}
	if (!(least_ns < SAMPLE_NS_LEAST))
		return comm_tell(run->comm, 1);
	return comm_tell(run->comm,
			 (uint64_t)fmin(ROUNDS_MAX, ceil(SAMPLE_NS_LEAST / fmax(least_ns, 1))));
}

static void pingpong_measure(struct bench_run *run, struct pingpong p, bool steady,
			     struct samples *out)
{
	p.out.buf = bench_buffer_new(p.out.bytes, p.out.layout);
	p.in.buf = bench_buffer_new(p.in.bytes, p.in.layout);
	p.rounds = 1;
	fill(run, &p);
	if (steady)
		p.rounds = enough_rounds(run, &p);
	measure(run, pingpong_body, &p, out);
	free(p.out.buf);
	free(p.in.buf);
}

static struct pingpong pingpong_of(int peer, size_t bytes, enum comm_layout layout)
{
	struct comm_msg m = {.bytes = bytes, .layout = layout};

	return (struct pingpong){.out = m, .in = m, .peer = peer};
}

double measure_latency_ns(struct bench_run *run, int peer)
{
	struct samples s;
	double median;

	samples_init(&s);
	pingpong_measure(run, pingpong_of(peer, 0, COMM_CONTIGUOUS), false, &s);
	median = stats_quantile(&s, 0.5);
	samples_release(&s);
	return median;
}

void measure_pingpong(struct bench_run *run, size_t bytes, enum comm_layout layout,
		      struct samples *out)
{
	pingpong_measure(run, pingpong_of(1, bytes, layout), false, out);
}

void measure_pingpong_apart(struct bench_run *run, size_t bytes, uint64_t pause_ns,
			    struct samples *out)
{
	struct pingpong p = pingpong_of(1, bytes, COMM_CONTIGUOUS);

	p.pause_ns = pause_ns;
	pingpong_measure(run, p, false, out);
}

void measure_pingpong_steady(struct bench_run *run, size_t bytes, enum comm_layout layout,
			     struct samples *out)
{
	pingpong_measure(run, pingpong_of(1, bytes, layout), true, out);
}
