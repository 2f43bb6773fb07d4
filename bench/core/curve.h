/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * One time over message size. A point has the parameter bytes, the measured time, and mb_per_s from
 * its median. If many messages are in flight, the time is that of each message, and the
 * point also has messages_per_s.
 */
#ifndef POVBENCH_CURVE_H
#define POVBENCH_CURVE_H

#include "core/bench.h"

struct curve {
	/* Fills out on rank 0 with times of a message in ns. All ranks call it. */
	void (*measure)(struct bench_run *run, size_t bytes, struct samples *out);
	bool rate;     /* also report messages_per_s */
	uint64_t unit; /* sizes are multiples of it; 0 = 1 */
	/* Largest size; null: no limit. */
	uint64_t (*bytes_max)(const struct bench_run *run);
	/* Least number of messages in a sample, for the estimate; null: one. */
	uint64_t (*messages)(const struct bench_run *run, size_t bytes);
	void (*params)(const struct bench_run *run, size_t bytes, struct result_point *p);
};

/* run and estimate_ns of benchmarks with a struct curve as method. */
int curve_run(struct bench_run *run);
uint64_t curve_estimate_ns(const struct bench_run *run);

/*
 * The sizes of the OSU benchmarks, for struct bench. Their smallest is 0 where a message without
 * data exists. Those of collectives end at 1 MiB.
 */
#define CURVE_SIZES_OSU(min_bytes)                             \
	{                                                      \
		.min = (min_bytes), .max = 4 << 20, .step = 2, \
	}
#define CURVE_SIZES_OSU_COLL(min_bytes)                        \
	{                                                      \
		.min = (min_bytes), .max = 1 << 20, .step = 2, \
	}

/* The same, with the members shared by benchmarks of one pair of ranks. */
#define CURVE_PAIR(method_of)                                                         \
	.kind = RESULT_CURVE, .ranks_min = 2, .ranks_max = 2, .method = &(method_of), \
	.run = curve_run, .estimate_ns = curve_estimate_ns

/* ---- samples of many rounds ---- */

/*
 * Samples that are the mean of consecutive rounds, like the loops of other suites. There are so
 * many rounds that the cost of reading the clock and the effect of the synchronisation on the
 * first round do not matter.
 */
/* Least length of a sample, unless it would take more than ROUNDS_MOST rounds. */
#define ROUNDS_SAMPLE_NS 100000.0
#define ROUNDS_MOST 1000.0

/* Runs that many rounds and returns their total time in ns on rank 0. All ranks call it. */
typedef double (*rounds_fn)(struct bench_run *run, void *ctx, uint64_t rounds);

/*
 * Samples the time of a round divided by `parts`, such as its number of messages. Takes as many
 * samples as measure(). Fills out on rank 0.
 */
void rounds_measure(struct bench_run *run, rounds_fn fn, void *ctx, double parts,
		    struct samples *out);

#endif
