/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Ranks that share a core, as in a virtualized MPI: a waiting rank gives its core away at once, a computing one keeps it
 * (or gives it away after a time slice). The stencil runs on two cores, where its neighbours are r ± 1 of a ring.
 */
#include "selftest/case.h"

#include <math.h>

#define TOLERANCE 0.02
#define ROUNDS 10.0 /* iterations that a sample of the stencil is of */
#define COMPUTE_NS 100000
#define SLICE_NS 10000
#define RANKS 8 /* four for each of two cores */

/* ---- stencil ---- */

static void two_cores(struct model_settings *m, struct bench_options *opt)
{
	m->ranks = RANKS;
	opt->bytes_min = 16384;
	opt->bytes_max = 32768;
	opt->step = 2;
	opt->compute_min_ns = COMPUTE_NS;
	opt->compute_max_ns = COMPUTE_NS;
	/* Ranks that took no part before look every few ms whether they are to. */
	opt->warmup = 1;
}

static void two_cores_handshake(struct model_settings *m, struct bench_options *opt)
{
	two_cores(m, opt);
	m->handshake = MODEL_HANDSHAKE_SENDER;
}

/* A core of each is used, and nobody's neighbour is on the same node. */
static void two_nodes(struct model_settings *m, struct bench_options *opt)
{
	two_cores(m, opt);
	m->nodes = 2;
	m->clock_skew_ns = 7e6;
	m->clock_drift = 1e-6;
}

static double overlap_at(struct selftest *t, double bytes, int ratio)
{
	const struct result_point *p;
	size_t i;

	for (i = 0; i < result_point_cnt(t->result); i++) {
		p = result_point_at(t->result, i);
		if (result_number(p, "bytes") == bytes &&
		    result_number(p, "ranks_per_core") == ratio)
			return result_number(p, "overlap");
	}
	return NAN;
}

/*
 * V = 1: nobody else is there to compute. V = 2: each rank has a neighbour among those that compute last on their core,
 * and cannot begin before that one's data are here, when the other rank of its core cannot either: nothing is
 * hidden. V ≥ 3 and a message that takes no longer than a rank's computation: on each core somebody always has all that
 * he needs, and only what the last iteration sends is not hidden, which is one of ROUNDS.
 */
static void check_stencil(struct selftest *t)
{
	const struct result_point *p;
	double ratio, comm, hidden;
	size_t i;

	for (i = 0; i < result_point_cnt(t->result); i++) {
		p = result_point_at(t->result, i);
		ratio = result_number(p, "ranks_per_core");
		comm = result_number(p, "comm");
		hidden = ratio >= 3 ? 1 - 1 / ROUNDS : 0;
		selftest_expect(t, result_number(p, "comp"), COMPUTE_NS, COMPUTE_NS / 1000.0,
				"T_comp, V = %.0f", ratio);
		selftest_expect(t, comm,
				result_number(p, "bytes") * t->model.byte_ns + t->model.latency_ns,
				50, "T_comm, V = %.0f", ratio);
		selftest_expect(t, result_number(p, "overlap"), hidden, TOLERANCE,
				"the overlap, V = %.0f, %.0f bytes", ratio,
				result_number(p, "bytes"));
	}
}

/*
 * A rendezvous has gaps that only other ranks' computations fill (Nigay et al. 2020, section 4.2): none with V = 1, and more
 * of them the more ranks there are, but never more than where there is no rendezvous.
 */
static void check_stencil_handshake(struct selftest *t)
{
	double bytes, grows;

	for (bytes = 16384; bytes <= 32768; bytes *= 2) {
		selftest_expect(t, overlap_at(t, bytes, 1), 0, TOLERANCE,
				"the overlap, V = 1, %.0f bytes", bytes);
		grows = overlap_at(t, bytes, 4) - overlap_at(t, bytes, 2);
		selftest_expect(t, grows > 0.2, 1, 0, "V = 4 over V = 2 being more than %.2f",
				grows);
		selftest_expect(t, overlap_at(t, bytes, 4) <= 1 - 1 / ROUNDS, 1, 0,
				"V = 4 being at most 0.9, %.0f bytes", bytes);
	}
}

/* ---- timers ---- */

static void one_core(struct model_settings *m, struct bench_options *opt)
{
	(void)opt;
	m->ranks = 4;
}

static void one_core_slices(struct model_settings *m, struct bench_options *opt)
{
	one_core(m, opt);
	m->slice_ns = SLICE_NS;
}

static void one_core_stolen(struct model_settings *m, struct bench_options *opt)
{
	one_core(m, opt);
	m->steal = 0.25;
}

/* What comes out alike however the core is dealt out. */
static void check_wtime_point(struct selftest *t, const struct result_point *p)
{
	double ranks = result_number(p, "ranks_per_core"), work = result_number(p, "work_ns");
	double longer = 1 + t->model.steal;

	selftest_expect(t, result_number(p, "cpu") / work, 1, TOLERANCE,
			"CPU time over work, V = %.0f", ranks);
	selftest_expect(t, result_number(p, "cpu_barrier") / work, 1, TOLERANCE,
			"CPU time with barrier over work, V = %.0f", ranks);
	selftest_expect(t, result_number(p, "rtime_over_cpu"), 1, TOLERANCE,
			"MPIX_Rtime over CPU time, V = %.0f", ranks);
	selftest_expect(t, result_number(p, "ptime") / work, ranks, ranks * TOLERANCE,
			"MPIX_Ptime over work, V = %.0f", ranks);
	selftest_expect(t, result_number(p, "elapsed") / work, ranks * longer, ranks * TOLERANCE,
			"the time for all over work, V = %.0f", ranks);
	selftest_expect(t, result_number(p, "cpu_counted"), 1 / longer, TOLERANCE,
			"counted CPU time, V = %.0f", ranks);
}

/*
 * Ranks run one after the other, each from its own reading of the clock on, and the first to run waits in the
 * barrier for all others: its MPI_Wtime is V times its work, the next one's V − 1 times … (the two of table 1).
 */
static void check_wtime_cooperative(struct selftest *t)
{
	double ranks, times, sum[5] = {0};
	const struct result_point *p;
	size_t i;

	for (i = 0; i < result_point_cnt(t->result); i++) {
		p = result_point_at(t->result, i);
		check_wtime_point(t, p);
		ranks = result_number(p, "ranks_per_core");
		times = result_number(p, "wtime_barrier") / result_number(p, "work_ns") /
			(1 + t->model.steal);
		selftest_expect(t, result_number(p, "wtime_over_cpu"), 1 + t->model.steal,
				TOLERANCE, "MPI_Wtime over CPU time, V = %.0f", ranks);
		selftest_expect(t, times, round(times), TOLERANCE,
				"MPI_Wtime with barrier over work, V = %.0f", ranks);
		sum[(int)ranks] += times;
	}
	for (ranks = 1; ranks <= 4; ranks++)
		selftest_expect(t, sum[(int)ranks], ranks * (ranks + 1) / 2, ranks * TOLERANCE,
				"the sum of all ranks' MPI_Wtime over work, V = %.0f", ranks);
}

/* In slices everybody's work is over at the end, and MPI_Wtime counts all of it for each. */
static void check_wtime_slices(struct selftest *t)
{
	const struct result_point *p;
	double ranks;
	size_t i;

	for (i = 0; i < result_point_cnt(t->result); i++) {
		p = result_point_at(t->result, i);
		ranks = result_number(p, "ranks_per_core");
		check_wtime_point(t, p);
		selftest_expect(t, result_number(p, "wtime_over_cpu"), ranks, TOLERANCE,
				"MPI_Wtime over CPU time, V = %.0f", ranks);
		selftest_expect(t, result_number(p, "wtime_counted"), ranks, TOLERANCE,
				"time counted by MPI_Wtime, V = %.0f", ranks);
	}
}

/* A rank alone, so that only the clock can be what makes the difference. */
static void other_pace(struct model_settings *m, struct bench_options *opt)
{
	(void)opt;
	m->ranks = 1;
	m->wtime_pace = 1.25;
}

static void check_wtime_pace(struct selftest *t)
{
	const struct result_point *p;
	size_t i;

	for (i = 0; i < result_point_cnt(t->result); i++) {
		p = result_point_at(t->result, i);
		selftest_expect(t, result_number(p, "wtime") / result_number(p, "clock"),
				t->model.wtime_pace, TOLERANCE, "MPI_Wtime over the clock");
		selftest_expect(t, result_number(p, "wtime_barrier") / result_number(p, "clock"),
				t->model.wtime_pace, TOLERANCE,
				"MPI_Wtime with barrier over the clock");
		selftest_expect(t, result_number(p, "wtime_over_cpu"), t->model.wtime_pace,
				TOLERANCE, "MPI_Wtime over CPU time");
	}
}

/* By CPU time the speed is that of a rank alone, an operation a ns; by MPI_Wtime a V-th. */
static void check_cg(struct selftest *t)
{
	const struct result_point *p;
	double ranks;
	size_t i;

	for (i = 0; i < result_point_cnt(t->result); i++) {
		p = result_point_at(t->result, i);
		ranks = result_number(p, "ranks_per_core");
		selftest_expect(t, result_number(p, "mflops_cpu") / 1000, 1, TOLERANCE,
				"the speed by CPU time, V = %.0f", ranks);
		selftest_expect(t, result_number(p, "mflops_rtime") / 1000, 1, TOLERANCE,
				"the speed by MPIX_Rtime, V = %.0f", ranks);
		selftest_expect(t, result_number(p, "mflops_wtime") * ranks / 1000, 1, TOLERANCE,
				"V times the speed by MPI_Wtime, V = %.0f", ranks);
	}
}

/* Reading a clock takes no virtual time, whose ns may be rounded; all five are read. */
static void check_clock_read(struct selftest *t)
{
	size_t i, cnt = result_point_cnt(t->result);

	selftest_expect(t, (double)cnt, 5, 0, "clocks");
	for (i = 0; i < cnt; i++)
		selftest_expect(t, result_number(result_point_at(t->result, i), "reading.max"), 1,
				1, "the longest reading of clock %.0f", (double)i);
}

const struct selftest_case selftest_stencils[] = {
	{"stencil", "two nodes", two_nodes, check_stencil, NULL, NULL},
	{"stencil", "cores whose waiting ranks give way", two_cores, check_stencil, NULL,
	 "V = 1 overlaps 0 %, V = 2 overlaps 0 %, V = 3 overlaps 90 %, V = 4 overlaps 90 %"},
	{"stencil", "cores that do the handshakes", two_cores_handshake, check_stencil_handshake,
	 NULL, NULL},
	{"wtime", "a core that its ranks use in turn", one_core, check_wtime_cooperative, NULL,
	 "with 4 ranks on a core MPI_Wtime says 1.00 times the CPU time"},
	{"wtime", "a core that its ranks share in slices", one_core_slices, check_wtime_slices,
	 NULL, "with 4 ranks on a core MPI_Wtime says 4.00 times the CPU time"},
	{"wtime", "a core that is stolen", one_core_stolen, check_wtime_cooperative, NULL, NULL},
	{"wtime", "one whose MPI_Wtime runs fast", other_pace, check_wtime_pace, NULL,
	 "with 1 rank on a core MPI_Wtime says 1.25 times the CPU time"},
	{"cg", "a core that its ranks use in turn", one_core, check_cg, NULL, NULL},
	{"cg", "a core that its ranks share in slices", one_core_slices, check_cg, NULL, NULL},
	{"clock_read", "clocks that cost nothing", other_pace, check_clock_read, NULL,
	 "MPIX_Rtime is read in 0 ns, 99 % of the times in 0 ns"},
	{.bench = NULL},
};
