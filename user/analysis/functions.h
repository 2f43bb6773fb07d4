/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What each function cost, per process and over all ranks. Calls that a library makes to its own layer inside one of
 * its calls are not in the statistics, but counted apart. Polls that found
 * nothing are merged when recorded: they are in calls, total and mean, and not in the distribution. Of calls that
 * did not return (open, unwound) only the count is certain: they are in calls and total, not in mean and
 * distribution.
 */
#ifndef POV_ANALYSIS_FUNCTIONS_H
#define POV_ANALYSIS_FUNCTIONS_H

#include "analysis/histogram.h"
#include "analysis/interrupts.h"
#include "analysis/loss.h"
#include "lib/map.h"
#include "model/model.h"

struct function_row {
	const struct func_info *func;
	uint32_t process_idx;
	uint32_t left_out;	    /* bits of LOSS_LEFT_OUT; after the replay */
	struct histogram durations; /* without open, unwound and end_only calls and empty polls */
	/* Sums from here on: */
	uint64_t calls;	   /* returned, counted, open, unwound and empty polls */
	uint64_t polls;	   /* of these, empty polls merged into spins */
	uint64_t inner;	   /* of these, made inside calls of another layer */
	uint64_t open;	   /* of these, not returned */
	uint64_t unwound;  /* of these, left without returning; never open as well */
	uint64_t counted;  /* of these, counted and not recorded: without durations of their own */
	uint64_t end_only; /* of these, of which only the return was seen: without a duration */
	uint64_t total_ns; /* entry to return, added up */
	uint64_t unfinished_ns;	  /* of this, open and unwound calls, as far as seen */
	struct state_times split; /* of total_ns without empty polls and counted calls */
	uint64_t send_bytes;	  /* handed over */
	uint64_t recv_bytes;	  /* arrived if the status told, else the capacity posted */
	uint64_t unknown_sends, unknown_recvs; /* operations whose size is not known */
	uint64_t errors;		       /* calls that returned an error */
	uint64_t interrupted_ns; /* of total_ns, interrupts and softirqs on top of it; without empty polls */
	uint64_t nested_calls; /* made inside calls of the same layer: not in the above */
	uint64_t nested_ns;
};

struct functions {
	struct model_sink sink;
	const struct interrupts *interrupts; /* the caller's, or NULL: not asked for */
	struct map by_key;
	struct function_row **row; /* owned; after the replay: most total time first */
	uint32_t nrow, rows_cap;
	struct map left_out; /* functions that were left out for a time, by id: → LOSS_LEFT_OUT's */
};

void functions_init(struct functions *a, const struct interrupts *interrupts);
void functions_release(struct functions *a);
/*
 * One row per function over the processes wanted (by their idx, n of them), most total time first. After the
 * replay. The list is the caller's: functions_sum_free.
 */
struct function_row **functions_sum(const struct functions *a, const bool *wanted, uint32_t n,
				    uint32_t *nrow);
/* Mean duration of the calls that returned, empty polls among them; NaN if there are none. */
double function_row_mean(const struct function_row *f);
/* More than 1 % of the calls were counted, and not recorded: of the distribution only the longest is known. */
bool function_row_mostly_counted(const struct function_row *f);
/* Of what is missing (bits of analysis/loss.h), what touches this function. */
uint32_t function_row_lost(const struct function_row *f, uint32_t lost);
void functions_sum_free(struct function_row **row, uint32_t nrow);

#endif
