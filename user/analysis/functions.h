/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What each function cost, per process and over all ranks. Only calls the program itself made
 * (depth 0) are in the statistics; calls the library makes inside them are counted apart. Polls that found
 * nothing are merged when recorded: they are in calls, total and mean, and not in the distribution.
 */
#ifndef POV_ANALYSIS_FUNCTIONS_H
#define POV_ANALYSIS_FUNCTIONS_H

#include "analysis/flow.h"
#include "analysis/histogram.h"
#include "base/map.h"
#include "model/model.h"

struct function_row {
	const struct func_info *func;
	uint32_t process_idx;	/* of its sort_order */
	uint64_t calls;		/* returned, open and empty polls */
	uint64_t polls;		/* of these, empty polls merged into spins */
	uint64_t open;		/* of these, not returned */
	uint64_t total_ns;	/* entry to return, added up */
	struct state_times split; /* of total_ns without empty polls */
	struct histogram durations; /* without open calls and empty polls */
	uint64_t send_bytes;	/* handed over */
	uint64_t recv_bytes;	/* arrived if the status told, else the capacity posted */
	uint64_t unknown_bytes; /* operations whose size is not known */
	uint64_t errors;	/* calls that returned an error */
	uint64_t nested_calls;	/* made inside other traced calls: not in the above */
	uint64_t nested_ns;
};

struct functions {
	struct model_sink sink;
	struct flows flows;
	struct map by_key;
	struct function_row **row; /* owned; in order of appearance */
	uint32_t nrow, rows_cap;
	struct function_row **all; /* over all ranks, most total time first; owned; after the replay */
	uint32_t nall;
};

void functions_init(struct functions *a);
void functions_release(struct functions *a);
/* The rows of one process, most total time first: fills out with at most max and tells how many. */
uint32_t functions_of(const struct functions *a, uint32_t process_idx, const struct function_row **out,
		      uint32_t max);

#endif
