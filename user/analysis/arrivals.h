/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Who came last to collective calls that block, and how long others were in them by then. The n-th collective call of each member of a
 * communicator belongs together, as MPI demands the same order of all. A member has waited for the last one from its own begin to the
 * begin of the last call, or to its own end, if it could leave before (a reduction's leaf, a broadcast's root).
 */
#ifndef POV_ANALYSIS_ARRIVALS_H
#define POV_ANALYSIS_ARRIVALS_H

#include "base/map.h"
#include "model/model.h"

/* One call of all members together, of which one came last. */
struct arrival {
	const struct model_thread *last;
	const struct func_info *func; /* of the last one */
	uint64_t begin_ns;	      /* of the last one's call */
	uint64_t late_ns;	      /* behind the last but one */
	uint64_t waited_ns;	      /* of all others together */
	uint64_t site_offset;	      /* of the last one's call, in … */
	const char *site_module;      /* … this file; NULL: not known */
	uint32_t members;
};

/* Of a process: the calls to which it came last. */
struct arrival_row {
	uint64_t calls;	      /* of all members together that it took part in */
	uint64_t last;	      /* of these, to which it came last */
	uint64_t waited_ns;   /* of all others, for it */
	uint64_t waiting_ns;  /* its own, for others */
	struct arrival worst; /* by waited_ns, of those to which it came last */
};

struct arrivals {
	struct model_sink sink;
	struct map comms;	     /* comm_id → struct arrival_comm */
	struct arrival_row *process; /* by idx; owned */
	uint32_t nprocess;
	uint64_t complete;   /* calls of all members together */
	uint64_t incomplete; /* of which not all members' were seen */
};

#define ARRIVALS_KEPT_MAX 1024 /* of a communicator, that wait for members */

void arrivals_init(struct arrivals *a);
void arrivals_release(struct arrivals *a);

#endif
