/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The core's point of view: which process each CPU ran for how long. The parts of a CPU (ranks, other
 * targets, other tasks, idle, unknown) add up to the recording's wall time.
 */
#ifndef POV_ANALYSIS_CORES_H
#define POV_ANALYSIS_CORES_H

#include "model/model.h"

struct core_row {
	bool seen; /* named by the host's description or by a record */
	/* Sums from here on: */
	uint64_t rank_ns;   /* any rank of any job */
	uint64_t target_ns; /* other recorded processes: launchers, helpers */
	uint64_t other_ns;  /* tasks that were not recorded on purpose */
	uint64_t idle_ns;
	uint64_t unknown_ns; /* nothing is known to have run, nor that nothing did */
	uint64_t switches;
};

struct core_share {
	uint64_t *ns; /* by CPU; owned */
	uint32_t n;
};

struct cores {
	struct model_sink sink;
	struct core_row *core;	    /* by CPU; owned; complete after the replay */
	uint32_t ncore;		    /* allocated; rows with seen are real */
	struct core_share *process; /* running time by process's idx; owned */
	uint32_t nprocess;	    /* allocated */
	uint64_t wall_ns;
};

void cores_init(struct cores *a);
void cores_release(struct cores *a);
/* Time a process ran on a CPU. */
uint64_t cores_share_ns(const struct cores *a, uint32_t process_idx, uint32_t cpu);

#endif
