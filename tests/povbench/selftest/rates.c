/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Windows of messages, of puts and of gets: the time of a message must be that which the machine's costs give for a
 * window, over its messages. Each part of a window is followed on paper: when a message has been sent, when its data
 * are there, when the receiver has spent its CPU time on it. Ranks begin the first window of a sample within what the
 * synchronisation takes.
 */
#include "selftest/case.h"

#include <math.h>
#include <stddef.h>

#define TOLERANCE_NS 4

/* ---- machines ---- */

static void with_costs(struct model_settings *m, struct bench_options *opt)
{
	(void)opt;
	m->latency_ns = 1000;
	m->send_ns = 300;
	m->isend_ns = 50;
	m->recv_ns = 500;
}

static void small(struct model_settings *m, struct bench_options *opt)
{
	with_costs(m, opt);
	opt->bytes_min = 1;
	opt->bytes_max = 64;
	opt->window = 0;
}

static void eager(struct model_settings *m, struct bench_options *opt)
{
	with_costs(m, opt);
	m->eager_bytes = UINT64_MAX;
}

static void one_link(struct model_settings *m, struct bench_options *opt)
{
	with_costs(m, opt);
	m->shared_link = true;
}

static void one_pair(struct model_settings *m, struct bench_options *opt)
{
	with_costs(m, opt);
	opt->pairs = 1;
}

/* Two of three ranks are a pair. */
static void odd_ranks(struct model_settings *m, struct bench_options *opt)
{
	with_costs(m, opt);
	m->ranks = 3;
}

/* ---- two-sided ---- */

/*
 * From the first send to when the receiver is done with the last of cnt messages. The sender is done when it has
 * sent all, or with rendezvous when the data are there.
 */
static double arrival_ns(const struct model_settings *m, double bytes, int cnt, double posted_ns)
{
	double moving_ns = bytes * m->byte_ns, there_ns = 0, done_ns = posted_ns, begin_ns;
	int i;

	for (i = 0; i < cnt; i++) {
		begin_ns = (i + 1) * (m->send_ns + m->isend_ns) + m->latency_ns;
		if (m->shared_link)
			begin_ns = fmax(begin_ns, there_ns);
		there_ns = begin_ns + moving_ns;
		done_ns = fmax(done_ns, there_ns) + m->recv_ns;
	}
	return done_ns;
}

/* The answer is a message without data, sent by a blocking call. */
static double window_ns(const struct model_settings *m, double bytes, int cnt)
{
	return arrival_ns(m, bytes, cnt, 0) + m->send_ns + m->latency_ns + m->recv_ns;
}

static int window_of(const struct selftest *t)
{
	return t->opt.window ? (int)t->opt.window : 64;
}

static void check_rate(struct selftest *t, double bytes, const struct result_point *p, double ns,
		       double tolerance_ns)
{
	selftest_expect(t, result_number(p, "measured"), ns, tolerance_ns,
			"ns of one of the messages of %.0f bytes", bytes);
	selftest_expect(t, result_number(p, "messages_per_s") * result_number(p, "measured"), 1e9,
			1, "ns of all messages of a second");
	selftest_expect(t, result_number(p, "mb_per_s") * 1e6,
			bytes * result_number(p, "messages_per_s"), 1, "bytes a second");
}

/* The messages of a window are `parts` times cnt. */
static void check_rates(struct selftest *t,
			double (*ns)(const struct model_settings *m, double bytes, int cnt),
			double parts, double skew_ns)
{
	double all = window_of(t) * parts, bytes;
	const struct result_point *p;
	size_t i;

	for (i = 0; i < result_point_cnt(t->result); i++) {
		p = result_point_at(t->result, i);
		bytes = result_number(p, "bytes");
		selftest_expect(t, result_number(p, "window"), window_of(t), 0, "the window");
		check_rate(t, bytes, p, ns(&t->model, bytes, window_of(t)) / all,
			   TOLERANCE_NS + skew_ns / all);
	}
	selftest_expect(t, (double)(i > 0), 1, 0, "having points");
}

static void check_bandwidth(struct selftest *t)
{
	check_rates(t, window_ns, 1, 0);
}

/*
 * A rank waits for its own sends first: with rendezvous until their data are there. Then it spends its CPU time on what
 * came, and the other one is as far.
 */
static double both_ns(const struct model_settings *m, double bytes, int cnt)
{
	double sent_ns = cnt * (m->send_ns + m->isend_ns), there_ns;

	there_ns = sent_ns + m->latency_ns + bytes * m->byte_ns;
	return arrival_ns(m, bytes, cnt, m->eager_bytes >= bytes ? sent_ns : there_ns);
}

static void check_bi_bandwidth(struct selftest *t)
{
	const struct model_settings *m = &t->model;

	check_rates(t, both_ns, 2, m->latency_ns + m->recv_ns);
}

/* Pairs have nothing to do with each other here. */
static void check_message_rate(struct selftest *t)
{
	double pairs = t->opt.pairs ? (double)t->opt.pairs : t->model.ranks / 2;
	size_t i;

	for (i = 0; i < result_point_cnt(t->result); i++)
		selftest_expect(t, result_number(result_point_at(t->result, i), "pairs"), pairs, 0,
				"the number of pairs");
	check_rates(t, window_ns, pairs, t->model.ranks * t->model.send_ns);
}

/* ---- one-sided ---- */

/* The last one begins when all have cost the origin its time, or when the link is free. */
static double accesses_ns(const struct model_settings *m, double bytes, int cnt)
{
	double moving_ns = bytes * m->byte_ns, last_ns = cnt * m->send_ns;

	if (m->shared_link && moving_ns > m->send_ns)
		last_ns = m->send_ns + (cnt - 1) * moving_ns;
	return last_ns + moving_ns + 2 * m->latency_ns;
}

static void check_access(struct selftest *t)
{
	const struct result_point *p;
	double bytes;
	size_t i;

	for (i = 0; i < result_point_cnt(t->result); i++) {
		p = result_point_at(t->result, i);
		bytes = result_number(p, "bytes");
		selftest_expect(t, result_number(p, "measured"), accesses_ns(&t->model, bytes, 1),
				TOLERANCE_NS, "ns for %.0f bytes", bytes);
	}
}

static void check_accesses(struct selftest *t)
{
	check_rates(t, accesses_ns, 1, 0);
}

const struct selftest_case selftest_rates[] = {
	{"bandwidth", "one with overheads", with_costs, check_bandwidth, NULL, NULL},
	{"bandwidth", "one with overheads, eager", eager, check_bandwidth, NULL, NULL},
	{"bandwidth", "one whose link is one message's", one_link, check_bandwidth, NULL, NULL},
	{"bandwidth", "one with overheads, small messages", small, check_bandwidth, NULL,
	 "1.82 million messages a second of 1 B, 0.12 GB/s with 64 B"},
	{"bi_bandwidth", "one with overheads", with_costs, check_bi_bandwidth, NULL, NULL},
	{"bi_bandwidth", "one with overheads, eager", eager, check_bi_bandwidth, NULL, NULL},
	{"bi_bandwidth", "one with overheads, small messages", small, check_bi_bandwidth, NULL,
	 NULL},
	{"message_rate", "one with two pairs", with_costs, check_message_rate, NULL, NULL},
	{"message_rate", "one with a pair and two ranks more", one_pair, check_message_rate, NULL,
	 NULL},
	{"message_rate", "one with a rank too many", odd_ranks, check_message_rate, NULL, NULL},
	{"message_rate", "one with overheads, small messages", small, check_message_rate, NULL,
	 NULL},
	{"put_latency", "one with overheads", with_costs, check_access, NULL, NULL},
	{"get_latency", "one with overheads", with_costs, check_access, NULL, NULL},
	{"put_latency", "one with overheads, small messages", small, check_access, NULL, NULL},
	{"get_latency", "one with overheads, small messages", small, check_access, NULL, NULL},
	{"put_bandwidth", "one with overheads", with_costs, check_accesses, NULL, NULL},
	{"get_bandwidth", "one with overheads", with_costs, check_accesses, NULL, NULL},
	{"put_bandwidth", "one whose link is one put's", one_link, check_accesses, NULL, NULL},
	{"get_bandwidth", "one whose link is one get's", one_link, check_accesses, NULL, NULL},
	{"put_bandwidth", "one with overheads, small messages", small, check_accesses, NULL, NULL},
	{"get_bandwidth", "one with overheads, small messages", small, check_accesses, NULL, NULL},
	{.bench = NULL},
};
