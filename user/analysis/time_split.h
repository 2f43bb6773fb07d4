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

#include "analysis/polls.h"
#include "model/model.h"

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
};

struct time_split {
	struct model_sink sink;
	struct time_row *process, *thread; /* by idx; owned; complete after the replay */
	uint32_t nprocess, nthread;	   /* allocated */
	struct poll_cost poll_cost;
};

/* Adds up all sums; wall_ns becomes the longest one. */
void time_row_add(struct time_row *to, const struct time_row *from);

void time_split_init(struct time_split *a);
void time_split_release(struct time_split *a);

#endif
