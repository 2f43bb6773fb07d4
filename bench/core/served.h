/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Whether `povtrace clock` serves the ranks, so that libpov's clocks can be read. */
#ifndef POVBENCH_SERVED_H
#define POVBENCH_SERVED_H

#include "core/bench.h"

/* All of them; if not, rank 0 says that there will be no such clocks. All ranks call it, and learn the same. */
bool pov_served(struct bench_run *run);

#endif
