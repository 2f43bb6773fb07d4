/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Estimates how much shorter the run would be if it were not traced, in two ways. Each is a lower
 * bound, so the larger one counts.
 *
 * It replays the recording (whatif.h) without the time that tracing took from each thread while its
 * process used MPI: recording calls, waiting for room, and cores that povtrace had. So it includes
 * what ranks lost because they waited for ranks that were being traced, or for a core that such a
 * rank had. It replays a part of the recording at a time, so its memory is bounded. A message whose
 * ends are in different parts makes nobody earlier.
 *
 * While a thread waits for a core, all time that tracing has of the ranks' cores is missing to
 * somebody. So the run is longer by this time, divided by the number of these cores. Which thread
 * would have had a core instead need not be known, as the replay would have to.
 */
#ifndef POV_ANALYSIS_UNTRACED_H
#define POV_ANALYSIS_UNTRACED_H

#include "analysis/app_time.h"
#include "analysis/coverage.h"
#include "analysis/whatif.h"
#include "lib/distortion.h"

struct untraced_thread;

struct untraced {
	struct model_sink sink;
	struct whatif *whatif; /* of the current part; owned */
	const struct app_time *app;
	const struct model *model;
	struct untraced_thread *thread; /* by idx; owned */
	uint32_t nthread;
	/* tracing of the current part that no single call has; owned */
	struct whatif_spared *other;
	uint32_t nother, other_room;
	/* CPUs on which ranks' threads ran while they used MPI; by number; owned */
	bool *cpu_used;
	uint32_t ncpu, cpus_used;
	uint64_t recorder_ns;		    /* running time of povtrace's threads meanwhile */
	const struct model_process *in_mpi; /* the rank that was last seen to use MPI */
	uint64_t calls;			    /* of the current part */
	uint64_t begun_ns;		    /* when it began */
	/* The result: how much shorter the job would be that would gain the largest share. */
	uint64_t gain_ns;
	double share;	    /* of that job's time from MPI_Init to MPI_Finalize */
	double cores_share; /* the second estimate, of the time in which ranks used MPI */
};

/*
 * Observes the analyses of matches, of collectives and of cores. app must outlive u. Its sink comes
 * before this one.
 */
void untraced_init(struct untraced *u, const struct app_time *app, struct late_pairs *late,
		   struct arrivals *arrivals, struct holders *holders);
void untraced_release(struct untraced *u);

/*
 * Finds whether tracing distorted a recording: the share of the run, and the time that it took from
 * each rank's main thread between MPI_Init and MPI_Finalize (app_time.h). Call after the replay.
 * Returns the process that lost most. NULL: none, or the cost is unknown.
 */
const struct model_process *distorted_find(const struct coverage *a, const struct untraced *u,
					   const struct model *m, struct distortion *out);

#endif
