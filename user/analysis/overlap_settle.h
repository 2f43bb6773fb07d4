/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* What is kept of nonblocking operations until it is known when the other side had posted, and what is made of it then. */
#ifndef POV_ANALYSIS_OVERLAP_SETTLE_H
#define POV_ANALYSIS_OVERLAP_SETTLE_H

#include "analysis/overlap.h"

/* How long a thread had been outside MPI, and running there, at a moment. */
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
	uint64_t used_ns; /* position.computing_ns up to which computation has been said to hide something */
	struct map calls; /* by begin: struct overlap_call, not owned */
};

struct overlap_op {
	struct overlap_key key;
	uint64_t begin_ns, posted_ns;
	uint64_t computed_from_ns;	   /* position.computing_ns */
	uint64_t outside_ns, computing_ns; /* until the completing call began */
	int64_t bytes;
	bool sends, receives; /* what is not known yet of their other ends */
	bool unsure;	      /* and never will be */
	uint64_t other_begin_ns; /* the latest of the calls that posted the other ends; 0: none is known */
	uint64_t other_end_ns; /* when its receiver, which waited for it, had it; or 0 */
	uint64_t other_away_ns; /* how long the other side was runnable, while this one waited for what it had posted */
	bool other_host;
};

/* What messages of a size took. */
struct overlap_alone {
	uint64_t ns[OVERLAP_ALONE_MAX];	    /* the last ones, in a ring */
	uint64_t sorted[OVERLAP_ALONE_MAX]; /* the same */
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
	uint64_t runnable_ns; /* of it */
	uint32_t nop;
	struct overlap_op op[];
};

/* Counts the operations of a call into their rows. */
void overlap_call_settle(struct overlaps *a, const struct overlap_call *c);

#endif
