/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Bandwidth as the OSU benchmarks define it. A round is a window of non-blocking sends to one
 * peer, which posts its receives window by window, a Waitall on both sides, and one message
 * without data that confirms that all have arrived. In both directions at once, each rank posts
 * receives and sends, waits for the sends, then for the receives, and there is no confirmation. As
 * in OSU, all messages of a window use the same buffer, so the library is measured and not the
 * memory. With several pairs, rank i sends to rank i + pairs, and the time is the mean of the
 * senders' own times.
 */
#ifndef POVBENCH_PT2PT_MESSAGE_WINDOW_H
#define POVBENCH_PT2PT_MESSAGE_WINDOW_H

#include "core/curve.h"

/* Times of a message: those of a window divided by its messages, of all pairs and directions. */
void message_window_measure(struct bench_run *run, size_t bytes, int pairs, bool both_ways,
			    struct samples *out);

/* For struct curve: one pair, one direction. */
uint64_t message_window_messages(const struct bench_run *run, size_t bytes);
void message_window_params(const struct bench_run *run, size_t bytes, struct result_point *p);

#endif
