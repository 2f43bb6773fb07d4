/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Finds who held the lock of a window at a target while another origin waited for it (MPI_Win_lock,
 * MPI_Win_lock_all). Calls do not show when a lock is acquired. Some libraries acquire it in
 * MPI_Win_lock. Others do that only if the target is the process itself; for another target they
 * acquire it with the first flush or unlock. MPI_Win_lock_all may also acquire it with the first
 * access to each target.
 *
 * Take two locks of different processes at one target, one of them exclusive, where a call of one
 * returns only after the other has begun to unlock. Then the call certainly waited
 *
 *	from when the other process had flushed an access, which cannot be done without the lock;
 *	from when the other process's MPI_Win_lock had returned, if that process is the target. The
 *	same holds if the call is MPI_Win_lock too, and its process is not the target: this library
 *	acquires locks of other processes there.
 *
 * Cases that only look like a wait are counted and blamed on no process. If several shared locks
 * are held, a moment is shared among their holders.
 *
 * After M.-A. Hermanns, M. Geimer, B. Mohr, F. Wolf: Trace-Based Detection of Lock Contention in
 * MPI One-Sided Communication (Tools for High Performance Computing 2016).
 */
#ifndef POV_ANALYSIS_LOCKS_H
#define POV_ANALYSIS_LOCKS_H

#include "analysis/epochs.h"

struct locks {
	struct model_sink sink;
	struct epochs *epochs; /* the analysis that waits are reported to */
	const struct model *model;
	struct map windows; /* communicator, number → struct lock_window */
};

void locks_init(struct locks *a, struct epochs *epochs);
void locks_release(struct locks *a);

#endif
