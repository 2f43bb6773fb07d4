/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Who waited in passive-target synchronisation (MPI_Win_lock, _unlock, _flush, and their _all and _local) for a target that was outside
 * MPI: some libraries carry out accesses only while the target calls them. It is certain that a call waited for that if
 *
 *	the target was outside MPI from some moment of the call on, with all its threads;
 *	it called MPI while the call was under way, and the call returned soon after: within a tenth of the waiting, or PASSIVE_SOON_NS.
 *
 * Of a call for all targets, the accessed target that called MPI last counts. Windows that several processes lock, one of them
 * exclusively, are left to locks.h. Waits are told to epochs.h.
 */
#ifndef POV_ANALYSIS_PASSIVE_H
#define POV_ANALYSIS_PASSIVE_H

#include "analysis/epochs.h"

#define PASSIVE_SOON_NS 20000
#define PASSIVE_CALLS_KEPT 64 /* of each process, the last ones */
#define PASSIVE_WAITING_MAX \
	256 /* calls whose targets may still be in calls that began before they returned */
#define PASSIVE_ACCESSED_MAX \
	64 /* targets of a process and window; of more, calls for all targets are not looked at */

struct passive {
	struct model_sink sink;
	struct epochs *epochs; /* which it tells */
	const struct model *model;
	struct passive_process *process; /* by idx; owned */
	uint32_t nprocess;
	struct map windows;	       /* epoch_window_key → struct passive_window */
	struct passive_call **waiting; /* owned; PASSIVE_WAITING_MAX */
	uint32_t nwaiting;
	bool lost; /* records of calls */
};

void passive_init(struct passive *a, struct epochs *epochs);
void passive_release(struct passive *a);

#endif
