/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Samples that are the mean of rounds one behind the other, as other suites' loops: so many that reading the clock and
 * what is left of the synchronisation in the first round do not matter.
 */
#ifndef POVBENCH_ROUNDS_H
#define POVBENCH_ROUNDS_H

#include "core/bench.h"

/* A sample takes so long at least, if ROUNDS_MOST are enough. */
#define ROUNDS_SAMPLE_NS 100000.0
#define ROUNDS_MOST 1000.0

/* Does so many rounds; on rank 0 returns the ns of all. All ranks call it. */
typedef double (*rounds_fn)(struct bench_run *run, void *ctx, uint64_t rounds);

/* Samples of a round's time over `parts`, such as its messages; as many as measure() takes. Filled on rank 0. */
void rounds_measure(struct bench_run *run, rounds_fn fn, void *ctx, double parts,
		    struct samples *out);

#endif
