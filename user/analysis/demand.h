/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Compares how many threads of ranks wanted CPUs at once with the CPUs that they may use. This is
 * kept for each affinity mask that threads have, and for the union of each host's masks. A mask is
 * oversubscribed while all of its CPUs run threads that may use no other CPU, and more such threads
 * are runnable. These threads lose that time to each other. Threads count while their process uses
 * MPI (windows.h), and in MPI_Finalize.
 */
#ifndef POV_ANALYSIS_DEMAND_H
#define POV_ANALYSIS_DEMAND_H

#include "analysis/windows.h"

/* masks that are looked at; further ones are ignored */
#define DEMAND_MASKS_MAX 1024

struct demand_mask {
	struct model_mask cpus;
	uint32_t host_idx;
	bool all;    /* the union of its host's masks */
	uint32_t nr; /* number of CPUs in the mask */
	/* threads that want one of the CPUs: now, and at most so far */
	uint32_t now, most;
	uint32_t runs; /* threads that run on one of the CPUs now */
	uint64_t since_ns;
	/* running time of the threads, at most on all CPUs at once */
	uint64_t ran_ns;
	uint64_t over_ns; /* how long the mask was oversubscribed */
	/* total time that runnable threads lost while it was oversubscribed */
	uint64_t lost_ns;
	/* total time that threads wanted while it was oversubscribed */
	uint64_t want_ns;
	/* The longest oversubscription without a break. */
	uint64_t worst_ns, worst_from_ns, over_since_ns;
	/* indexes of the masks that contain this one, itself included; owned */
	uint32_t *within;
	uint32_t nwithin;
};

struct demand_thread;

struct demand {
	struct model_sink sink;
	struct demand_mask *mask; /* owned */
	uint32_t nmask;
	struct demand_thread *thread; /* by thread idx; owned */
	uint32_t nthread;
	const struct windows *windows;
	const struct model *model;
	bool *counts; /* by idx of processes; owned */
	uint32_t nprocess;
};

/* The sink of windows must run before this one. */
void demand_init(struct demand *a, const struct windows *windows);
void demand_release(struct demand *a);
/* The last mask that a thread had; NULL: unknown. */
const struct demand_mask *demand_mask_of(const struct demand *a, const struct model_thread *t);
/*
 * How long (ns) a thread wanted a CPU while its last mask was oversubscribed. 0 if `mask` is not
 * its last one.
 */
uint64_t demand_of_thread(const struct demand *a, const struct model_thread *t, uint32_t mask);

#endif
