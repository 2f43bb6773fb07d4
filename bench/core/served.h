/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Tells whether `povtrace clock` serves the ranks, so that libpov's clocks can be read. */
#ifndef POVBENCH_SERVED_H
#define POVBENCH_SERVED_H

#include "core/bench.h"

/*
 * True if all ranks are served. If not, rank 0 reports that these clocks will be missing. All ranks
 * call it and get the same answer.
 */
bool pov_served(struct bench_run *run);

#endif
