/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * References and load: the times themselves, within two readings of the clock and rounding; and the delay of a
 * communication thread that has to share its core, which must begin with the thread that takes the last free core.
 */
#include "selftest/case.h"

#include <stddef.h>

#define CLOCK_TOLERANCE_NS 4
#define CORES 3
#define DELAY_NS 5e6
#define LATE_NS 5e5

static void with_costs(struct model_settings *m, struct bench_options *opt)
{
	(void)opt;
	m->send_ns = 300;
	m->recv_ns = 500;
	m->pack_byte_ns = 0.25;
}

static void with_costs_eager(struct model_settings *m, struct bench_options *opt)
{
	with_costs(m, opt);
	m->eager_bytes = UINT64_MAX;
}

static double transfer_ns(const struct model_settings *m, double bytes)
{
	return m->send_ns + m->latency_ns + bytes * m->byte_ns + m->recv_ns;
}

static double noncontig_ns(const struct model_settings *m, double bytes)
{
	return transfer_ns(m, bytes) + bytes * m->pack_byte_ns;
}

/* The receiver is ready: nothing but the message's own way. */
static double send_ns(const struct model_settings *m, double bytes)
{
	return m->eager_bytes ? m->send_ns : transfer_ns(m, bytes) - m->recv_ns;
}

static void check_times(struct selftest *t,
			double (*expected_ns)(const struct model_settings *m, double bytes))
{
	const struct result_point *p;
	double bytes;
	size_t i;

	for (i = 0; i < result_point_cnt(t->result); i++) {
		p = result_point_at(t->result, i);
		bytes = result_number(p, "bytes");
		selftest_expect(t, result_number(p, "measured"), expected_ns(&t->model, bytes),
				CLOCK_TOLERANCE_NS, "ns for %.0f bytes", bytes);
	}
}

static void check_latency(struct selftest *t)
{
	check_times(t, transfer_ns);
}

static void check_noncontig(struct selftest *t)
{
	check_times(t, noncontig_ns);
}

static void check_send_time(struct selftest *t)
{
	check_times(t, send_ns);
}

/* ---- protocol ---- */

static void odd_limit(struct model_settings *m, struct bench_options *opt)
{
	with_costs(m, opt);
	opt->bytes_min = 1;
	opt->bytes_max = 1 << 20;
	m->eager_bytes = 12345;
}

static void never_eager(struct model_settings *m, struct bench_options *opt)
{
	odd_limit(m, opt);
	m->eager_bytes = 0;
}

static void all_eager(struct model_settings *m, struct bench_options *opt)
{
	odd_limit(m, opt);
	m->eager_bytes = UINT64_MAX;
}

/*
 * An eager send costs the sender its overhead; else it is done when the late receiver has it all. The delay begins up
 * to a synchronisation's last message earlier.
 */
static void check_eager_limit(struct selftest *t)
{
	const struct model_settings *m = &t->model;
	const struct result_point *p;
	double bytes;
	size_t i;

	for (i = 0; i < result_point_cnt(t->result); i++) {
		p = result_point_at(t->result, i);
		bytes = result_number(p, "bytes");
		if (bytes <= (double)m->eager_bytes)
			selftest_expect(t, result_number(p, "send"), m->send_ns, CLOCK_TOLERANCE_NS,
					"ns of an eager send of %.0f bytes", bytes);
		else
			selftest_expect(t, result_number(p, "send") / result_number(p, "delay_ns"),
					1, 0.1, "times the delay for a send of %.0f bytes", bytes);
	}
	selftest_expect(t, (double)(i > 0), 1, 0, "having points");
}

/* ---- load ---- */

static void crowded(struct model_settings *m, struct bench_options *opt)
{
	(void)opt;
	m->cores = CORES;
	m->load_delay_ns = DELAY_NS;
}

/* What is late begins at half a millisecond. */
static void barely_late(struct model_settings *m, struct bench_options *opt)
{
	crowded(m, opt);
	m->load_delay_ns = LATE_NS + 1000;
}

static void not_late(struct model_settings *m, struct bench_options *opt)
{
	crowded(m, opt);
	m->load_delay_ns = LATE_NS - 1000;
}

static void roomy(struct model_settings *m, struct bench_options *opt)
{
	crowded(m, opt);
	m->cores = (int)opt->threads_max + 1;
}

/* Both sides are late into their calls at the same time: one delay each way. */
static void check_load(struct selftest *t)
{
	const struct result_point *p;
	double bytes, threads, delay_ns;
	size_t i;

	for (i = 0; i < result_point_cnt(t->result); i++) {
		p = result_point_at(t->result, i);
		bytes = result_number(p, "bytes");
		threads = result_number(p, "threads");
		delay_ns = threads >= t->model.cores ? t->model.load_delay_ns : 0;
		selftest_expect(t, result_number(p, "measured") - result_number(p, "comm"),
				delay_ns, CLOCK_TOLERANCE_NS,
				"ns of delay at %.0f bytes, %.0f threads", bytes, threads);
		selftest_expect(t, result_number(p, "late_pct"), delay_ns >= LATE_NS ? 100 : 0, 0,
				"percent late at %.0f bytes, %.0f threads", bytes, threads);
		selftest_expect(t, result_number(p, "ratio"),
				delay_ns / transfer_ns(&t->model, bytes), 0.02,
				"the ratio at %.0f bytes, %.0f threads", bytes, threads);
	}
	selftest_expect(t, (double)(i > 0), 1, 0, "having points");
}

const struct selftest_case selftest_references[] = {
	{"latency", "one with overheads", with_costs, check_latency, NULL, NULL},
	{"latency", "one with overheads, eager", with_costs_eager, check_latency, NULL, NULL},
	{"pingpong_noncontig", "one whose CPU packs", with_costs, check_noncontig, NULL, NULL},
	{"send_time", "one with overheads", with_costs, check_send_time, NULL, NULL},
	{"send_time", "one with overheads, eager", with_costs_eager, check_send_time, NULL, NULL},
	{"eager_limit", "one with an odd limit", odd_limit, check_eager_limit, NULL,
	 "eager up to 12345 bytes, rendezvous from 12346 on"},
	{"eager_limit", "one without eager messages", never_eager, check_eager_limit, NULL,
	 "rendezvous from 1 byte on"},
	{"eager_limit", "one without a rendezvous", all_eager, check_eager_limit, NULL,
	 "eager up to 1048576 bytes at least"},
	{"nload", "one with free cores", roomy, check_load, NULL,
	 "no message late by 0.5 ms or more with up to 4 threads; one takes up to 1.00 times T_comm on average (0 threads)"},
	{"nload", "one whose threads share the last core", crowded, check_load, NULL,
	 "messages late by 0.5 ms or more with 3 and 4 threads, worst with 3: 100 % of them, by 5.0 ms in the median, and one takes 77.2 times T_comm on average"},
	{"nload", "one whose threads delay by 0.5 ms and a little", barely_late, check_load, NULL,
	 NULL},
	{"nload", "one whose threads delay by a little less", not_late, check_load, NULL, NULL},
	{.bench = NULL},
};
