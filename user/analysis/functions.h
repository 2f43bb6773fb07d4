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
	uint32_t process_idx;	    /* of its sort_order */
	uint64_t calls;		    /* returned, open and empty polls */
	uint64_t polls;		    /* of these, empty polls merged into spins */
	uint64_t open;		    /* of these, not returned */
	uint64_t total_ns;	    /* entry to return, added up */
	struct state_times split;   /* of total_ns without empty polls */
	struct histogram durations; /* without open calls and empty polls */
	uint64_t send_bytes;	    /* handed over */
	uint64_t recv_bytes;	    /* arrived if the status told, else the capacity posted */
	uint64_t unknown_sends, unknown_recvs; /* operations whose size is not known */
	uint64_t errors;		       /* calls that returned an error */
	uint64_t nested_calls; /* made inside other traced calls: not in the above */
	uint64_t nested_ns;
};

struct functions {
	struct model_sink sink;
	struct flows flows;
	struct map by_key;
	struct function_row **row; /* owned; after the replay: most total time first */
	uint32_t nrow, rows_cap;
};

void functions_init(struct functions *a);
void functions_release(struct functions *a);
/*
 * One row per function over the processes wanted (by sort_order, n of them), most total time first. After the
 * replay. The list is the caller's: functions_sum_free.
 */
struct function_row **functions_sum(const struct functions *a, const bool *wanted, uint32_t n,
				    uint32_t *nrow);
void functions_sum_free(struct function_row **row, uint32_t nrow);

#endif
