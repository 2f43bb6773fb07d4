/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Samples that are the mean of consecutive rounds, like the loops of other suites. There are so
 * many rounds that the cost of reading the clock and the effect of the synchronisation on the
 * first round do not matter.
 */
#ifndef POVBENCH_ROUNDS_H
#define POVBENCH_ROUNDS_H

#include "core/bench.h"

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
