/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Sentences: the rules of classify.h at their edges. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "unit/test.h"
#include "core/classify.h"
#include "core/result_file.h"

static struct result *result_of(enum result_kind kind)
{
	struct result_about about = {.benchmark = "x", .group = "g", .kind = kind, .ranks = 2};

	return result_new(&about);
}

static void time_add(struct result_point *p, const char *name, double ns)
{
	struct samples s;

	samples_init(&s);
	samples_add(&s, ns);
	result_time(p, name, &s);
	samples_release(&s);
}

static struct result_point *map_add(struct result *r, uint64_t bytes, double comm, double comp,
				    double ratio)
{
	struct result_point *p = result_point_add(r);

	result_param(p, "bytes", bytes);
	time_add(p, "comm", comm);
	time_add(p, "comp", comp);
	result_value(p, "ratio", ratio);
	return p;
}

static void map_add_wait(struct result *r, uint64_t bytes, double comm, double comp, double ratio,
			 double wait)
{
	struct result_point *p = result_point_add(r);

	result_param(p, "bytes", bytes);
	time_add(p, "comm", comm);
	time_add(p, "comp", comp);
	time_add(p, "send_wait", wait);
	result_value(p, "ratio", ratio);
}

/* A map with one point for each size, where the two times are alike. */
static struct result *map_of(const double *ratio, size_t cnt, uint64_t first, uint64_t factor)
{
	struct result *r = result_of(RESULT_MAP);
	uint64_t bytes = first;
	size_t i;

	for (i = 0; i < cnt; i++, bytes *= factor)
		map_add(r, bytes, 1000, 1000, ratio[i]);
	return r;
}

static void assert_says(const struct result *r, const char *expected)
{
	char *text = classify_sentence(r);

	assert_non_null(text);
	assert_string_equal(text, expected);
	free(text);
}

static void assert_sentence(struct result *r, const char *expected)
{
	assert_says(r, expected);
	result_free(r);
}

#define MAP(first, factor, ...)                                                                 \
	map_of((const double[]){__VA_ARGS__}, sizeof((double[]){__VA_ARGS__}) / sizeof(double), \
	       first, factor)

TEST(runs)
{
	assert_sentence(MAP(1024, 2, 0, 0.1, 0.24), "x: overlap at all sizes");
	assert_sentence(MAP(1024, 2, 0.25, 0.74), "x: partial overlap at all sizes");
	assert_sentence(MAP(1024, 2, 0.75, 1.25), "x: no overlap at all sizes");
	assert_sentence(MAP(1024, 2, 1.26, 7), "x: worse than one after the other at all sizes");
	assert_sentence(MAP(1024, 2, 1, 1, 0.5, 0.5, 0, 0),
			"x: no overlap up to 2 KiB, partial overlap up to 8 KiB, overlap above");
}

/* Sizes from 1 KiB on, computations as long as T_comm and twice that; waits are shares of T_comm. */
static struct result *waits_of(const double *ratio, const double *wait, size_t cnt, uint64_t factor)
{
	struct result *r = result_of(RESULT_MAP);
	uint64_t bytes = 1024;
	size_t i;

	for (i = 0; i < cnt; i++, bytes *= factor) {
		/* Too short to tell: whatever is said here does not count. */
		map_add(r, bytes, 10000, 1000, NAN);
		map_add_wait(r, bytes, 10000, 9000, ratio[i], 9000);
		map_add_wait(r, bytes, 10000, 10000, ratio[i], 300 + wait[i] * 10000);
		map_add_wait(r, bytes, 10000, 20000, ratio[i], 300 + wait[i] * 10000);
	}
	return r;
}

#define R(...) ((const double[]){__VA_ARGS__})
#define WAITS(factor, ratio, wait) waits_of(ratio, wait, sizeof(wait) / sizeof(double), factor)

TEST(eager)
{
	assert_sentence(WAITS(2, R(0, 0, 0, 1, 1), R(0, 0.05, 0.1, 0.25, 1)),
			"x: overlap up to 4 KiB (eager), no overlap above");
	/* One in between is allowed, two are not. */
	assert_sentence(WAITS(2, R(0, 0, 1, 1), R(0, 0, 0.2, 1)),
			"x: overlap up to 2 KiB (eager), no overlap above");
	assert_sentence(WAITS(2, R(0, 0, 1, 1, 1), R(0, 0, 0.2, 0.2, 1)),
			"x: overlap up to 2 KiB, no overlap above");
	/* The change is not found nearly enough. */
	assert_sentence(WAITS(8, R(0, 1, 1), R(0, 1, 1)),
			"x: overlap up to 1 KiB, no overlap above");
	/* Where no run ends; and with the runs not telling at all. */
	assert_sentence(WAITS(2, R(0.5, 0.5, 1, 1), R(0, 1, 1, 1)),
			"x: partial overlap up to 2 KiB, no overlap above; eager up to 1 KiB");
	assert_sentence(WAITS(2, R(1, 1, 1), R(0, 0, 1)),
			"x: no overlap at all sizes; eager up to 2 KiB");
	/* The end of a later run. */
	assert_sentence(
		WAITS(2, R(0, 0, 0.5, 0.5, 1, 1), R(0, 0, 0, 0, 1, 1)),
		"x: overlap up to 2 KiB, partial overlap up to 8 KiB (eager), no overlap above");
	/* Nothing waits, or everything. */
	assert_sentence(WAITS(2, R(0, 0, 1, 1), R(0, 0, 0, 0)),
			"x: overlap up to 2 KiB, no overlap above");
	assert_sentence(WAITS(2, R(1, 1, 1), R(1, 1, 1)), "x: no overlap at all sizes");
	assert_sentence(WAITS(2, R(0, 0, 1, 1, 1), R(0, 0, 1, 0, 0)),
			"x: overlap up to 2 KiB, no overlap above");
}

/* Without waits of sends: two runs that say so themselves. */
TEST(eager_by_overlap)
{
	assert_sentence(MAP(1024, 2, 0, 0, 0, 1, 1),
			"x: overlap up to 4 KiB (eager), no overlap above");
	assert_sentence(MAP(1024, 4, 0, 2, 2),
			"x: overlap up to 1 KiB (eager), worse than one after the other above");
	assert_sentence(MAP(1024, 8, 0, 1, 1), "x: overlap up to 1 KiB, no overlap above");
	assert_sentence(MAP(2 << 20, 2, 0, 1, 1), "x: overlap up to 2 MiB, no overlap above");
	assert_sentence(MAP(1024, 2, 0, 0.5, 0.5), "x: overlap up to 1 KiB, partial overlap above");
	assert_sentence(MAP(1024, 2, 0, 1, 1, 0, 0),
			"x: overlap up to 1 KiB, no overlap up to 4 KiB, overlap above");
}

TEST(unjudged)
{
	struct result *r = result_of(RESULT_MAP);

	map_add(r, 64, 100, 20000, 0);
	assert_sentence(r, "x: not told at any size");
}

/* A size between others is said as it is: its interval is what protects from chance. */
TEST(odd)
{
	assert_sentence(
		MAP(1024, 2, 0, 0, 3, 0, 1, 1),
		"x: overlap up to 2 KiB, worse than one after the other up to 4 KiB, overlap up to "
		"8 KiB, no overlap above");
	assert_sentence(MAP(1024, 2, 1, 0, 0), "x: no overlap up to 1 KiB, overlap above");
}

TEST(judged)
{
	struct result *r = result_of(RESULT_MAP);

	/* Like lengths only: the others would say "no overlap". */
	map_add(r, 1024, 1000, 100, 1);
	map_add(r, 1024, 1000, 500, 0);
	map_add(r, 1024, 1000, 1000, 0.1);
	map_add(r, 1024, 1000, 2000, 0.2);
	map_add(r, 1024, 1000, 2100, 1);
	assert_int_equal(classify_size(r, 1024), CLASSIFY_OVERLAP);
	/* None is alike: the nearest. */
	map_add(r, 2048, 1000, 6000, 1);
	map_add(r, 2048, 1000, 4000, 0.5);
	assert_int_equal(classify_size(r, 2048), CLASSIFY_PARTIAL);
	/* None is near. */
	map_add(r, 4096, 1000, 9000, 1);
	map_add(r, 4096, 1000, 100, 1);
	assert_int_equal(classify_size(r, 4096), CLASSIFY_UNJUDGED);
	assert_int_equal(classify_size(r, 8192), CLASSIFY_UNJUDGED);
	assert_sentence(r, "x: overlap at 1 KiB, partial overlap at 2 KiB; not told at 4 KiB");
}

static struct result_point *interval_add(struct result *r, uint64_t bytes, double ratio, double low,
					 double high)
{
	struct result_point *p = map_add(r, bytes, 1000, 1000, ratio);

	result_value(p, "ratio_low", low);
	result_value(p, "ratio_high", high);
	return p;
}

/* A claim holds at both ends of the interval; of what else, nothing is told. */
TEST(intervals)
{
	struct result *r = result_of(RESULT_MAP);

	interval_add(r, 1024, 0.1, -0.1, 0.24);
	interval_add(r, 2048, 0.2, 0.1, 0.3);
	interval_add(r, 4096, 0.5, 0.11, 0.89);
	interval_add(r, 8192, 0.5, 0.05, 0.6);
	interval_add(r, 16384, 0.9, 0.76, 1.3);
	interval_add(r, 32768, 2, 1.26, 9);
	assert_int_equal(classify_size(r, 1024), CLASSIFY_OVERLAP);
	assert_int_equal(classify_size(r, 2048), CLASSIFY_UNJUDGED);
	assert_int_equal(classify_size(r, 4096), CLASSIFY_PARTIAL);
	assert_int_equal(classify_size(r, 8192), CLASSIFY_UNJUDGED);
	assert_int_equal(classify_size(r, 16384), CLASSIFY_NONE);
	assert_int_equal(classify_size(r, 32768), CLASSIFY_WORSE);
	assert_sentence(
		r, "x: overlap at 1 KiB, partial overlap at 4 KiB, no overlap at 16 KiB, worse "
		   "than one after the other at 32 KiB; not told at 2 KiB, 8 KiB");
}

/* Both together cannot take less than one of them alone. */
TEST(wrong)
{
	struct result *r = result_of(RESULT_MAP);
	struct result_point *p;

	interval_add(r, 1024, 0.1, 0, 0.2);
	p = interval_add(r, 1024, -1, -1.2, -0.8);
	assert_false(classify_is_wrong(p));
	result_value(p, "too_short_ns", 800);
	assert_true(classify_is_wrong(p));
	assert_int_equal(classify_size(r, 1024), CLASSIFY_OVERLAP);
	assert_says(r, "x: overlap at all sizes; 1 of 2 points are wrong: both together took less "
		       "time than one of them alone");
	result_disturbed(r, "its ranks slept");
	classify_set(r);
	assert_non_null(strstr(json_string_value(json_object_get(result_json(r), "sentence")),
			       "; disturbed: its ranks slept"));
	result_free(r);
}

static void load_add(struct result *r, uint64_t threads, double comm, double measured,
		     double late_pct, double late_ns)
{
	struct result_point *p = result_point_add(r);

	result_param(p, "bytes", 64);
	result_param(p, "threads", threads);
	time_add(p, "comm", comm);
	time_add(p, "measured", measured);
	if (late_ns > 0)
		time_add(p, "late", late_ns);
	result_value(p, "late_pct", late_pct);
	result_value(p, "ratio_mean", (measured - comm) / comm);
}

TEST(load)
{
	struct result *r = result_of(RESULT_LOAD);

	load_add(r, 0, 1000, 1000, 0, 0);
	load_add(r, 1, 1000, 1400, 9, 4e6);
	assert_sentence(r, "x: messages late by 0.5 ms or more with 1 thread: 9 % of them, by "
			   "4.0 ms in the median, and one takes 1.40 times T_comm on average");
	r = result_of(RESULT_LOAD);
	load_add(r, 0, 1000, 1000, 0, 0);
	load_add(r, 1, 1000, 3000, 0, 0);
	assert_sentence(
		r, "x: no message late by 0.5 ms or more with up to 1 thread; one takes up to 3.00 "
		   "times T_comm on average (1 thread)");
	r = result_of(RESULT_LOAD);
	load_add(r, 0, 1000, 1000, 0, 0);
	load_add(r, 1, 1000, 900000, 0.5, 899000);
	load_add(r, 2, 1000, 2000, 2, 500000);
	load_add(r, 3, 1000, 2000, 10, 4000000);
	load_add(r, 4, 1000, 8001000, 90, 8000000);
	assert_sentence(
		r,
		"x: messages late by 0.5 ms or more with 2 to 4 threads, worst with 4: 90 % of them, by "
		"8.0 ms in the median, and one takes 8001 times T_comm on average");
	/* The slowest on average is not late, and has no time of being so. */
	r = result_of(RESULT_LOAD);
	load_add(r, 0, 1000, 1000, 0, 0);
	load_add(r, 1, 1000, 4000, 5, 700000);
	load_add(r, 2, 1000, 400000, 0, 0);
	assert_sentence(
		r, "x: messages late by 0.5 ms or more with 1 thread: 5 % of them, by 0.7 ms in "
		   "the median, and one takes 4.00 times T_comm on average");
}

TEST(load_of_others)
{
	struct result *r = result_of(RESULT_LOAD);

	load_add(r, 0, 1000, 3e6, 30, 3e6);
	load_add(r, 1, 1000, 4e6, 60, 4e6);
	assert_sentence(r, "x: not told: 30 % of the messages are late without any load");
}

/* What takes milliseconds anyhow is not judged. */
TEST(load_large)
{
	struct result *r = result_of(RESULT_LOAD);

	load_add(r, 0, 5e5, 5e5, 0, 0);
	load_add(r, 1, 5e5, 2e6, 100, 1.5e6);
	load_add(r, 1, 1000, 1000, 0, 0);
	load_add(r, 2, 1000, 1000, 0, 0);
	assert_sentence(
		r,
		"x: no message late by 0.5 ms or more with up to 2 threads; one takes up to 1.00 "
		"times T_comm on average (0 threads)");
	r = result_of(RESULT_LOAD);
	load_add(r, 0, 1.5e6, 1.2e6, 40, 2e6);
	load_add(r, 1, 1.5e6, 9e6, 95, 7.5e6);
	assert_sentence(r, "x: not told: without load a message takes 0.5 ms or more, whatever its "
			   "size");
}

static void broadcast_add(struct result *r, const char *method, uint64_t tasks, double latency_ns,
			  bool steady)
{
	struct result_point *p = result_point_add(r);
	struct samples s;

	samples_init(&s);
	samples_add(&s, latency_ns);
	result_param_text(p, "method", method);
	result_param_text(p, "op", "bcast");
	result_param_text(p, "algorithm", "linear");
	result_param(p, "tasks", tasks);
	result_param(p, "bytes", 256);
	result_time(p, "latency", &s);
	result_value(p, "steady", steady);
	if (!strcmp(method, "oli")) {
		result_value(p, "max_task", (double)tasks - 1);
		result_value(p, "above_gaps", steady);
	}
	samples_release(&s);
}

TEST(broadcast)
{
	struct result *r = result_of(RESULT_BROADCAST);

	broadcast_add(r, "oli", 2, 2000, true);
	broadcast_add(r, "oli", 4, 4000, true);
	assert_sentence(r, "x: 4 tasks, 256 B: linear 4.00 us (task 3)");
	r = result_of(RESULT_BROADCAST);
	broadcast_add(r, "oli", 4, 4000, false);
	assert_sentence(r,
			"x: 4 tasks, 256 B: linear at most 4.00 us (task 3, E not above the gap, "
			"not steady)");
	r = result_of(RESULT_BROADCAST);
	broadcast_add(r, "barrier", 2, 3000, true);
	broadcast_add(r, "barrier_linear", 2, 5000, false);
	assert_sentence(
		r, "x: 2 tasks, 256 B: barrier: linear 3.00 us; barrier_linear: linear 5.00 us "
		   "(not steady)");
}

static void protocol_add(struct result *r, const char *receiver, uint64_t bytes, bool eager)
{
	struct result_point *p = result_point_add(r);

	result_param_text(p, "receiver", receiver);
	result_param(p, "bytes", bytes);
	result_value(p, "eager", eager);
}

TEST(protocol)
{
	struct result *r = result_of(RESULT_PROTOCOL);

	assert_null(classify_sentence(r));
	protocol_add(r, "in_mpi", 1, true);
	protocol_add(r, "in_mpi", 64, true);
	assert_says(r, "x: eager up to 64 bytes at least");
	protocol_add(r, "in_mpi", 128, false);
	protocol_add(r, "in_mpi", 96, true);
	protocol_add(r, "in_mpi", 97, false);
	protocol_add(r, "in_mpi", 512, true); /* not what is below the first that is not */
	protocol_add(r, "computing", 1, true);
	protocol_add(r, "computing", 97, false);
	assert_says(r, "x: eager up to 96 bytes, rendezvous from 97 on");
	protocol_add(r, "computing", 33, false);
	assert_says(r, "x: eager up to 96 bytes, rendezvous from 97 on; while the "
		       "receiver computes only up to 1");
	protocol_add(r, "computing", 1, false);
	assert_says(r, "x: eager up to 96 bytes, rendezvous from 97 on; while the "
		       "receiver computes not even 1 byte");
	protocol_add(r, "in_mpi", 1, false);
	assert_sentence(r, "x: rendezvous from 1 byte on");
	r = result_of(RESULT_PROTOCOL);
	protocol_add(r, "in_mpi", 1, true);
	assert_sentence(r, "x: eager up to 1 byte at least");
}

/* Of sizes that were not tried, nothing is said. */
TEST(protocol_from)
{
	struct result *r = result_of(RESULT_PROTOCOL);

	protocol_add(r, "in_mpi", 2048, true);
	protocol_add(r, "in_mpi", 8192, true);
	protocol_add(r, "computing", 2048, false);
	assert_sentence(r, "x: eager up to 8192 bytes at least; while the receiver computes not "
			   "even 2048 bytes");
}

static void stencil_add(struct result *r, uint64_t ranks_per_core, double comp, double overlap,
			double width)
{
	struct result_point *p = result_point_add(r);

	result_param(p, "ranks_per_core", ranks_per_core);
	time_add(p, "comm", 1000);
	time_add(p, "comp", comp);
	result_value(p, "overlap", overlap);
	result_value(p, "overlap_low", overlap - width / 2);
	result_value(p, "overlap_high", overlap + width / 2);
}

TEST(others)
{
	struct result *r = result_of(RESULT_CURVE);
	struct result_point *p;

	assert_null(classify_sentence(r));
	p = result_point_add(r);
	result_param(p, "bytes", 1);
	time_add(p, "measured", 500);
	p = result_point_add(r);
	result_param(p, "bytes", 1 << 20);
	time_add(p, "measured", 524288);
	assert_sentence(r, "x: 0.50 us for 1 B, 2.00 GB/s with 1 MiB");
	r = result_of(RESULT_TIMERS);
	p = result_point_add(r);
	result_param(p, "ranks_per_core", 2);
	time_add(p, "wtime", 3000);
	time_add(p, "cpu", 1500);
	assert_sentence(r, "x: with 2 ranks on a core MPI_Wtime says 2.00 times the CPU time");
	r = result_of(RESULT_COST);
	p = result_point_add(r);
	result_param_text(p, "clock", "none");
	time_add(p, "reading", 20);
	assert_null(classify_sentence(r));
	p = result_point_add(r);
	result_param_text(p, "clock", "MPIX_Rtime");
	time_add(p, "reading", 50);
	assert_sentence(r, "x: MPIX_Rtime is read in 30 ns, 99 % of the times in 30 ns");
	r = result_of(RESULT_STENCIL);
	stencil_add(r, 2, 3999, 0.9, 0.51);
	stencil_add(r, 3, 4001, 0.5, 0.1);
	stencil_add(r, 3, 3999, 0.75, 0.5);
	stencil_add(r, 3, 1000, -9, 20);
	assert_sentence(r, "x: V = 2 is not told, V = 3 overlaps 75 %");
}

TEST(set)
{
	struct result *r = MAP(1024, 2, 0, 0);

	classify_set(r);
	assert_string_equal(json_string_value(json_object_get(result_json(r), "sentence")),
			    "x: overlap at all sizes");
	result_free(r);
}
