/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * How many threads of ranks wanted CPUs at once, against the CPUs that they may use. Of each mask that threads have, and of all masks of a
 * host together: as long as threads that may use no other CPU run on all of it, and more of them are runnable, it is
 * oversubscribed, and those lose that time to each other. Threads count while their process uses MPI (windows.h), and in MPI_Finalize.
 */
#ifndef POV_ANALYSIS_DEMAND_H
#define POV_ANALYSIS_DEMAND_H

#include "analysis/windows.h"

#define DEMAND_MASKS_MAX 1024 /* of more, the others are not looked at */

struct demand_mask {
	struct model_mask cpus;
	uint32_t host_idx;
	bool all;	    /* the union of its host's */
	uint32_t nr;	    /* CPUs in it */
	uint32_t now, most; /* threads that want one of them … */
	uint32_t runs;	    /* … and have one */
	uint64_t since_ns;
	uint64_t ran_ns;  /* what they have run, at most on all of its CPUs at once */
	uint64_t over_ns; /* it was oversubscribed for so long … */
	uint64_t lost_ns; /* … those that were runnable lost so much, added up … */
	uint64_t want_ns; /* … and all wanted so much */
	uint64_t worst_ns, worst_from_ns, over_since_ns; /* the longest time without a break */
	uint32_t *within; /* masks that this one is within, itself among them; owned */
	uint32_t nwithin;
};

struct demand_thread;

struct demand {
	struct model_sink sink;
	struct demand_mask *mask; /* owned */
	uint32_t nmask;
	struct demand_thread *thread; /* by idx; owned */
	uint32_t nthread;
	const struct windows *windows;
	const struct model *model;
	bool *counts; /* by idx of processes; owned */
	uint32_t nprocess;
};

/* windows: of a sink that is told before this one. */
void demand_init(struct demand *a, const struct windows *windows);
void demand_release(struct demand *a);
bool demand_within(const struct demand_mask *inner, const struct demand_mask *outer);
/* The last one that a thread had; NULL: not known. */
const struct demand_mask *demand_mask_of(const struct demand *a, const struct model_thread *t);
/* How long a thread was among those of a mask of its own that wanted more than it has; 0 if it never had this one. */
uint64_t demand_of_thread(const struct demand *a, const struct model_thread *t, uint32_t mask);

#endif
