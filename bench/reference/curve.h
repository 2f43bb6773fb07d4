/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A reference: one time over message size (Denis & Trahay 2016, III.D, base benchmarks). A point has the parameter
 * bytes, the time measured, and the value mb_per_s of its median.
 */
#ifndef POVBENCH_REFERENCE_CURVE_H
#define POVBENCH_REFERENCE_CURVE_H

#include "core/bench.h"

typedef void (*curve_fn)(struct bench_run *run, size_t bytes, struct samples *out);

int curve_run(struct bench_run *run, curve_fn measure_size);
uint64_t curve_estimate_ns(const struct bench_run *run);

#endif
