/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Who held the lock of a window at a target that another origin waited for (MPI_Win_lock, MPI_Win_lock_all). Calls do not say when a
 * lock is acquired: some libraries do it in MPI_Win_lock, some only there where the target is the process itself, and with the first flush
 * or unlock where it is another one; of MPI_Win_lock_all also with the first access to each target. If one of two locks of different
 * processes at one target is exclusive, and a call of one returns only when the other one has begun to unlock, then it is certain that the
 * call waited
 *
 *	from when the other one had flushed an access: that cannot be done without the lock;
 *	from when the other one's MPI_Win_lock had returned, if that one is the target itself, or if the call is MPI_Win_lock, too, and of a process
 *	that is not the target: this library acquires locks of other processes there.
 *
 * What only looks like it is counted, and not blamed on anybody. Where several shared ones are held, a moment is shared among their holders.
 *
 * After M.-A. Hermanns, M. Geimer, B. Mohr, F. Wolf: Trace-Based Detection of Lock Contention in MPI One-Sided Communication (Tools for High
 * Performance Computing 2016).
 */
#ifndef POV_ANALYSIS_LOCKS_H
#define POV_ANALYSIS_LOCKS_H

#include "analysis/epochs.h"

struct locks {
	struct model_sink sink;
	struct epochs *epochs; /* which it tells */
	const struct model *model;
	struct map windows; /* communicator, number → struct lock_window */
};

void locks_init(struct locks *a, struct epochs *epochs);
void locks_release(struct locks *a);

#endif
