/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Time of each process in the functions that are regions of the program. A thread that is in a
 * region several times (recursion) counts once: times are those of the outermost call. Nested
 * regions each have all of their own time.
 */
#ifndef POV_ANALYSIS_REGIONS_H
#define POV_ANALYSIS_REGIONS_H

#include "model/model.h"

struct region_row {
	uint64_t calls;
	/* part of calls: made inside a call of the same region */
	uint64_t nested;
	uint64_t open, unwound; /* part of calls: did not return */
	uint64_t wall_ns;	/* sum over threads */
	struct state_times split;
	/* part of wall_ns: in outermost MPI calls and empty polls inside the region */
	uint64_t mpi_ns;
};

struct regions {
	struct model_sink sink;
	uint32_t nregion;
	struct region_row *row; /* by process idx × nregion + region; owned */
	uint32_t nrow;		/* allocated */
	/*
	 * By thread idx, then by region: begin of its outermost call. 0: not in the region. Owned.
	 */
	uint64_t **thread_since;
	uint32_t nthread; /* allocated */
};

void regions_init(struct regions *a);
void regions_release(struct regions *a);
/*
 * Sums over the wanted processes (by idx, n of them). Returns how many of them were in the region.
 */
uint32_t regions_sum(const struct regions *a, uint32_t region, const bool *wanted, uint32_t n,
		     struct region_row *out);

#endif
