/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Where threads' time went while their processes use MPI (windows.h): what a program does by itself, without the time in which the
 * library is started and ended. Of a process of which the begin was not seen it counts from the thread's start; of one that does not
 * finalize, to its end.
 *
 * Of the time in MPI only outermost calls count. A call that waits (func_info.waits), or a poll that found nothing, is waiting while it
 * runs; whoever sleeps in any call waits. What runs between polls is waiting, too, unless they lie in a computation (model_spin.computes).
 *
 * What tracing took is apart, and in none of these: recording calls (their number times what that was measured to cost; not of polls that found
 * nothing, which would have waited anyway, unless they lie in a computation), waiting for room to record, and the core while povtrace had it and the thread wanted it.
 */
#ifndef POV_ANALYSIS_APP_TIME_H
#define POV_ANALYSIS_APP_TIME_H

#include "analysis/holders.h"
#include "analysis/windows.h"

struct coverage;

struct app_thread {
	uint64_t from_ns, to_ns; /* moments; from = to = 0: it was not there then */
	/* All that follow are sums, ns. */
	uint64_t window_ns;  /* to - from = compute … tracing */
	uint64_t compute_ns; /* running outside MPI */
	uint64_t work_ns;    /* running in other calls that do not wait */
	uint64_t wait_ns; /* running in calls that wait and in polls that found nothing, asleep in any other call */
	uint64_t io_ns;	     /* running or asleep in calls about files */
	uint64_t no_core_ns; /* runnable, in MPI or not */
	uint64_t asleep_ns;  /* blocked outside MPI */
	uint64_t unknown_ns;
	uint64_t tracing_ns; /* = recording + room + taken, as far as their kind of time is there */
	uint64_t recording_ns, room_ns, taken_ns;
	uint64_t mpi_no_core_ns; /* part of no_core_ns: in calls */
	/* Parts of unknown_ns: in calls that wait, in others, in calls about files. */
	uint64_t unknown_wait_ns, unknown_work_ns, unknown_io_ns;
	uint64_t open_ns; /* in calls that had not returned at the end, but for no core */
	uint64_t mpi_ns; /* in calls, and in polls that found nothing: whatever the scheduler tells */
	uint64_t calls; /* and polls */
};

/* What a thread did up to a moment, or between two. */
struct app_sums {
	struct state_times life;
	struct state_times wait, work, io; /* in calls; running of polls is in wait */
	double outer_ns, inner_ns; /* recording calls that lie in no other one, and in others */
	uint64_t room_ns, taken_ns;
};

/* Where a stretch of a thread begins. */
struct app_entry {
	uint64_t ts_ns;
	struct app_sums sums;
};

struct app_process {
	uint32_t main; /* idx of the thread that called MPI_Init; else of the one with most calls, or of the process */
	bool has_main;
	uint64_t init_ns, finalize_ns; /* durations of these calls; 0: not seen */
	uint64_t in_mpi_ns;	       /* of all threads: work_ns and wait_ns */
	uint64_t open_ns; /* of all threads: in calls that had not returned at the end, but for no_core_ns */
	uint64_t computed_ns; /* of all threads: compute_ns */
};

struct app_time {
	struct model_sink sink;
	struct app_thread *thread; /* by idx; owned; complete after the replay */
	struct app_process *process;
	uint32_t nthread, nprocess; /* allocated */
	struct windows windows;
	bool lost; /* records are missing: calls that were not seen would be computing */
	const struct model *model;
	const struct coverage
		*coverage; /* what recording costs; the caller's, or NULL: it counts as nothing */
	struct map held;   /* of held_add, without povtrace: no_core_ns */
	struct app_mark *mark; /* by idx of threads: under way */
	uint32_t nmark;
	/* Who was told by the holders before. */
	void (*held_tell)(void *ctx, const struct model_thread *waiter,
			  const struct model_thread *holder, uint64_t from_ns, uint64_t to_ns);
	void *held_ctx;
};

/* Has the holders tell it who had the core. */
void app_time_init(struct app_time *a, struct holders *holders);
void app_time_release(struct app_time *a);

/*
 * A stretch of a thread, at moments that the replay has come to: where it begins, and where it ends. Adds to *sums what the thread did in it while
 * its process used MPI.
 */
void app_time_enter(const struct app_time *a, const struct model_thread *t, uint64_t ts_ns,
		    struct app_entry *out);
void app_time_leave(const struct app_time *a, const struct model_thread *t,
		    const struct app_entry *entry, uint64_t ts_ns, struct app_sums *sums);
/* The same as of a thread: its times, from window_ns to unknown_io_ns, add up to window_ns. */
struct app_thread app_time_of(const struct app_sums *sums, uint64_t window_ns);

#endif
