/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The time of each process in the functions that are regions of the program. A thread that is in a region several times (recursion) is in
 * it once: times are those of the outermost call; of regions in one another each has all of its own time.
 */
#ifndef POV_ANALYSIS_REGIONS_H
#define POV_ANALYSIS_REGIONS_H

#include "model/model.h"

struct region_row {
	uint64_t calls;
	uint64_t nested;	/* of these, from within a call of the same */
	uint64_t open, unwound; /* of these, did not return */
	uint64_t wall_ns;	/* over threads */
	struct state_times split;
	uint64_t mpi_ns; /* of wall_ns: in outermost MPI calls and empty polls that lie in it */
};

struct regions {
	struct model_sink sink;
	uint32_t nregion;
	struct region_row *row; /* by process index × nregion + region; owned */
	uint32_t nrow;		/* allocated */
	uint64_t **
		thread_since; /* by thread index: by region, when its outermost call began; 0: not in it; owned */
	uint32_t nthread; /* allocated */
};

void regions_init(struct regions *a);
void regions_release(struct regions *a);
/* Over those wanted, by index, of n processes; how many of these were in it. */
uint32_t regions_sum(const struct regions *a, uint32_t region, const bool *wanted, uint32_t n,
		     struct region_row *out);

#endif
