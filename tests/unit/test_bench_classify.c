/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Sentences: the rules of classify.h at their limits. */
#include <math.h>

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
	struct samples s = {0};

	samples_add(&s, ns);
	result_time(p, name, &s);
	samples_release(&s);
}

static void column_add(struct result_point *p, const char *column, const char *text)
{
	if (*column == '$')
		result_param_text(p, column + 1, text);
	else if (*column == '#')
		result_param(p, column + 1, strtoull(text, NULL, 10));
	else if (*column == '~')
		time_add(p, column + 1, strtod(text, NULL));
	else
		result_value(p, column, strtod(text, NULL));
}

/*
 * Adds points given as text: "64 1000 -; 128 2000 3" is two points, and "-" is no value. A column
 * "$x" is a text parameter, "#x" an integer parameter, "~x" a time and "x" a value.
 */
static void points_add(struct result *r, const char *columns, const char *text)
{
	char *rows = xstrdup(text), *rest = rows, *row;

	while ((row = strsep(&rest, ";"))) {
		struct result_point *p = result_point_add(r);
		char *names = xstrdup(columns), *in_names, *in_row = NULL;
		char *name = strtok_r(names, " ", &in_names), *word;

		for (word = strtok_r(row, " ", &in_row); word;
		     word = strtok_r(NULL, " ", &in_row)) {
			if (strcmp(word, "-"))
				column_add(p, name, word);
			name = strtok_r(NULL, " ", &in_names);
		}
		free(names);
	}
	free(rows);
}

static struct result *points(enum result_kind kind, const char *columns, const char *text)
{
	struct result *r = result_of(kind);

	points_add(r, columns, text);
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

/* ---- maps ---- */

#define MAP_COLUMNS "#bytes #compute_ns ~comm ~comp ratio ratio_low ratio_high"

static void map_add(struct result *r, uint64_t bytes, double comp, double ratio, double wait)
{
	struct result_point *p = result_point_add(r);

	result_param(p, "bytes", bytes);
	time_add(p, "comm", 10000);
	time_add(p, "comp", comp);
	if (!isnan(wait))
		time_add(p, "send_wait", wait);
	result_value(p, "ratio", ratio);
}

/* Makes a map with one point per size, with equal communication and computation times. */
static struct result *map_of(const double *ratio, size_t cnt, uint64_t first, uint64_t factor)
{
	struct result *r = result_of(RESULT_MAP);
	uint64_t bytes = first;
	size_t i;

	for (i = 0; i < cnt; i++, bytes *= factor)
		map_add(r, bytes, 10000, ratio[i], NAN);
	return r;
}

#define R(...) ((const double[]){__VA_ARGS__})
#define MAP(first, factor, ...) \
	map_of(R(__VA_ARGS__), sizeof(R(__VA_ARGS__)) / sizeof(double), first, factor)

TEST(runs)
{
	assert_sentence(MAP(1024, 2, 0, 0.1, 0.24), "x: overlap at all sizes");
	assert_sentence(MAP(1024, 2, 0.25, 0.74), "x: partial overlap at all sizes");
	assert_sentence(MAP(1024, 2, 0.75, 1.25), "x: no overlap at all sizes");
	assert_sentence(MAP(1024, 2, 1.26, 7), "x: worse than one after the other at all sizes");
	assert_sentence(MAP(1024, 2, 1, 1, 0.5, 0.5, 0, 0),
			"x: no overlap up to 2 KiB, partial overlap up to 8 KiB, overlap above");
	/* "No overlap" does not cover anything worse. */
	assert_sentence(MAP(1024, 2, 1, 1, 3),
			"x: no overlap up to 2 KiB, worse than one after the other above");
	/* A size that differs from its neighbours is not smoothed away. */
	assert_sentence(
		MAP(1024, 2, 0, 0, 3, 0, 1, 1),
		"x: overlap up to 2 KiB, worse than one after the other up to 4 KiB, overlap up to "
		"8 KiB, no overlap above");
	assert_sentence(MAP(1024, 2, 1, 0, 0), "x: no overlap up to 1 KiB, overlap above");
}

/*
 * Makes sizes from 1 KiB on. Computations take T_comm and twice that; waits are shares of T_comm.
 */
static struct result *waits_of(const double *ratio, const double *wait, size_t cnt, uint64_t factor)
{
	struct result *r = result_of(RESULT_MAP);
	uint64_t bytes = 1024;
	size_t i;

	for (i = 0; i < cnt; i++, bytes *= factor) {
		/* These two computations are too short for their waits to count. */
		map_add(r, bytes, 1000, ratio[i], NAN);
		map_add(r, bytes, 9000, ratio[i], 9000);
		map_add(r, bytes, 10000, ratio[i], 300 + wait[i] * 10000);
		map_add(r, bytes, 20000, ratio[i], 300 + wait[i] * 10000);
	}
	return r;
}

#define WAITS(factor, ratio, wait) waits_of(ratio, wait, sizeof(wait) / sizeof(double), factor)

TEST(eager)
{
	assert_sentence(WAITS(2, R(0, 0, 0, 1, 1), R(0, 0.05, 0.1, 0.25, 1)),
			"x: overlap up to 4 KiB (eager), no overlap above");
	/* One size in between is allowed, two are not. */
	assert_sentence(WAITS(2, R(0, 0, 1, 1), R(0, 0, 0.2, 1)),
			"x: overlap up to 2 KiB (eager), no overlap above");
	assert_sentence(WAITS(2, R(0, 0, 1, 1, 1), R(0, 0, 0.2, 0.2, 1)),
			"x: overlap up to 2 KiB, no overlap above");
	/* The sizes are too far apart to find the change. */
	assert_sentence(WAITS(8, R(0, 1, 1), R(0, 1, 1)),
			"x: overlap up to 1 KiB, no overlap above");
	/* The eager messages end within a run, or there is only one run. */
	assert_sentence(WAITS(2, R(0.5, 0.5, 1, 1), R(0, 1, 1, 1)),
			"x: partial overlap up to 2 KiB, no overlap above; eager up to 1 KiB");
	assert_sentence(WAITS(2, R(1, 1, 1), R(0, 0, 1)),
			"x: no overlap at all sizes; eager up to 2 KiB");
	/* The eager messages end with a later run. */
	assert_sentence(
		WAITS(2, R(0, 0, 0.5, 0.5, 1, 1), R(0, 0, 0, 0, 1, 1)),
		"x: overlap up to 2 KiB, partial overlap up to 8 KiB (eager), no overlap above");
	/* Nothing waits, everything waits, or waits come and go. */
	assert_sentence(WAITS(2, R(0, 0, 1, 1), R(0, 0, 0, 0)),
			"x: overlap up to 2 KiB, no overlap above");
	assert_sentence(WAITS(2, R(1, 1, 1), R(1, 1, 1)), "x: no overlap at all sizes");
	assert_sentence(WAITS(2, R(0, 0, 1, 1, 1), R(0, 0, 1, 0, 0)),
			"x: overlap up to 2 KiB, no overlap above");
}

/* Without waits of sends, eager messages are only recognized by two runs. */
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

/* All known points of a size count, whatever their computation time. */
TEST(judged)
{
	struct result *r =
		points(RESULT_MAP, MAP_COLUMNS,
		       "1024 100 1000 100 0.24; 1024 500 1000 500 0; 1024 2000 1000 2000 0.2;"
		       "2048 500 1000 500 0.1; 2048 1000 1000 1000 0.3; 2048 9000 1000 9000 1;"
		       "4096 1000 1000 1000 -; 8192 1000 1000 1000 0.5");

	assert_int_equal(classify_size(r, 1024), CLASSIFY_OVERLAP);
	assert_int_equal(classify_size(r, 2048), CLASSIFY_MIXED);
	assert_int_equal(classify_size(r, 4096), CLASSIFY_UNJUDGED);
	assert_int_equal(classify_size(r, 8192), CLASSIFY_PARTIAL);
	assert_int_equal(classify_size(r, 16384), CLASSIFY_UNJUDGED);
	assert_sentence(r,
			"x: overlap at 1 KiB for computations of 100 ns to 2 us, at 2 KiB "
			"overlap for 500 ns but partial overlap for 1 us but no overlap for 9 us, "
			"partial overlap at 8 KiB for 1 us; unknown at 4 KiB; 1 of 8 points are "
			"unknown");
	assert_sentence(points(RESULT_MAP, MAP_COLUMNS, "64 20000 100 20000 -"),
			"x: unknown at every size");
}

/*
 * Equal computation times appear once. A run ends where its times would not hold for another size.
 */
TEST(computation_times)
{
	assert_sentence(
		points(RESULT_MAP, MAP_COLUMNS,
		       "1024 1000 9 9 0; 1024 2000 9 9 0; 2048 1000 9 9 1; 2048 2000 9 9 1"),
		"x: overlap up to 1 KiB (eager), no overlap above, for computations of 1 us "
		"to 2 us");
	assert_sentence(
		points(RESULT_MAP, MAP_COLUMNS,
		       "1024 1000 9 9 0; 2048 2000 9 9 0; 4096 2000 9 9 1"),
		"x: overlap up to 2 KiB (eager) for computations of 1 us to 2 us, no overlap "
		"above for 2 us");
	/* Sizes with as many, but different, claims are told apart. */
	assert_sentence(
		points(RESULT_MAP, MAP_COLUMNS,
		       "1024 1000 9 9 0; 1024 2000 9 9 1; 2048 1000 9 9 0; 2048 2000 9 9 2"),
		"x: at 1 KiB overlap for computations of 1 us but no overlap for 2 us, at 2 KiB "
		"overlap for 1 us but worse than one after the other for 2 us");
	/* The point at 2 KiB and 2 us holds neither claim and contradicts one. */
	assert_sentence(
		points(RESULT_MAP, MAP_COLUMNS,
		       "1024 1000 9 9 0 0 0; 1024 2000 9 9 0 0 0; 2048 1000 9 9 0 0 0;"
		       "2048 2000 9 9 0.9 0.6 1"),
		"x: overlap up to 1 KiB for computations of 1 us to 2 us, overlap above for "
		"1 us");
}

/* A point holds a claim if both ends of its interval do. An interval wider than 0.5 is unknown. */
TEST(intervals)
{
	assert_sentence(
		points(RESULT_MAP, MAP_COLUMNS,
		       "1024 1000 1000 1000 0.1 -0.1 0.24; 2048 1000 1000 1000 0.2 0.1 0.3;"
		       "4096 1000 1000 1000 0.5 0.4 0.89; 8192 1000 1000 1000 0.3 0.05 0.6;"
		       "16384 1000 1000 1000 0.9 0.76 1.2; 32768 1000 1000 1000 2 1.26 1.7"),
		"x: overlap at 1 KiB, partial overlap at 4 KiB, no overlap at 16 KiB, worse "
		"than one after the other at 32 KiB, for computations of 1 us; unknown at 2 KiB, "
		"8 KiB; 1 of 6 points are unknown");
	/* The first point holds no claim, and contradicts that of the second. */
	assert_sentence(points(RESULT_MAP, MAP_COLUMNS,
			       "1024 1000 9 9 0.9 0.7 1.1; 1024 2000 9 9 0.1 0 0.2"),
			"x: overlap at all sizes for computations of 2 us");
}

/*
 * Long computations with short messages show how much computation varies. Points left of that line
 * are unknown.
 */
TEST(line)
{
	struct result *r = result_of(RESULT_MAP);
	int i;

	for (i = 0; i < 4; i++) {
		struct result_point *p = result_point_add(r);
		struct samples added = {0};
		int k;

		/*
		 * The interval of 6 samples covers all of them, 1 us. The line is at 2 us for 1 ms.
		 */
		for (k = 0; k < 6; k++)
			samples_add(&added, 200 * k);
		result_param(p, "bytes", 1024u << i);
		result_param(p, "compute_ns", 1000000);
		time_add(p, "comm", i < 3 ? 1000 + 400 * i : 2400);
		time_add(p, "comp", 1e6);
		result_time(p, "added", &added);
		result_value(p, "ratio", 0);
		samples_release(&added);
	}
	assert_sentence(r, "x: overlap at 8 KiB for computations of 1 ms; unknown at 1 KiB, 2 KiB, "
			   "4 KiB; 3 of 4 points are unknown");
}

/* Both together cannot take less time than either alone. */
TEST(wrong)
{
	struct result *r =
		points(RESULT_MAP, MAP_COLUMNS,
		       "1024 1000 1000 1000 0.1 0 0.2; 1024 1000 1000 1000 -1 -1.2 -0.8");
	struct result_point *p = (struct result_point *)result_point_at(r, 1);

	result_value(p, "too_short_ns", 800);
	assert_int_equal(classify_size(r, 1024), CLASSIFY_OVERLAP);
	assert_says(r, "x: overlap at all sizes for computations of 1 us; 1 of 2 points are wrong: "
		       "both together took less time than one of them alone");
	result_disturbed(r, "its ranks slept");
	classify_set(r);
	assert_string_equal(
		json_string_value(json_object_get(result_json(r), "sentence")),
		"x: overlap at all sizes for computations of 1 us; 1 of 2 points are "
		"wrong: both together took less time than one of them alone; disturbed: "
		"its ranks slept");
	/* An unknown point is not wrong. */
	result_value(p, "ratio_low", -2);
	assert_says(r,
		    "x: overlap at all sizes for computations of 1 us; 1 of 2 points are unknown");
	result_free(r);
}

/* ---- other kinds ---- */

static void assert_points(enum result_kind kind, const char *columns, const char *text,
			  const char *expected)
{
	assert_sentence(points(kind, columns, text), expected);
}

#define LOAD RESULT_LOAD, "#threads ~comm ~measured late_pct ~late ratio_mean"

TEST(load)
{
	assert_points(LOAD, "0 1000 1000 0 - 0; 1 1000 1400 9 4e6 0.4",
		      "x: messages late by 0.5 ms or more with 1 thread: 9 % of them, by 4.0 ms in "
		      "the median, and one takes 1.40 times T_comm on average");
	assert_points(LOAD, "0 1000 1000 0 - 0; 1 1000 3000 0 - 2",
		      "x: no message late by 0.5 ms or more with up to 1 thread; one takes up to "
		      "3.00 times T_comm on average (1 thread)");
	assert_points(
		LOAD,
		"0 1000 1000 0 - 0; 1 1000 900000 0.5 899000 899; 2 1000 2000 2 500000 1;"
		"3 1000 2000 10 4000000 1; 4 1000 8001000 90 8000000 8000",
		"x: messages late by 0.5 ms or more with 2 to 4 threads, worst with 4: 90 % of "
		"them, by 8.0 ms in the median, and one takes 8001 times T_comm on average");
	/* The slowest message on average is not late and has no lateness. */
	assert_points(LOAD, "0 1000 1000 0 - 0; 1 1000 4000 5 700000 3; 2 1000 400000 0 - 399",
		      "x: messages late by 0.5 ms or more with 1 thread: 5 % of them, by 0.7 ms in "
		      "the median, and one takes 4.00 times T_comm on average");
	assert_points(LOAD, "0 1000 3e6 30 3e6 2999; 1 1000 4e6 60 4e6 3999",
		      "x: unknown: 30 % of the messages are late without any load");
	/* Messages that take milliseconds without load are not judged. */
	assert_points(
		LOAD,
		"0 5e5 5e5 0 - 0; 1 5e5 2e6 100 1.5e6 3; 1 1000 1000 0 - 0; 2 1000 1000 0 - 0",
		"x: no message late by 0.5 ms or more with up to 2 threads; one takes up to "
		"1.00 times T_comm on average (0 threads)");
	assert_points(LOAD, "0 1.5e6 1.2e6 40 2e6 -0.2; 1 1.5e6 9e6 95 7.5e6 5",
		      "x: unknown: without load a message takes 0.5 ms or more, whatever its size");
}

#define BROADCAST \
	RESULT_BROADCAST, "$method #tasks ~latency steady max_task above_gaps $op $algorithm #bytes"

TEST(broadcast)
{
	assert_points(BROADCAST,
		      "oli 2 2000 1 1 1 bcast linear 256; oli 4 4000 1 3 1 bcast linear 256",
		      "x: 4 tasks, 256 B: linear 4.00 us (task 3)");
	assert_points(BROADCAST, "oli 4 4000 0 3 0 bcast linear 256",
		      "x: 4 tasks, 256 B: linear at most 4.00 us (task 3, E not above the gap, "
		      "not steady)");
	assert_points(BROADCAST,
		      "barrier 2 3000 1 - - bcast linear 256;"
		      "barrier_linear 2 5000 0 - - bcast linear 256",
		      "x: 2 tasks, 256 B: barrier: linear 3.00 us; barrier_linear: linear 5.00 us "
		      "(not steady)");
}

#define PROTOCOL "$receiver #bytes eager"

TEST(protocol)
{
	struct result *r = result_of(RESULT_PROTOCOL);

	assert_null(classify_sentence(r));
	points_add(r, PROTOCOL, "in_mpi 1 1; in_mpi 64 1");
	assert_says(r, "x: eager up to 64 bytes at least");
	/* The first size that is not eager is the limit, whatever the larger ones are. */
	points_add(r, PROTOCOL, "in_mpi 128 0; in_mpi 96 1; in_mpi 97 0; in_mpi 512 1");
	points_add(r, PROTOCOL, "computing 1 1; computing 97 0");
	assert_says(r, "x: eager up to 96 bytes, rendezvous from 97 on");
	points_add(r, PROTOCOL, "computing 33 0");
	assert_says(r, "x: eager up to 96 bytes, rendezvous from 97 on; while the "
		       "receiver computes only up to 1");
	points_add(r, PROTOCOL, "computing 1 0");
	assert_says(r, "x: eager up to 96 bytes, rendezvous from 97 on; while the "
		       "receiver computes not even 1 byte");
	points_add(r, PROTOCOL, "in_mpi 1 0");
	assert_sentence(r, "x: rendezvous from 1 byte on");
	assert_points(RESULT_PROTOCOL, PROTOCOL, "in_mpi 1 1", "x: eager up to 1 byte at least");
	/* Sizes that were not tried are not mentioned. */
	assert_points(RESULT_PROTOCOL, PROTOCOL, "in_mpi 2048 1; in_mpi 8192 1; computing 2048 0",
		      "x: eager up to 8192 bytes at least; while the receiver computes not "
		      "even 2048 bytes");
}

TEST(others)
{
	struct result *r = result_of(RESULT_CURVE);

	assert_null(classify_sentence(r));
	points_add(r, "#bytes ~measured", "1 500; 1048576 524288");
	assert_sentence(r, "x: 0.50 us for 1 B, 2.00 GB/s with 1 MiB");
	assert_points(RESULT_TIMERS, "#ranks_per_core ~wtime ~cpu", "2 3000 1500",
		      "x: with 2 ranks on a core MPI_Wtime shows 2.00 times the CPU time");
	r = points(RESULT_COST, "$clock ~reading", "none 20");
	assert_null(classify_sentence(r));
	points_add(r, "$clock ~reading", "MPIX_Rtime 50");
	assert_sentence(r, "x: MPIX_Rtime is read in 30 ns, 99 % of the times in 30 ns");
	assert_points(RESULT_STENCIL,
		      "#ranks_per_core ~comm ~comp overlap overlap_low overlap_high",
		      "2 1000 3999 0.9 0.645 1.155; 3 1000 4001 0.5 0.45 0.55;"
		      "3 1000 3999 0.75 0.5 1; 3 1000 1000 -9 -19 1",
		      "x: V = 2 is unknown, V = 3 overlaps 75 %");
}
