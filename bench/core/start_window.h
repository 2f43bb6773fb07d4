/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A common start ("window"): rank 0 names a moment that is far enough ahead for the word to reach everybody, and all begin then,
 * by clocks that are corrected for offset and drift (node_clock.h). Nothing of a former operation, no barrier and no
 * chain of messages is in what is measured. A rank that comes too late spoils the sample: it is thrown away, counted, and the
 * next start is set further ahead.
 */
#ifndef POVBENCH_START_WINDOW_H
#define POVBENCH_START_WINDOW_H

#include "core/node_clock.h"

/* On one node, ranks that are there in time begin within some ten ns of each other. */
#define WINDOW_LATE_NS 1000

struct start_window {
	struct node_clock clock;
	uint64_t margin_ns, least_ns; /* how far ahead, and what the word takes */
	uint64_t late_cnt;	      /* rank 0: samples thrown away */
	uint64_t kept_cnt; /* rank 0: samples of start_window_longest taken although they were late */
	uint64_t *all;	   /* of each rank; owned */
};

/* All ranks call these. The clocks are measured, and whenever that is long ago measured again, between samples. */
void start_window_init(struct comm *c, struct start_window *w);
void start_window_release(struct start_window *w);
/*
 * Waits for the next start, unless rank 0 wants no more: then it is 0 for all. The start is by this rank's clock. Who calls it,
 * must know that all ranks are done with the last sample (comm_collect, comm_sync).
 */
uint64_t start_window_begin(struct comm *c, struct start_window *w, bool more);
/* On rank 0: the largest error of a rank's clock. */
uint64_t start_window_clock_error_ns(struct comm *c, struct start_window *w);
/* To be asked first thing after the start. */
bool start_window_missed(struct comm *c, uint64_t start_ns);
/* Rank 0 takes note of a sample: how far ahead the next start is follows from it. */
void start_window_note(struct start_window *w, bool late);

/*
 * A sample of `once`, which all ranks begin at the same time and which returns how long it took on each (below 2^63): on rank 0
 * the longest. Tried again while a rank was late, some times; then it is taken as it is, and counted.
 */
double start_window_longest(struct comm *c, struct start_window *w, uint64_t (*once)(void *ctx),
			    void *ctx);

#endif
