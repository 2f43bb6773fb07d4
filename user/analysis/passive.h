/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Waits in passive-target synchronisation (MPI_Win_lock, _unlock, _flush, and their _all and
 * _local) for a target that was outside MPI. Some libraries carry out accesses only while the
 * target is in MPI calls. A call certainly waited for that if
 *
 *	- the target was outside MPI with all its threads, from some moment of the call on, and
 *	- the target called MPI during the call, and the call returned soon after that: within a
 *	  tenth of the waiting, or within PASSIVE_SOON_NS.
 *
 * For a call that covers all targets, the accessed target that called MPI last counts. Windows that
 * several processes lock, one of them exclusively, are left to locks.h. Waits are reported through
 * epochs.h.
 */
#ifndef POV_ANALYSIS_PASSIVE_H
#define POV_ANALYSIS_PASSIVE_H

#include "analysis/epochs.h"

#define PASSIVE_SOON_NS 20000
#define PASSIVE_CALLS_KEPT 64 /* last calls kept of each process */
/*
 * Pending calls: their targets may still be in calls that began before the pending calls returned.
 */
#define PASSIVE_WAITING_MAX 256
/* Targets kept per process and window. With more targets, calls for all targets are ignored. */
#define PASSIVE_ACCESSED_MAX 64

struct passive {
	struct model_sink sink;
	struct epochs *epochs; /* the analysis that waits are reported to */
	const struct model *model;
	struct passive_process *process; /* by idx; owned */
	uint32_t nprocess;
	struct map windows;	       /* epoch_window_key → struct passive_window */
	struct passive_call **waiting; /* owned; PASSIVE_WAITING_MAX */
	uint32_t nwaiting;
	bool lost; /* records of calls were lost */
};

void passive_init(struct passive *a, struct epochs *epochs);
void passive_release(struct passive *a);

#endif
