/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What a blocking send of a message takes of the sender's time, wherever the data is by then: T_comm of the CPU
 * overhead benchmark (Denis & Trahay 2016, III.D).
 */
#ifndef POVBENCH_REFERENCE_SEND_TIME_H
#define POVBENCH_REFERENCE_SEND_TIME_H

#include "core/bench.h"

/* From rank 0 to rank 1, whose receive comes first. Filled on rank 0. */
void send_time_measure(struct bench_run *run, size_t bytes, struct samples *out);

#endif
