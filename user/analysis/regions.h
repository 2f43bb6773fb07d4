/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Time of each process in the functions that are regions of the program. A thread that is in a
 * region several times (recursion) counts once: times are those of the outermost call. Nested
 * regions each have all of their own time.
 */
#ifndef POV_ANALYSIS_REGIONS_H
#define POV_ANALYSIS_REGIONS_H

#include "lib/map.h"
#include "model/model.h"

/*
 * The phase of the program that a thread was in at a moment: the innermost phase that it has open
 * itself. A thread that never has a phase gets that of the thread in its process that changed its
 * phase last. A phase has a level; a begin or end at a level ends all finer phases. Queries may
 * come a little late, as calls are reported when they are over: the last changes of each process
 * are kept.
 */

struct phases {
	struct names *names;		 /* texts of the phases; the caller's */
	struct process_phases **process; /* by process idx, NULL: no phases were marked; owned */
	uint32_t nprocess;		 /* allocated */
	struct thread_phases *thread;	 /* by thread idx; owned */
	uint32_t nthread;		 /* allocated */
};

void phases_init(struct phases *a, struct names *names);
void phases_release(struct phases *a);
/* distinguished levels; finer phases count as part of coarser ones */
#define PHASE_LEVELS 16

/*
 * Begins a phase whose name is a number in `names`. 0: ends the phase that is open at this level.
 */
void phases_set(struct phases *a, const struct model_thread *t, uint64_t ts_ns, uint32_t level,
		uint32_t name);
/* Number of the phase in `names`. 0: none was open. "?" if the change is no longer kept. */
uint32_t phases_at(struct phases *a, const struct model_thread *t, uint64_t ts_ns);

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
