/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The CPUs that each rank was given: those that its first thread was allowed to use when it began
 * to use MPI. Later changes are the program's own doing. If two ranks were given no CPU in common
 * and yet share one, they moved there themselves.
 */
#ifndef POV_ANALYSIS_ALLOTTED_H
#define POV_ANALYSIS_ALLOTTED_H

#include "analysis/windows.h"
#include "model/model.h"

struct allotted {
	struct model_sink sink;
	const struct windows *windows; /* the caller's */
	struct model_mask *process;    /* by idx; all zeros if unknown; owned */
	uint32_t nprocess;
};

/* The sink of windows must run before this one. */
void allotted_init(struct allotted *g, const struct windows *windows);
void allotted_release(struct allotted *g);
/* True if both were given CPUs and have none in common. */
bool allotted_apart(const struct allotted *g, const struct model_process *p,
		    const struct model_process *q);
/*
 * How many cores each rank of a job can have for itself, on the host where that is least. 0: a job
 * has more ranks on a host than the host has cores.
 */
uint32_t allotted_cores_each(const struct model *m);

#endif
