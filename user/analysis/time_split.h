/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Splits the time of each thread and process.
 *
 * MPI time is that of outermost calls, from entry to return, plus the own durations of the polls
 * merged into spins. Polling means running inside a call that waits, or inside a poll that found
 * nothing. A process's row is the sum over its threads; its wall time is its life within the
 * recording.
 */
#ifndef POV_ANALYSIS_TIME_SPLIT_H
#define POV_ANALYSIS_TIME_SPLIT_H

#include "model/model.h"

/*
 * Splits the time of merged polls. From the entry of the first poll to the return of the last, a
 * thread is in one of three places. It is in the library, in the overhead that recording adds to
 * each poll, or in between: in its own code, or off the CPU. Reports and timelines both use this
 * split, so that they agree.
 */

struct poll_times {
	uint64_t polls, runs;
	uint64_t span_ns;   /* sum of the other times */
	uint64_t inside_ns; /* the polls' own durations */
	/* polls × calibrated cost, at most span_ns - inside_ns */
	uint64_t probes_ns;
	/* the rest; it includes the probes if their cost is unknown */
	uint64_t between_ns;
};

struct poll_times poll_times_of(const struct model_spin *s, const struct poll_cost *cost);

/*
 * How often threads left their CPU and migrated, counted as the kernel does: after a voluntary
 * switch the thread sleeps; after an involuntary one it is still runnable (preempted, or it
 * yielded).
 */
struct switch_row {
	uint64_t switches; /* voluntary + involuntary */
	uint64_t voluntary, involuntary;
	uint64_t migrations;
	uint64_t wakeups; /* wake-ups of its threads */
};

struct time_row {
	uint64_t wall_ns;	 /* length of its life */
	uint64_t waits_until_ns; /* internal: end of the current waiting call */
	uint64_t walls_ns;	 /* sum of wall_ns when rows are added up */
	/* sum of the threads' lives; also the sum of times */
	uint64_t thread_ns;
	uint64_t threads;
	struct state_times times;
	uint64_t calls;		/* outermost calls, without merged polls */
	uint64_t open_calls;	/* part of calls: had not returned */
	uint64_t unwound_calls; /* part of calls: left without returning */
	uint64_t nested_calls;
	/* polls that found nothing and were merged into spins */
	uint64_t polls;
	uint64_t spins;
	/* outermost calls that were counted but not recorded individually */
	uint64_t counted;
	uint64_t call_ns, spin_ns, counted_ns;
	uint64_t mpi_ns;	       /* call_ns + spin_ns + counted_ns */
	struct state_times call_split; /* states of the threads during call_ns */
	uint64_t polling_ns;
	struct poll_times poll; /* times of the spins; its inside_ns is spin_ns */
	struct switch_row switches;
};

struct time_split {
	struct model_sink sink;
	/* by process idx, and by thread idx; owned; complete after the replay */
	struct time_row *process, *thread;
	uint32_t nprocess, nthread; /* allocated */
	struct poll_cost poll_cost;
};

/* Adds up all sums; wall_ns becomes the longest one. */
void time_row_add(struct time_row *to, const struct time_row *from);

void time_split_init(struct time_split *a);
void time_split_release(struct time_split *a);

#endif
