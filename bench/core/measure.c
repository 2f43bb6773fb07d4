/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Sampling, and the two measurements that others refer to. Rank 0 decides when there are enough
 * samples. The other ranks learn it from the word of the synchronisation before each sample.
 */
#include "core/bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_END = 0, WORD_GO = 1 };
enum { TAG_PING = 1, TAG_PONG = 2 };

/*
 * Least length of a steady ping-pong's sample. Two readings of the clock take about 50 ns, and the
 * first round trip is still affected by the synchronisation. With this length both add less than
 * 1 % (Hoefler & Belli 2015 allow 5 %).
 */
#define SAMPLE_NS_LEAST 100000.0
#define ROUNDS_MAX 1000.0
#define PROBES 5

/*
 * Limits of the warm-up for a new point. Receive pools are touched for the first time and caches
 * fill: 256 KiB over shared memory got faster for 400 messages. The warm-up takes at least
 * SETTLE_SAMPLES, and lasts SETTLE_NS or SETTLE_SAMPLES_FAST samples, whichever comes first. Then
 * it goes on until the last quarter of the samples is at most SETTLED shorter than the quarter
 * before. It ends at SETTLE_NS_MAX or SETTLE_SAMPLES_MAX in any case.
 */
#define SETTLE_SAMPLES 100
#define SETTLE_NS 20000000
#define SETTLE_SAMPLES_FAST 1000
#define SETTLED 0.02
#define SETTLE_NS_MAX 300000000
#define SETTLE_SAMPLES_MAX 5000

#define CLOCK_ROUNDS 9
#define CLOCK_READINGS 500

struct warm_up {
	struct samples taken;
	uint64_t least, done, began_ns;
	size_t look_cnt; /* number of samples at which to check again */
	bool settle;
};

/* Rank 0's criteria for the end of sampling. */
struct watch {
	const struct bench_options *opt;
	uint64_t end_ns; /* 0: no limit */
	/* Number of samples at which to check the interval, as sorting takes time. */
	size_t look_cnt;
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

/* Starts another sample. Calls how->prepare once all ranks know that the sample will be taken. */
static bool next_sample(struct bench_run *run, const struct measure_how *how, bool more)
{
	struct comm *c = run->comm;
	uint64_t word = more ? WORD_GO : WORD_END;

	if (!how->prepare)
		return comm_sync(c, word) == WORD_GO;
	if (comm_tell(c, word) == WORD_END)
		return false;
	how->prepare(run, how->ctx);
	comm_sync(c, WORD_GO);
	return true;
}

/* ---- warming up ---- */

static double part_median(const struct samples *s, size_t begin, size_t end)
{
	const struct samples part = {.value = s->value + begin, .cnt = end - begin};

	return stats_quantile(&part, 0.5);
}

/* True if the last quarter was not shorter than the one before. */
static bool fell_no_more(const struct samples *s)
{
	size_t quarter = s->cnt / 4;

	return part_median(s, s->cnt - quarter, s->cnt) >=
	       (1 - SETTLED) * part_median(s, s->cnt - 2 * quarter, s->cnt - quarter);
}

/* Rank 0: true if times may still fall. */
static bool is_cold(struct warm_up *w, uint64_t now_ns)
{
	uint64_t spent_ns = now_ns - w->began_ns;

	if (w->done < w->least)
		return true;
	if (!w->settle || w->taken.cnt >= SETTLE_SAMPLES_MAX || spent_ns >= SETTLE_NS_MAX)
		return false;
	if (w->taken.cnt < SETTLE_SAMPLES || w->taken.cnt < w->look_cnt)
		return true;
	w->look_cnt = w->taken.cnt + w->taken.cnt / 4;
	return (spent_ns < SETTLE_NS && w->taken.cnt < SETTLE_SAMPLES_FAST) ||
	       !fell_no_more(&w->taken);
}

static void warm_up(struct bench_run *run, const struct measure_how *how)
{
	struct comm *c = run->comm;
	struct warm_up w = {.least = run->opt->warmup,
			    .settle = run->opt->settle && !how->warm,
			    .began_ns = c->ops->now_ns(c)};
	double sample;

	if (!w.least && !w.settle)
		return;
	c->ops->mark_begin(c, 3, "warm-up");
	while (next_sample(run, how, !c->rank && is_cold(&w, c->ops->now_ns(c)))) {
		sample = how->sample(run, how->ctx);
		w.done++;
		if (!c->rank && !isnan(sample))
			samples_add(&w.taken, sample);
	}
	c->ops->mark_end(c, 3);
	samples_release(&w.taken);
}

void measure(struct bench_run *run, const struct measure_how *how, struct samples *out)
{
	const struct bench_options *opt = run->opt;
	struct watch watch = {.opt = opt};
	struct comm *c = run->comm;
	double sample;

	warm_up(run, how);
	if (!c->rank)
		samples_clear(out);
	if (opt->point_ns)
		watch.end_ns = c->ops->now_ns(c) + opt->point_ns;
	while (next_sample(run, how,
			   !c->rank && watch_wants_more(&watch, out, c->ops->now_ns(c)))) {
		sample = how->sample(run, how->ctx);
		if (!c->rank && !isnan(sample))
			samples_add(out, sample);
	}
}

double measure_clock_ns(struct comm *c)
{
	double least_ns = INFINITY;
	uint64_t began_ns;

	for (int round = 0; round < CLOCK_ROUNDS; round++) {
		began_ns = c->ops->now_ns(c);
		for (int i = 1; i < CLOCK_READINGS; i++)
			c->ops->now_ns(c);
		least_ns = fmin(least_ns, (double)(c->ops->now_ns(c) - began_ns) / CLOCK_READINGS);
	}
	return least_ns;
}

/* ---- ping-pong ---- */

struct pingpong {
	struct comm_msg out, in;
	int peer;
	double clock_ns;   /* subtracted from each sample's time */
	uint64_t rounds;   /* in a sample */
	uint64_t pause_ns; /* longest pause before a sample; 0: none */
	uint64_t random;
};

enum { SEED_PING = 1, SEED_PONG = 2 }; /* seeds of the data that rank 0 and its peer send */

static void pingpong_fill(const struct bench_run *run, const struct pingpong *p)
{
	uint32_t seed = run->comm->rank ? SEED_PONG : SEED_PING;

	if (run->opt->validate)
		bench_buffer_fill(p->out.buf, p->out.bytes, p->out.layout, seed);
}

/*
 * The sent data stays the same for all samples. If it were rewritten for each one, it would be only
 * in the sender's cache, and validation would make large messages twice as slow.
 */
static void pingpong_check(struct bench_run *run, const struct pingpong *p)
{
	uint32_t seed = run->comm->rank ? SEED_PING : SEED_PONG;

	if (run->opt->validate)
		bench_msg_check(&p->in, seed);
}

/* Computes instead of sleeping, because the scheduler favours a thread that wakes from sleep. */
static void pause_for_a_while(struct bench_run *run, struct pingpong *p)
{
	const struct compute how = {.kind = COMPUTE_DEADLINE, .cores = COMPUTE_ONE};

	run->comm->ops->compute(run->comm, &how,
				(random_step(&p->random) >> 32) * p->pause_ns >> 32);
}

static double pingpong_ping(struct bench_run *run, struct pingpong *p)
{
	struct comm *c = run->comm;
	uint64_t began_ns, end_ns;

	if (p->pause_ns)
		pause_for_a_while(run, p);
	began_ns = c->ops->now_ns(c);
	for (uint64_t i = 0; i < p->rounds; i++) {
		c->ops->send(c, &p->out, p->peer, TAG_PING);
		c->ops->recv(c, &p->in, p->peer, TAG_PONG);
	}
	end_ns = c->ops->now_ns(c);
	pingpong_check(run, p);
	return ((double)(end_ns - began_ns) - p->clock_ns) / 2 / (double)p->rounds;
}

static void pingpong_pong(struct bench_run *run, struct pingpong *p)
{
	struct comm *c = run->comm;

	for (uint64_t i = 0; i < p->rounds; i++) {
		c->ops->recv(c, &p->in, 0, TAG_PING);
		c->ops->send(c, &p->out, 0, TAG_PONG);
	}
	pingpong_check(run, p);
}

static double pingpong_body(struct bench_run *run, void *ctx)
{
	struct pingpong *p = ctx;
	struct comm *c = run->comm;

	if (!c->rank)
		return pingpong_ping(run, p);
	if (c->rank == p->peer)
		pingpong_pong(run, p);
	return 0;
}

/* Number of round trips that make a sample much longer than a clock reading; same on all ranks. */
static uint64_t enough_rounds(struct bench_run *run, struct pingpong *p)
{
	double least_ns = INFINITY;

	for (int i = 0; i < PROBES; i++) {
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
	const struct measure_how how = {.sample = pingpong_body, .ctx = &p};

	p.out.buf = bench_buffer_new(p.out.bytes, p.out.layout);
	p.in.buf = bench_buffer_new(p.in.bytes, p.in.layout);
	p.rounds = 1;
	p.clock_ns = measure_clock_ns(run->comm);
	run->comm->ops->msg_prepare(run->comm, &p.out);
	pingpong_fill(run, &p);
	if (steady)
		p.rounds = enough_rounds(run, &p);
	measure(run, &how, out);
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
	struct samples s = {0};
	double median;

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
