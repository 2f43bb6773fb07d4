/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Finds who was late to collective calls, and how long the others had waited by then. The n-th
 * collective calls of all members of a communicator belong together, because MPI demands the same
 * order in all members. The same holds for calls that make, fence and free a window, and for the
 * collective ones on a file. A call that makes a communicator counts on the communicator that it is
 * given. Members in the call wait until all others have called, or until they leave earlier (a
 * reduction's leaf, a broadcast's root). If several members are missing, the wait is shared among
 * them. The wait for a nonblocking call is in the call that completes it.
 */
#ifndef POV_ANALYSIS_ARRIVALS_H
#define POV_ANALYSIS_ARRIVALS_H

#include "analysis/observers.h"
#include "lib/map.h"
#include "model/model.h"

/* One member's call of a collective. */
struct arrival_call {
	const struct model_thread *thread;
	const struct func_info *func;
	struct model_site site;
	/* end_ns: of the call that waits */
	uint64_t begin_ns, end_ns;
	/* nonblocking: begin of the later call that waits; else 0 */
	uint64_t wait_ns;
	int64_t send_bytes, recv_bytes; /* see call_roles */
	bool waits;			/* the call, or the one that completes it, waits */
	bool pending;			/* nonblocking, and not completed yet */
	bool root;			/* this member is the root */
};

/* A stretch in which the number of present and missing members stayed the same. */
struct arrival_step {
	uint64_t from_ns, to_ns;
	/* how long the present members together waited for each missing one */
	uint64_t each_ns;
};

/*
 * One collective call of all members. A member is missing in a step if its call begins at the
 * step's end or later.
 */
struct arrival_joint {
	const struct arrival_call *call; /* in order of begin */
	uint32_t calls;
	const struct arrival_step *step; /* steps in which a member waited, in order */
	uint32_t steps;
};

/* A member's call that others waited for. */
struct arrival {
	const struct func_info *func;
	struct model_site site;
	uint64_t begin_ns;
	uint64_t late_ns; /* delay after the first member's call */
	/* this member's share of the time that all others together waited */
	uint64_t waited_ns;
};

/* processes that were last, kept for each process that waited for them */
#define ARRIVALS_LAST 4

/* How long a process waited in calls to which another one came last. */
struct arrival_last {
	uint32_t process; /* idx */
	/* too low by at most a fifth of the time that it waited for all that came last */
	uint64_t ns;
};

/* Lateness of one process. */
struct arrival_row {
	uint64_t calls;	      /* collective calls that it took part in */
	uint64_t last;	      /* part of calls, those in which it came last */
	uint64_t waited_ns;   /* how long all others together waited for it */
	struct arrival worst; /* the call with the largest waited_ns */
	/* whom it waited for itself; entries with 0 ns are unused */
	struct arrival_last waited_for[ARRIVALS_LAST];
};

struct arrivals {
	struct model_sink sink;
	/* events: struct arrival_joint; its steps are 0 if no member waited */
	struct observers joints;
	struct map comms;	     /* communicator, window → struct arrival_comm */
	struct arrival_row *process; /* by process idx; owned */
	uint32_t nprocess;
	const struct model *model;
	bool lost; /* records of calls were lost */
	/* calls whose partners are unknown, as an earlier call may not have been recorded */
	uint64_t uncertain;
	/*
	 * by thread idx: time up to which waits in calls that complete nonblocking ones are
	 * settled; owned
	 */
	uint64_t *settled_ns;
	uint32_t nsettled;
};

/* unfinished collective calls kept per communicator */
#define ARRIVALS_KEPT_MAX 1024

/* When the member began to wait, if it waited. */
static inline uint64_t arrival_wait_ns(const struct arrival_call *c)
{
	return c->wait_ns ? c->wait_ns : c->begin_ns;
}

/* Sorts the calls by begin and finds the steps. The caller frees the steps. */
struct arrival_step *arrival_steps(struct arrival_call *call, uint32_t calls, uint32_t *nsteps);

/* True if the partners of most collective calls are unknown. */
static inline bool arrivals_unknown(const struct arrivals *a)
{
	uint64_t known = 0;

	for (uint32_t i = 0; i < a->nprocess; i++)
		known += a->process[i].calls;
	return a->uncertain > known;
}

/*
 * True for calls by which all members of a communicator make another one. Calls that start or meet
 * other jobs are left out, because the root works meanwhile.
 */
bool arrivals_make_comm(const struct func_info *f);

void arrivals_init(struct arrivals *a);
void arrivals_release(struct arrivals *a);

#endif
