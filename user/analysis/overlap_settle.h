/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Keeps nonblocking operations until it is known when the other side posted its end. Then computes
 * how much of them was hidden.
 */
#ifndef POV_ANALYSIS_OVERLAP_SETTLE_H
#define POV_ANALYSIS_OVERLAP_SETTLE_H

#include "analysis/overlap.h"

/* A thread's time outside MPI up to a moment, and the part of it in which the thread ran. */
struct overlap_position {
	uint64_t outside_ns, computing_ns;
};

#define OVERLAP_AWAY_MAX 128

/* A stretch in which a thread was runnable. */
struct overlap_away {
	uint64_t from_ns, to_ns;
};

struct overlap_thread {
	struct overlap_away *away; /* the last ones, in a ring; owned; NULL: none */
	uint64_t naway;
	uint64_t mpi_ns, mpi_running_ns;
	/* computing_ns of the position up to which computation already hides a transfer */
	uint64_t used_ns;
	/* begin of a call → struct overlap_call, not owned */
	struct map calls;
};

struct overlap_op {
	struct overlap_key key;
	uint64_t begin_ns, posted_ns;
	/* computing_ns of the position where the operation was posted */
	uint64_t computed_from_ns;
	/* from the start call to the begin of the completing call */
	uint64_t outside_ns, computing_ns;
	int64_t bytes;
	/* the other end of its send, or of its receive, is not known yet */
	bool sends, receives;
	bool unsure; /* the other end will never be known */
	/* begin of the latest call that posted the other end; 0: unknown */
	uint64_t other_begin_ns;
	/*
	 * When a receiver that was already waiting had the message. 0: unknown, or it was not
	 * waiting.
	 */
	uint64_t other_end_ns;
	/* How long the other side was runnable in this side's wait, after it had posted its end. */
	uint64_t other_away_ns;
	bool other_host;
};

/* Durations of messages of one size. */
struct overlap_alone {
	uint64_t ns[OVERLAP_ALONE_MAX];	    /* the last ones, in a ring */
	uint64_t sorted[OVERLAP_ALONE_MAX]; /* the same times, sorted */
	uint64_t cnt;
};

static inline uint64_t overlap_alone_key(int64_t bytes, bool other_host)
{
	return (uint64_t)bytes << 1 | other_host;
}

/* A call that completed operations. */
struct overlap_call {
	struct overlap_call *prev, *next;
	uint32_t thread; /* idx */
	uint64_t begin_ns, end_ns;
	/* part of the call in which the thread was runnable */
	uint64_t runnable_ns;
	uint32_t nop;
	struct overlap_op op[];
};

/* Adds the operations of a call to their rows. */
void overlap_call_settle(struct overlaps *a, const struct overlap_call *c);

#endif
