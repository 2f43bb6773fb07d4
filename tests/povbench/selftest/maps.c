/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Maps: at every point the ratio of equation (1) (Denis & Trahay 2016, III.B) must be what the machine's rule gives, within
 * 0.02. That is what a latency and the reading of clocks may come to beside the shortest message and computation here;
 * points shorter than that are not in the sweep. And the sentence must say what the machine was set to.
 */
#include "selftest/case.h"

#include <math.h>

#define TOLERANCE 0.02
#define THRESHOLD_BYTES (64 * 1024)
#define SLOW 3.0

#define PERFECT "overlap at all sizes"
#define NONE "no overlap at all sizes"

/* ---- machines ---- */

static void half(struct model_settings *m, struct bench_options *opt)
{
	(void)opt;
	m->overlap_send = 0.5;
	m->overlap_recv = 0.5;
}

static void eager(struct model_settings *m, struct bench_options *opt)
{
	machine_none(m, opt);
	m->eager_bytes = THRESHOLD_BYTES;
}

static void receive_only(struct model_settings *m, struct bench_options *opt)
{
	(void)opt;
	m->overlap_send = 0;
}

static void send_only(struct model_settings *m, struct bench_options *opt)
{
	(void)opt;
	m->overlap_recv = 0;
}

static void slow(struct model_settings *m, struct bench_options *opt)
{
	(void)opt;
	m->slow = SLOW;
}

/* Data move by themselves, but only after an answer that a CPU has to read. */
static void handshake(struct model_settings *m, struct bench_options *opt)
{
	(void)opt;
	m->handshake = MODEL_HANDSHAKE_SENDER;
}

/* Messages that are long beside the time between two Tests. */
static void handshake_large(struct model_settings *m, struct bench_options *opt)
{
	handshake(m, opt);
	m->byte_ns *= 16;
	opt->bytes_min = 256 * 1024;
	opt->compute_min_ns = 3200000;
	opt->compute_max_ns = 3200000;
}

/* An empty message takes long enough to be worth hiding. */
static void far(struct model_settings *m, struct bench_options *opt)
{
	(void)opt;
	m->latency_ns = 100000;
	m->eager_bytes = sizeof(uint64_t); /* the synchronisation's */
}

static void far_none(struct model_settings *m, struct bench_options *opt)
{
	machine_none(m, opt);
	far(m, opt);
}

/* Not even what could set out by itself does before Wait. */
static void far_in_wait(struct model_settings *m, struct bench_options *opt)
{
	far_none(m, opt);
	m->coll_in_wait = true;
}

/* Two nodes, whose clocks are ms apart, and drift by less than what is late before they are measured again. */
static void far_nodes(struct model_settings *m, struct bench_options *opt)
{
	far_none(m, opt);
	m->nodes = 2;
	m->clock_skew_ns = 3e6;
	m->clock_drift = 5e-6;
	opt->samples = opt->samples_max = 40;
}

static void in_wait(struct model_settings *m, struct bench_options *opt)
{
	(void)opt;
	m->coll_in_wait = true;
}

/* Contiguous data overlap, other data do not. */
static void contiguous_only(struct model_settings *m, struct bench_options *opt)
{
	(void)opt;
	m->overlap_strided = 0;
}

/* The network would overlap, but the sender's CPU makes the data contiguous first, at the speed of the network. */
static void packing(struct model_settings *m, struct bench_options *opt)
{
	(void)opt;
	m->pack_byte_ns = m->byte_ns;
}

/* Everything is eager; a non-blocking send takes twice the CPU time of a blocking one. */
static void costly_isend(struct model_settings *m, struct bench_options *opt)
{
	(void)opt;
	m->eager_bytes = UINT64_MAX;
	m->send_ns = 20000;
	m->isend_ns = 20000;
}

/* A quarter of the CPU goes to somebody else. */
static void stealing(struct model_settings *m, struct bench_options *opt)
{
	machine_none(m, opt);
	m->steal = 1.0 / 3;
}

static void stealing_deadline(struct model_settings *m, struct bench_options *opt)
{
	stealing(m, opt);
	opt->compute.kind = COMPUTE_DEADLINE;
}

/* A blocking send costs more than a non-blocking one: that shows as less than nothing. */
static void cheap_isend(struct model_settings *m, struct bench_options *opt)
{
	costly_isend(m, opt);
	m->isend_ns = -m->send_ns;
}

/* So that an ACK's latency is much beside the shortest message and computation. */
static void distant(struct model_settings *m, struct bench_options *opt)
{
	machine_none(m, opt);
	m->latency_ns = 5000;
	m->eager_bytes = sizeof(uint64_t); /* the synchronisation's */
}

static void slow_test(struct model_settings *m, struct bench_options *opt)
{
	(void)opt;
	m->test_ns = 2000;
}

static void shared_link(struct model_settings *m, struct bench_options *opt)
{
	(void)opt;
	m->shared_link = true;
}

static void shared_link_none(struct model_settings *m, struct bench_options *opt)
{
	machine_none(m, opt);
	m->shared_link = true;
}

/* Where reading the clock and the ACK's latency are as long as what is asked about. */
static void small(struct model_settings *m, struct bench_options *opt)
{
	m->clock_ns = 25;
	m->latency_ns = 300;
	m->eager_bytes = UINT64_MAX;
	m->byte_ns = 0.25;
	opt->bytes_min = 64;
	opt->bytes_max = 4096;
	opt->compute_min_ns = 1000;
	opt->compute_max_ns = 64000;
}

static void small_costly(struct model_settings *m, struct bench_options *opt)
{
	small(m, opt);
	m->send_ns = 100;
}

static void small_none(struct model_settings *m, struct bench_options *opt)
{
	small(m, opt);
	machine_none(m, opt);
	m->eager_bytes = sizeof(uint64_t); /* the synchronisation's */
}

/* ---- ratios ---- */

static double zero(const struct model_settings *m, double bytes, double comm, double comp)
{
	(void)m;
	(void)bytes;
	(void)comm;
	(void)comp;
	return 0;
}

static double one(const struct model_settings *m, double bytes, double comm, double comp)
{
	return 1 + zero(m, bytes, comm, comp);
}

static double one_half(const struct model_settings *m, double bytes, double comm, double comp)
{
	return 0.5 + zero(m, bytes, comm, comp);
}

static double by_threshold(const struct model_settings *m, double bytes, double comm, double comp)
{
	(void)comm;
	(void)comp;
	return bytes <= (double)m->eager_bytes ? 0 : 1;
}

static double ratio_of(double measured, double comm, double comp)
{
	return (measured - fmax(comm, comp)) / fmin(comm, comp);
}

static double slowed(const struct model_settings *m, double bytes, double comm, double comp)
{
	(void)bytes;
	return ratio_of(fmax(comp, m->slow * comm), comm, comp);
}

/* The call takes its time before the computation begins; the rest is hidden. */
static double called(const struct model_settings *m, double bytes, double comm, double comp)
{
	(void)bytes;
	return ratio_of(fmax(comm, m->send_ns + comp), comm, comp);
}

/* The announcement is on its way while rank 0 computes; the ACK's latency is taken off. */
static double announced(const struct model_settings *m, double bytes, double comm, double comp)
{
	(void)bytes;
	return ratio_of(comp + comm - fmin(comp, m->latency_ns), comm, comp);
}

static double packed(const struct model_settings *m, double bytes, double comm, double comp)
{
	double packing_ns = bytes * m->pack_byte_ns, moving_ns = bytes * m->byte_ns;

	(void)comm; /* it must be this */
	return ratio_of(packing_ns + fmax(comp, moving_ns), packing_ns + moving_ns, comp);
}

/* The call's time is all that there is, and none of it is hidden. */
static double twice(const struct model_settings *m, double bytes, double comm, double comp)
{
	(void)bytes;
	return ratio_of(comp + m->send_ns + m->isend_ns, comm, comp);
}

/* ---- checks ---- */

static double pct(double fraction)
{
	return 100 * fmin(1, fmax(0, fraction));
}

/* The other suites' figures are what their formulas make of the point's times. */
static void check_peers(struct selftest *t, const struct result_point *p)
{
	double comm = result_number(p, "comm"), comp = result_number(p, "comp");
	double measured = result_number(p, "measured"), blocking = result_number(p, "blocking");
	double saved = comm + comp - measured;

	selftest_expect(t, result_number(p, "osu_pct"), 100 * fmax(0, saved / comm), 1e-6, "osu");
	selftest_expect(t, result_number(p, "imb_pct"), pct(saved / fmax(comm, comp)), 1e-6, "imb");
	selftest_expect(t, result_number(p, "imb_io_pct"), pct(saved / fmin(comm, comp)), 1e-6,
			"imb_io");
	selftest_expect(t, result_number(p, "mpiperf"),
			1 - (measured - comp) / (isnan(blocking) ? comm : blocking), 1e-9,
			"mpiperf");
	selftest_expect(t, result_number(p, "sandia"), 1 - result_number(p, "in_calls") / comm,
			1e-9, "sandia");
}

static void check_map(struct selftest *t)
{
	const struct result_point *p;
	double bytes, comm, comp;
	size_t i;

	for (i = 0; i < result_point_cnt(t->result); i++) {
		p = result_point_at(t->result, i);
		bytes = result_number(p, "bytes");
		comm = result_number(p, "comm");
		comp = result_number(p, "comp");
		selftest_expect(t, result_number(p, "ratio"),
				t->c->ratio(&t->model, bytes, comm, comp), TOLERANCE,
				"the ratio at %.0f bytes, %.0f ns of computation", bytes, comp);
		check_peers(t, p);
	}
}

/* The last part is ready when all is computed, so that it is never hidden. */
static void check_but_the_last(struct selftest *t)
{
	const struct result_point *p;
	size_t i;

	for (i = 0; i < result_point_cnt(t->result); i++) {
		p = result_point_at(t->result, i);
		selftest_expect(t, result_number(p, "ratio"), 1 / result_number(p, "parts"),
				TOLERANCE, "the ratio at %.0f bytes, %.0f ns of computation",
				result_number(p, "bytes"), result_number(p, "comp"));
	}
}

/*
 * Of four ranks' two rounds, the first one's messages set out in the call and arrive while all compute; nobody looks at them
 * and sends the second round's before Wait: one latency of two is hidden.
 */
static void check_barrier_none(struct selftest *t)
{
	const struct result_point *p;
	size_t i;

	for (i = 0; i < result_point_cnt(t->result); i++) {
		p = result_point_at(t->result, i);
		selftest_expect(t, result_number(p, "late_thrown") + result_number(p, "late_kept"),
				0, 0, "samples that began late");
		if (result_number(p, "comp") < result_number(p, "comm"))
			continue;
		selftest_expect(t, result_number(p, "ratio"), 1.0 / 2, TOLERANCE,
				"the ratio at %.0f ns", result_number(p, "comp"));
	}
}

/* T_comp is what the machine makes of the amount that was asked for. */
static void check_stolen(struct selftest *t)
{
	bool work = t->opt.compute.kind == COMPUTE_WORK;
	double longer = work ? 1 + t->model.steal : 1, ns;
	const struct result_point *p;
	size_t i;

	check_map(t);
	for (i = 0; i < result_point_cnt(t->result); i++) {
		p = result_point_at(t->result, i);
		ns = result_number(p, "compute_ns");
		selftest_expect(t, result_number(p, "comp") / ns, longer, TOLERANCE / 10,
				"T_comp over the %.0f ns asked for", ns);
	}
}

/* What the Tests take is in T_measured, and in T_comp it is not: OSU's must not take it off once more. */
static void check_tests(struct selftest *t)
{
	const struct result_point *p;
	size_t i;

	for (i = 0; i < result_point_cnt(t->result); i++) {
		p = result_point_at(t->result, i);
		selftest_expect(t, result_number(p, "test") > 0, 1, 0, "that there were Tests");
		check_peers(t, p);
	}
}

#define MAP(bench, name, machine, ratio, sentence)               \
	{                                                        \
		bench, name, machine, check_map, ratio, sentence \
	}
#define EAGER "overlap up to 64 KiB (eager), no overlap above"
/* Whatever overlaps on one side or another must find the ends of the scale, and the middle. */
#define BOTH_ENDS(bench)                                                    \
	MAP(bench, "a perfect machine", machine_perfect, zero, PERFECT),    \
		MAP(bench, "one without overlap", machine_none, one, NONE), \
		MAP(bench, "one that overlaps half", half, one_half,        \
		    "partial overlap at all sizes"),                        \
		MAP(bench, "one that overlaps eager messages", eager, by_threshold, EAGER)

const struct selftest_case selftest_maps[] = {
	BOTH_ENDS("sender"),
	MAP("sender", "one that overlaps on the receiver's side", receive_only, one, NONE),
	MAP("sender", "one that overlaps on the sender's side", send_only, zero, PERFECT),
	MAP("sender", "one that is far", distant, announced, NULL),
	MAP("sender", "one with slow progress", slow, slowed, NULL),
	MAP("sender", "one with small messages", small, zero, PERFECT),
	MAP("sender", "one with small messages that cost", small_costly, called, NULL),
	MAP("sender", "one with small messages and no overlap", small_none, announced, NULL),
	MAP("sender", "one whose CPU does the handshake", handshake, one, NONE),
	{"sender", "one whose CPU is stolen", stealing, check_stolen, one, NONE},
	{"sender", "one whose CPU is stolen, by deadline", stealing_deadline, check_stolen, one,
	 NONE},
	BOTH_ENDS("receiver"),
	MAP("receiver", "one that overlaps on the receiver's side", receive_only, zero, PERFECT),
	MAP("receiver", "one that overlaps on the sender's side", send_only, one, NONE),
	MAP("receiver", "one whose sender does the handshake", handshake, zero, PERFECT),
	MAP("receiver", "one with small messages", small, zero, PERFECT),
	MAP("both_sides", "one with small messages", small, zero, PERFECT),
	MAP("window_same", "one with small messages", small, zero, PERFECT),
	BOTH_ENDS("both_sides"),
	MAP("both_sides", "one that overlaps on the receiver's side", receive_only, one, NONE),
	MAP("both_sides", "one with slow progress", slow, slowed, NULL),
	BOTH_ENDS("noncontig"),
	MAP("noncontig", "one that overlaps contiguous data only", contiguous_only, one, NONE),
	MAP("noncontig", "one whose CPU packs", packing, packed, NULL),
	MAP("sender", "one whose CPU packs strided data", packing, zero, PERFECT),
	MAP("cpu_overhead", "a perfect machine", machine_perfect, zero, PERFECT),
	MAP("cpu_overhead", "one without overlap", machine_none, one, NONE),
	MAP("cpu_overhead", "one whose Isend takes twice a Send's time", costly_isend, twice, NULL),
	MAP("cpu_overhead", "one whose Isend takes nothing", cheap_isend, twice, NULL),
	BOTH_ENDS("persistent"),
	BOTH_ENDS("window_same"),
	BOTH_ENDS("window_peers"),
	BOTH_ENDS("ring"),
	BOTH_ENDS("multithreaded"),
	{"partitioned", "a perfect machine", shared_link, check_but_the_last, NULL, PERFECT},
	MAP("partitioned", "one without overlap", shared_link_none, one, NONE),
	MAP("progress_thread", "a perfect machine", machine_perfect, zero, PERFECT),
	MAP("progress_thread", "one without overlap", machine_none, zero, PERFECT),
	MAP("progress_thread", "one whose CPU does the handshake", handshake, zero, PERFECT),
	MAP("test_sprinkled", "a perfect machine", machine_perfect, zero, PERFECT),
	MAP("test_sprinkled", "one without overlap", machine_none, one, NONE),
	MAP("test_sprinkled", "one whose CPU does the handshake", handshake_large, zero, PERFECT),
	{"test_sprinkled", "one whose Tests take long", slow_test, check_tests, NULL, NULL},
	MAP("ibcast", "a perfect machine", machine_perfect, zero, PERFECT),
	MAP("ibcast", "one without overlap", machine_none, one, NONE),
	MAP("iallreduce", "a perfect machine", machine_perfect, zero, PERFECT),
	MAP("iallreduce", "one without overlap", machine_none, one, NONE),
	MAP("ialltoall", "a perfect machine", machine_perfect, zero, PERFECT),
	MAP("ialltoall", "one without overlap", machine_none, one, NONE),
	MAP("ialltoallv", "a perfect machine", machine_perfect, zero, PERFECT),
	MAP("ialltoallv", "one without overlap", machine_none, one, NONE),
	MAP("iallgather", "a perfect machine", machine_perfect, zero, PERFECT),
	MAP("iallgather", "one without overlap", machine_none, one, NONE),
	MAP("igather", "a perfect machine", machine_perfect, zero, PERFECT),
	MAP("igather", "one without overlap", machine_none, one, NONE),
	MAP("iscatter", "a perfect machine", machine_perfect, zero, PERFECT),
	MAP("iscatter", "one without overlap", machine_none, one, NONE),
	MAP("ireduce", "a perfect machine", machine_perfect, zero, PERFECT),
	MAP("ireduce", "one without overlap", machine_none, one, NONE),
	MAP("ibarrier", "a perfect machine", far, zero, PERFECT),
	{"ibarrier", "one without overlap", far_none, check_barrier_none, NULL, NULL},
	{"ibarrier", "two nodes without overlap", far_nodes, check_barrier_none, NULL, NULL},
	MAP("ibarrier", "one that begins it in Wait", far_in_wait, one, NONE),
	MAP("ialltoall", "one that begins it in Wait", in_wait, one, NONE),
	{.bench = NULL},
};
