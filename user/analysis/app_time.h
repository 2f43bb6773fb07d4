/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Splits each thread's time while its process used MPI (windows.h), without the startup and
 * shutdown of the library. If the begin of MPI was not seen, the time counts from the thread's
 * start; if the process does not finalize, it counts to the thread's end.
 *
 * Only outermost calls count as time in MPI. Running is waiting in a call that waits
 * (func_info.waits) and in a poll that found nothing; sleeping is waiting in any call. Time between
 * polls is waiting too, unless the polls lie in a computation (model_spin.computes).
 *
 * Tracing overhead is separate and in none of the other times. It has three parts:
 *	- recording calls and context switches: their number times the measured cost. Polls that
 *	  found nothing are left out, as they would have waited anyway, unless they lie in a
 *	  computation;
 *	- waiting for room to record;
 *	- the core, while povtrace had it and the thread wanted it.
 */
#ifndef POV_ANALYSIS_APP_TIME_H
#define POV_ANALYSIS_APP_TIME_H

#include "analysis/holders.h"
#include "analysis/windows.h"

struct coverage;

struct app_thread {
	/* points in time; both 0: the thread did not live in the window */
	uint64_t from_ns, to_ns;
	/* All members below are sums in ns. */
	/* to_ns - from_ns; the sum of the members from compute_ns to tracing_ns */
	uint64_t window_ns;
	uint64_t compute_ns; /* running outside MPI */
	/* running in calls that do not wait, except those about files */
	uint64_t work_ns;
	/*
	 * running in calls that wait and in polls that found nothing; asleep in any call except
	 * those about files
	 */
	uint64_t wait_ns;
	uint64_t io_ns;	     /* running or asleep in calls about files */
	uint64_t no_core_ns; /* runnable, in MPI or not */
	uint64_t asleep_ns;  /* blocked outside MPI */
	uint64_t unknown_ns;
	/* recording_ns + room_ns + taken_ns, at most the times that they are subtracted from */
	uint64_t tracing_ns;
	uint64_t recording_ns, room_ns, taken_ns;
	uint64_t switches_ns;	 /* part of recording_ns: recording context switches */
	double recorded_ns;	 /* recording_ns before it is limited */
	uint64_t mpi_no_core_ns; /* part of no_core_ns: in calls */
	/* Parts of unknown_ns: in calls that wait, in other calls, and in calls about files. */
	uint64_t unknown_wait_ns, unknown_work_ns, unknown_io_ns;
	/* in calls that had not returned at the end, without the time that lacked a core */
	uint64_t open_ns;
	/* in calls and in polls that found nothing, whatever the thread's state */
	uint64_t mpi_ns;
	uint64_t calls; /* calls and polls */
	/*
	 * Time in runs of polls that found nothing (part of wait_ns and unknown_wait_ns), and the
	 * number of these polls.
	 */
	uint64_t polling_ns, polls;
	/* part of compute_ns: between polls that found nothing; the number of these polls */
	uint64_t between_ns, polls_between;
};

/* Activity of a thread up to a moment, or between two moments. */
struct app_sums {
	struct state_times life;
	/* in calls; wait also holds the running time of polls */
	struct state_times wait, work, io;
	/* cost of recording outermost calls, calls inside other calls, and context switches */
	double outer_ns, inner_ns, switch_ns;
	uint64_t room_ns, taken_ns;
};

/* A stretch's start and the thread's sums at that time. */
struct app_entry {
	uint64_t ts_ns;
	struct app_sums sums;
};

struct app_process {
	/*
	 * idx of the thread that called MPI_Init; else of the one with most calls (on a tie, the
	 * process's first thread)
	 */
	uint32_t main;
	bool has_main;
	/* durations of MPI_Init and MPI_Finalize; 0: not seen */
	uint64_t init_ns, finalize_ns;
	uint64_t in_mpi_ns; /* sum over all threads of work_ns and wait_ns */
	/* sum over all threads: in calls that had not returned at the end, without no_core_ns */
	uint64_t open_ns;
	uint64_t computed_ns; /* sum over all threads of compute_ns */
};

struct app_time {
	struct model_sink sink;
	struct app_thread *thread; /* by thread idx; owned; complete after the replay */
	struct app_process *process;
	uint32_t nthread, nprocess; /* allocated */
	struct windows windows;
	/* records are missing: calls that were not seen would count as computing */
	bool lost;
	const struct model *model;
	/* what recording costs; the caller's, or NULL: recording costs nothing */
	const struct coverage *coverage;
	/* who held the core during no_core_ns, except povtrace; see held_add */
	struct map held;
	/* state of each thread during the replay, by idx of threads */
	struct app_mark *mark;
	uint32_t nmark;
};

/* Observes the holders to learn who had the core. */
void app_time_init(struct app_time *a, struct holders *holders);
void app_time_release(struct app_time *a);

/*
 * Measures a stretch of a thread. Call app_time_enter where the stretch begins and app_time_leave
 * where it ends, when the replay has reached these moments. Adds to *sums what the thread did in
 * the stretch while its process used MPI.
 */
void app_time_enter(const struct app_time *a, const struct model_thread *t, uint64_t ts_ns,
		    struct app_entry *out);
void app_time_leave(const struct app_time *a, const struct model_thread *t,
		    const struct app_entry *entry, uint64_t ts_ns, struct app_sums *sums);
/* Converts sums to the times of a thread. The times after window_ns add up to window_ns. */
struct app_thread app_time_of(const struct app_sums *sums, uint64_t window_ns);

#endif
