/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A common start ("window"). Rank 0 chooses a moment far enough ahead for the word to reach every
 * rank, and all ranks begin then, by clocks corrected for offset and drift (gather.h). So the
 * measured time contains no earlier operation, no barrier and no chain of messages. If a rank is
 * too late, the sample is discarded and counted, and the next start is further ahead.
 */
#ifndef POVBENCH_START_WINDOW_H
#define POVBENCH_START_WINDOW_H

#include "core/gather.h"

/* On one node, ranks that are in time begin within tens of ns of each other. */
#define WINDOW_LATE_NS 1000

struct start_window {
	struct node_clock clock;
	uint64_t margin_ns; /* distance of the next start */
	uint64_t least_ns;  /* time that the word takes */
	uint64_t late_cnt;  /* rank 0: discarded samples */
	uint64_t kept_cnt;  /* rank 0: late samples of start_window_longest that were used */
	uint64_t *all;	    /* word of each rank; owned */
};

/* All ranks call these. The clocks are measured now, and again between samples when that is old. */
void start_window_init(struct comm *c, struct start_window *w);
void start_window_release(struct start_window *w);
/*
 * Waits for the next start and returns it by this rank's clock, or returns 0 on all ranks if rank 0
 * wants no more. Before the call all ranks must be done with the last sample (comm_collect,
 * comm_sync).
 */
uint64_t start_window_begin(struct comm *c, struct start_window *w, bool more);
/* On rank 0: largest error of a rank's clock. */
uint64_t start_window_clock_error_ns(struct comm *c, struct start_window *w);
/* True if this rank was late. Call it immediately after the start. */
bool start_window_missed(struct comm *c, uint64_t start_ns);
/* Rank 0 reports a sample, which adjusts the distance of the next start. */
void start_window_note(struct start_window *w, bool late);

/*
 * Takes one sample of `once`, which all ranks begin at the same time and which returns its duration
 * (below 2^63). Returns the longest duration on rank 0. Repeats it while a rank was late, up to a
 * limit; after that the late sample is used and counted.
 */
double start_window_longest(struct comm *c, struct start_window *w, uint64_t (*once)(void *ctx),
			    void *ctx);

#endif
