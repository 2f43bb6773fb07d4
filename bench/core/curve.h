/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * One time over message size. A point has the parameter bytes, the time measured, and the value mb_per_s of its median;
 * where messages are many at once, the time is of each of them, and messages_per_s is there, too.
 */
#ifndef POVBENCH_CURVE_H
#define POVBENCH_CURVE_H

#include "core/bench.h"

struct curve {
	/* Fills out, on rank 0, with times of a message, in ns. All ranks call it. */
	void (*measure)(struct bench_run *run, size_t bytes, struct samples *out);
	bool rate;     /* messages_per_s is to be given */
	uint64_t unit; /* sizes are multiples of it; 0 = 1 */
	/* Larger sizes are left out; null: none is. */
	uint64_t (*bytes_max)(const struct bench_run *run);
	/* That a sample has at least, for the estimate; null: one. */
	uint64_t (*messages)(const struct bench_run *run, size_t bytes);
	void (*params)(const struct bench_run *run, size_t bytes, struct result_point *p);
};

/* Of a benchmark whose method is a struct curve. */
int curve_run(struct bench_run *run);
uint64_t curve_estimate_ns(const struct bench_run *run);

/* The sizes of the OSU benchmarks, for struct bench; their smallest is 0 where there is a message without data. Of collectives they end at 1 MiB. */
#define CURVE_SIZES_OSU(min_bytes)                             \
	{                                                      \
		.min = (min_bytes), .max = 4 << 20, .step = 2, \
	}
#define CURVE_SIZES_OSU_COLL(min_bytes)                        \
	{                                                      \
		.min = (min_bytes), .max = 1 << 20, .step = 2, \
	}

#endif
