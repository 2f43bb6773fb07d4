/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Estimates how much shorter the run would be if it were not traced, in two ways. Each is a lower
 * bound, so the larger one counts.
 *
 * The first replays the recording (whatif.h) without the time that tracing took from each thread
 * while its process used MPI: recording calls, waiting for room, and cores that povtrace had. So it
 * includes the time that ranks waited for other ranks' tracing, or for a core of such a rank. It
 * replays a part of the recording at a time, so its memory is bounded. A message with its ends in
 * different parts saves nothing.
 *
 * The second assumes that, while a thread waits for a core, any time that tracing takes of the
 * ranks' cores delays some thread. So the run is longer by this time divided by the number of these
 * cores. Unlike the replay, it does not need to know which thread would have had the core.
 */
#ifndef POV_ANALYSIS_UNTRACED_H
#define POV_ANALYSIS_UNTRACED_H

#include "analysis/account.h"
#include "analysis/app_time.h"
#include "analysis/coverage.h"
#include "analysis/whatif.h"
#include "lib/distortion.h"

struct untraced_thread;

struct untraced {
	struct model_sink sink;
	struct whatif *whatif; /* recording of the current part; owned */
	const struct app_time *app;
	const struct model *model;
	struct untraced_thread *thread; /* by thread idx; owned */
	uint32_t nthread;
	/* tracing cost of the current part that belongs to no single call; owned */
	struct whatif_spared *other;
	uint32_t nother, other_room;
	/* CPUs on which ranks' threads ran while they used MPI; by number; owned */
	bool *cpu_used;
	uint32_t ncpu, cpus_used;
	/* running time of povtrace's threads while ranks used MPI */
	uint64_t recorder_ns;
	const struct model_process *in_mpi; /* the rank that was last seen to use MPI */
	uint64_t calls;			    /* number of calls in the current part */
	uint64_t begun_ns;		    /* begin of the current part */
	/* The result: the saving of the job that would gain the largest share of its time. */
	uint64_t gain_ns;
	/* gain_ns as a share of the job's time between MPI_Init and MPI_Finalize */
	double share;
	double cores_share; /* second estimate, as a share of the time in which ranks used MPI */
};

/*
 * Observes the analyses of matches, of collectives and of cores. app must outlive u. app's sink
 * must run before this one.
 */
void untraced_init(struct untraced *u, const struct app_time *app, struct late_pairs *late,
		   struct arrivals *arrivals, struct holders *holders);
void untraced_release(struct untraced *u);

/*
 * Finds whether tracing distorted a recording: the share of the run, and the time that it took from
 * each rank's main thread, as a share of the account's total for that rank: a rank that called
 * MPI_Finalize at once has lost little, though all of its own short time. Call after the replay.
 * Returns the process that lost most. NULL: none, or the cost is unknown.
 */
const struct model_process *distorted_find(const struct coverage *a, const struct untraced *u,
					   const struct account *account, const struct model *m,
					   struct distortion *out);

#endif
