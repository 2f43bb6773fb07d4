/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Where the time of each thread and process went.
 *
 * MPI time: outermost calls from entry to return, and the polls merged into spins by the sum of their own
 * durations. Polling: running inside a call that waits, or inside a poll that found nothing. A process's
 * row is the sum over its threads; its wall is its life within the recording.
 */
#ifndef POV_ANALYSIS_TIME_SPLIT_H
#define POV_ANALYSIS_TIME_SPLIT_H

#include "analysis/polls.h"
#include "model/model.h"

struct time_row {
	uint64_t wall_ns;	 /* life */
	uint64_t waits_until_ns; /* inner: end of the waiting call under way */
	uint64_t walls_ns;	 /* wall_ns, but added up where rows are, as all that follow */
	uint64_t thread_ns;	 /* sum of the threads' lives; = sum of times */
	uint64_t threads;
	struct state_times times;
	uint64_t calls;		/* outermost ones, merged polls not among them */
	uint64_t open_calls;	/* of these, had not returned */
	uint64_t unwound_calls; /* of these, were left without returning */
	uint64_t nested_calls;
	uint64_t polls; /* merged into spins: found nothing */
	uint64_t spins;
	uint64_t counted; /* outermost ones that were counted, and not recorded one by one */
	uint64_t call_ns, spin_ns, counted_ns;
	uint64_t mpi_ns;	       /* their sum */
	struct state_times call_split; /* of call_ns */
	uint64_t polling_ns;
	struct poll_times poll; /* of the spins; inside_ns = spin_ns */
};

struct time_split {
	struct model_sink sink;
	struct time_row *process, *thread; /* by idx; owned; complete after the replay */
	uint32_t nprocess, nthread;	   /* allocated */
	struct poll_cost poll_cost;
};

/* Adds all sums; wall_ns becomes the longest. */
void time_row_add(struct time_row *to, const struct time_row *from);

void time_split_init(struct time_split *a);
void time_split_release(struct time_split *a);

#endif
