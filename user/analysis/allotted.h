/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The CPUs that ranks were given: those that a rank's first thread might use when it began to use MPI. What is set later is the
 * program's own doing: ranks that were given no CPU in common, and yet share one, have moved there themselves.
 */
#ifndef POV_ANALYSIS_ALLOTTED_H
#define POV_ANALYSIS_ALLOTTED_H

#include "analysis/windows.h"
#include "model/model.h"

struct allotted {
	struct model_sink sink;
	const struct windows *windows; /* the caller's */
	struct model_mask *process;    /* by idx; zeros: not known; owned */
	uint32_t nprocess;
};

/* windows are to be told first. */
void allotted_init(struct allotted *g, const struct windows *windows);
void allotted_release(struct allotted *g);
/* They were given CPUs, and none in common. */
bool allotted_apart(const struct allotted *g, const struct model_process *p,
		    const struct model_process *q);
/* How many cores each rank of a job can have for itself, where that is least; 0: a job has more ranks on a host than that has cores. */
uint32_t allotted_cores_each(const struct model *m);

#endif
