/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Clocks related by messages: hosts with clocks of known offset and drift, and messages with random
 * latencies. The reported uncertainty must always contain the truth.
 */
#include <math.h>

#include "unit/test.h"
#include "analysis/host_clocks.h"

#define HOSTS 6
#define MESSAGES 8192
#define BEGIN_NS UINT64_C(1000000000000)

/* ---- hosts ---- */

static struct trace_clock_fit fit[HOSTS];
static struct world {
	struct host_clocks clocks;
	struct model_process process[HOSTS];
	/* Offset of a host's clock from the true time at BEGIN_NS, and its drift from then on. */
	double ahead_ns[HOSTS], drift[HOSTS];
	uint64_t seed;
	double span_ns;
	struct match sent[MESSAGES];
	uint32_t nsent;
} w;

static double any(double from, double to)
{
	w.seed ^= w.seed << 13;
	w.seed ^= w.seed >> 7;
	w.seed ^= w.seed << 17;
	return from + (to - from) * (double)(w.seed >> 11) / 9007199254740992.0;
}

static void world_open(uint64_t seed, double span_ns)
{
	memset(&w, 0, sizeof(w));
	w.seed = seed * UINT64_C(0x9e3779b97f4a7c15);
	w.span_ns = span_ns;
	host_clocks_init(&w.clocks);
	for (uint32_t i = 0; i < HOSTS; i++) {
		w.process[i].host_idx = i;
		w.ahead_ns[i] = i ? any(-1e7, 1e7) : 0;
		w.drift[i] = i ? any(-2e-4, 2e-4) : 0;
	}
}

/* Returns what a host's clock shows at a time, in ns since BEGIN_NS. */
static double shown(uint32_t host, double ns)
{
	return ns + w.ahead_ns[host] + w.drift[host] * ns;
}

/* Returns what must be added to the clock's reading to get the true time. */
static double truth(uint32_t host, double shown_ns)
{
	return (shown_ns - w.ahead_ns[host]) / (1 + w.drift[host]) - shown_ns;
}

static void message(uint32_t from, uint32_t to, double at_ns, double took_ns)
{
	const struct model_thread completer = {0};
	const struct match m = {
		.send = {.process = &w.process[from],
			 .begin_ns = BEGIN_NS + (uint64_t)llround(shown(from, at_ns))},
		.recv = {.process = &w.process[to],
			 .completer = &completer,
			 .end_ns = BEGIN_NS + (uint64_t)llround(shown(to, at_ns + took_ns))},
	};

	assert_true(w.nsent < MESSAGES);
	w.sent[w.nsent++] = m;
	w.clocks.matches.notify(w.clocks.matches.ctx, &m);
}

/* Returns a latency that is occasionally disturbed. */
static double latency(double least_ns)
{
	return least_ns - log(any(1e-9, 1)) * any(0, 20) * least_ns;
}

static void traffic(uint32_t a, uint32_t b, uint32_t messages, double least_ns)
{
	for (uint32_t i = 0; i < messages; i++) {
		double at_ns = any(0, w.span_ns);

		if (any(0, 1) < 0.5)
			message(a, b, at_ns, latency(least_ns));
		else
			message(b, a, at_ns, latency(least_ns));
	}
}

/* Runs the analysis and releases its data. given_bits: hosts with a given clock. */
static void found(uint32_t given_bits)
{
	bool given[HOSTS];

	for (uint32_t i = 0; i < HOSTS; i++)
		given[i] = given_bits & 1u << i;
	host_clocks_find(&w.clocks, HOSTS, given, BEGIN_NS, BEGIN_NS + (uint64_t)llround(w.span_ns),
			 fit);
	host_clocks_release(&w.clocks);
}

/* Returns the largest error of a host's corrected times. */
static double error_of(uint32_t host)
{
	double most = 0;

	for (int i = 0; i <= 4; i++) {
		double at_ns = w.span_ns * i / 4;
		double since_ns = at_ns - (double)(int64_t)(fit[host].at_ns - BEGIN_NS);

		most = fmax(most, fabs(fit[host].apart_ns + fit[host].drift * since_ns -
				       truth(host, at_ns)));
	}
	return most;
}

static double corrected(uint32_t host, uint64_t ns)
{
	double since_ns = (double)(int64_t)(ns - fit[host].at_ns);

	return (double)(int64_t)(ns - BEGIN_NS) + fit[host].apart_ns + fit[host].drift * since_ns;
}

/* Asserts that no message arrives before it is sent. */
static void none_reversed(void)
{
	for (uint32_t i = 0; i < w.nsent; i++) {
		const struct match_end *s = &w.sent[i].send, *r = &w.sent[i].recv;

		assert_true(corrected(r->process->host_idx, r->end_ns) -
				    corrected(s->process->host_idx, s->begin_ns) >
			    -0.01);
	}
}

/*
 * Asserts that the host's clock is related to another host's, and that the reported uncertainty
 * contains the truth.
 */
static void is_related(uint32_t host, uint32_t to)
{
	assert_int_equal(fit[host].by, TRACE_CLOCK_MESSAGES);
	assert_int_equal(fit[host].host, to);
	assert_true(error_of(host) <= fit[host].uncertainty_ns);
}

static void is_unrelated(uint32_t host)
{
	assert_int_equal(fit[host].by, TRACE_CLOCK_TIME_OF_DAY);
	assert_int_equal(fit[host].host, host);
	assert_true(fit[host].apart_ns == 0 && fit[host].drift == 0);
}

/* ---- two of them ---- */

TEST(within_uncertainty)
{
	for (uint64_t seed = 1; seed <= 400; seed++) {
		double span_ns, least_ns;
		uint32_t messages;

		world_open(seed, 0);
		w.span_ns = span_ns = pow(10, any(7, 11));
		least_ns = pow(10, any(2.7, 4.7));
		messages = (uint32_t)pow(10, any(1, 3.6));
		traffic(0, 1, messages, least_ns);
		message(0, 1, 0, least_ns);
		message(1, 0, span_ns, least_ns);
		found(0);
		is_related(1, 0);
		assert_int_equal(fit[1].messages, messages + 2);
		none_reversed();
		if (messages > 1000)
			assert_true(fit[1].uncertainty_ns < 4 * least_ns);
	}
}

/*
 * Messages in one direction take 1 ms more. The clock is off by half of that, which cannot be
 * detected.
 */
TEST(asymmetric)
{
	for (uint64_t seed = 1; seed <= 100; seed++) {
		world_open(seed, 1e9);
		for (uint32_t i = 0; i < 1000; i++) {
			message(0, 1, any(0, 1e9), latency(5000));
			message(1, 0, any(0, 1e9), 1e6 + latency(5000));
		}
		found(0);
		assert_true(error_of(1) > 4e5);
		is_related(1, 0);
		assert_true(fit[1].uncertainty_ns < 6.5e5);
	}
}

/* The line lies between the bounds, however narrow the gap is. */
TEST(between)
{
	struct clock_bounds_line line;

	for (uint64_t seed = 1; seed <= 100; seed++) {
		struct clock_bounds c = {0};
		int64_t bound[2000];
		uint64_t at[2000];

		world_open(seed, 1e9);
		for (int i = 0; i < 2000; i++) {
			double ns = any(0, 1e9);
			double apart_ns = truth(1, ns), slack_ns = latency(50);

			at[i] = BEGIN_NS + (uint64_t)llround(ns);
			bound[i] = llround(apart_ns + (i % 2 ? slack_ns : -slack_ns));
			(i % 2 ? clock_bounds_most : clock_bounds_least)(&c, at[i], bound[i]);
		}
		assert_int_equal(clock_bounds_line(&c, BEGIN_NS, BEGIN_NS + 1000000000, &line),
				 CLOCK_BOUNDS_LINE);
		for (int i = 0; i < 2000; i++) {
			double ns = line.apart_ns + line.drift * (double)(at[i] - BEGIN_NS);

			assert_true(i % 2 ? ns <= (double)bound[i] : ns >= (double)bound[i]);
		}
		clock_bounds_release(&c);
		host_clocks_release(&w.clocks);
	}
}

TEST(one_way)
{
	world_open(1, 1e9);
	for (uint32_t i = 0; i < 1000; i++)
		message(0, 1, any(0, 1e9), latency(5000));
	found(0);
	is_unrelated(1);
	assert_true(fit[1].violated_ns == 0);
}

/*
 * A clock that is set by 1 ms in the middle. Any line is off by at least half of that in one of the
 * parts.
 */
TEST(clock_set)
{
	world_open(1, 1e9);
	for (uint32_t i = 0; i < 4000; i++) {
		if (i == 2000)
			w.ahead_ns[1] += 1e6;
		message(i % 2, 1 - i % 2, i * 250000.0, 1000);
	}
	found(0);
	is_unrelated(1);
	assert_true(fit[1].violated_ns > 2e5 && fit[1].violated_ns < 5e5);
}

/*
 * Messages that are only assumed to match or to be complete do not count, nor do messages within a
 * host.
 */
TEST(left_out)
{
	const struct model_thread completer = {0};
	struct match m = {.send = {.begin_ns = BEGIN_NS}, .recv = {.end_ns = BEGIN_NS + 1000}};

	world_open(1, 1e9);
	for (int i = 0; i < 8; i++) {
		m.send.process = &w.process[i & 1];
		m.recv.process = &w.process[i & 4 ? !(i & 1) : i & 1];
		m.assumed = i & 4 && i & 2;
		m.recv.completer = i & 4 && !(i & 2) ? NULL : &completer;
		w.clocks.matches.notify(w.clocks.matches.ctx, &m);
	}
	assert_int_equal(w.clocks.pairs.cnt, 0);
	found(0);
	is_unrelated(1);
}

/* ---- many ---- */

/*
 * Hosts are related through host 3, whose messages are fast, rather than by direct but slow
 * messages.
 */
TEST(tree)
{
	for (uint64_t seed = 1; seed <= 100; seed++) {
		world_open(seed, 1e10);
		traffic(0, 3, 1000, 1000);
		traffic(3, 1, 1000, 1000);
		traffic(2, 1, 1000, 1000);
		traffic(0, 1, 1000, 500000);
		traffic(0, 2, 1000, 500000);
		traffic(4, 5, 1000, 1000); /* these two have no messages with others */
		found(0);
		for (uint32_t i = 1; i <= 3; i++) {
			is_related(i, 0);
			assert_int_equal(fit[i].messages, 1000);
			assert_true(fit[i].uncertainty_ns < 30000);
		}
		none_reversed();
		is_unrelated(4);
		assert_int_equal(fit[5].by, TRACE_CLOCK_MESSAGES);
		assert_int_equal(fit[5].host, 4);
	}
}

/*
 * Each pair's middle is as wrong as it can be. Two pairs together would reverse the third pair's
 * messages.
 */
TEST(triangle)
{
	for (uint64_t seed = 1; seed <= 20; seed++) {
		world_open(seed, 1e9);
		for (uint32_t i = 0; i < 500; i++) {
			message(0, 1, i * 2e6, 100);
			message(1, 0, i * 2e6 + 1e6, 39900);
			message(1, 2, i * 2e6, 100);
			message(2, 1, i * 2e6 + 1e6, 39900);
			message(0, 2, i * 2e6, 22000);
			message(2, 0, i * 2e6 + 1e6, 22000);
		}
		found(0);
		none_reversed();
		for (uint32_t i = 1; i <= 2; i++)
			is_related(i, 0);
	}
}

/* A clock set by the user stays, and others are related to it. */
TEST(given)
{
	world_open(1, 1e9);
	w.ahead_ns[2] = w.drift[2] = 0;
	traffic(0, 2, 1000, 1000);
	traffic(1, 2, 1000, 1000);
	found(1 << 2);
	assert_int_equal(fit[2].by, TRACE_CLOCK_GIVEN);
	assert_true(fit[2].apart_ns == 0 && fit[2].drift == 0);
	is_related(1, 2);
}
