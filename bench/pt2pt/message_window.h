/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Bandwidth as the OSU benchmarks define it: a round is a window of non-blocking sends to one peer, whose receives are
 * posted window by window, a Waitall on both sides, and one message without data that says that all have arrived.
 * Both ways at once, each rank posts receives and sends and waits for the sends, then the receives; nothing else is said.
 * All messages of a window have the same buffer, as there: what is measured is the library and not the memory.
 * Of several pairs, rank i sends to rank i + pairs, and the time is the mean of the senders' own.
 */
#ifndef POVBENCH_PT2PT_MESSAGE_WINDOW_H
#define POVBENCH_PT2PT_MESSAGE_WINDOW_H

#include "core/curve.h"

/* Times of a message: those of a window over its messages, of all pairs and both ways together. */
void message_window_measure(struct bench_run *run, size_t bytes, int pairs, bool both_ways,
			    struct samples *out);

/* For struct curve: one pair, one way. */
uint64_t message_window_messages(const struct bench_run *run, size_t bytes);
void message_window_params(const struct bench_run *run, size_t bytes, struct result_point *p);

#endif
