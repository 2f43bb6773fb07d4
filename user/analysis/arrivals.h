/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Who was late to collective calls that block, and how long others were in them by then. The n-th collective call of each member of a
 * communicator belongs together, as MPI demands the same order of all; and so do those of a window: that make, fence and free it.
 * Members that are in the call wait for those that are not, until these have called or they could leave before (a reduction's leaf, a
 * broadcast's root); where several are missing, that is shared among them.
 */
#ifndef POV_ANALYSIS_ARRIVALS_H
#define POV_ANALYSIS_ARRIVALS_H

#include "lib/map.h"
#include "model/model.h"

/* A member's part in a call that they make together. */
struct arrival_call {
	const struct model_thread *thread;
	const struct func_info *func;
	struct model_site site;
	uint64_t begin_ns, end_ns;
	int64_t send_bytes, recv_bytes; /* of call_roles */
	bool waits;			/* the call itself, not a later one */
	bool root;			/* of a call that has one */
};

/* A stretch in which as many were there, and as many were missing. */
struct arrival_step {
	uint64_t from_ns, to_ns;
	uint64_t each_ns; /* what each missing one was waited for, by all together */
};

/* Those who are missing in a step are those whose call begins when it ends, or later. */
struct arrival_joint {
	const struct arrival_call *call; /* in order of begin */
	uint32_t calls;
	const struct arrival_step *step; /* in which anybody waited, in order */
	uint32_t steps;
};

/* A member's call that others waited for. */
struct arrival {
	const struct func_info *func;
	struct model_site site;
	uint64_t begin_ns;
	uint64_t late_ns;   /* behind the first member's */
	uint64_t waited_ns; /* by all others together: its share */
};

/* Of a process. */
struct arrival_row {
	uint64_t calls;	      /* of all members together, that it took part in */
	uint64_t last;	      /* of these, to which it came last */
	uint64_t waited_ns;   /* of all others, for it */
	struct arrival worst; /* by waited_ns */
};

struct arrivals {
	struct model_sink sink;
	void (*tell)(void *ctx, const struct arrival_joint *
					j); /* the caller's: each that anybody waited in; or NULL */
	void *ctx;
	bool tell_all;		     /* … also those that nobody waited in */
	struct map comms;	     /* communicator, window → struct arrival_comm */
	struct arrival_row *process; /* by idx; owned */
	uint32_t nprocess;
	const struct model *model;
	bool lost; /* records of calls */
	uint64_t uncertain; /* calls of which it is not known which belong together: a call before may not have been recorded */
};

#define ARRIVALS_KEPT_MAX 1024 /* of a communicator, that wait for members */

/* Puts calls in order of begin, and finds the steps; the caller frees them. */
struct arrival_step *arrival_steps(struct arrival_call *call, uint32_t calls, uint32_t *nsteps);

void arrivals_init(struct arrivals *a);
void arrivals_release(struct arrivals *a);

#endif
