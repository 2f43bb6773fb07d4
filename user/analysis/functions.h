/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The cost of each function, per process and over all ranks. Calls that a library makes to its own
 * layer inside one of its calls are counted separately and are not in the statistics. Polls that
 * found nothing are merged when recorded: they are in calls, total and mean, but not in the
 * distribution. Calls that did not return (open, unwound) have no certain duration: they are in
 * calls and total, but not in mean and distribution.
 */
#ifndef POV_ANALYSIS_FUNCTIONS_H
#define POV_ANALYSIS_FUNCTIONS_H

#include "analysis/cores.h"
#include "analysis/loss.h"
#include "lib/statistics.h"
#include "lib/map.h"
#include "model/model.h"

struct function_row {
	const struct func_info *func;
	uint32_t process_idx;
	uint32_t left_out; /* bits of LOSS_LEFT_OUT; after the replay */
	/*
	 * Durations of individual calls, without open, unwound and end_only calls and empty polls.
	 */
	struct histogram durations;
	/* All members below are sums. */
	/* returned, counted, open and unwound calls, and empty polls */
	uint64_t calls;
	uint64_t polls; /* part of calls: empty polls merged into spins */
	/* part of calls: made inside calls of another layer */
	uint64_t inner;
	uint64_t open; /* part of calls: not returned */
	/* part of calls: left without returning; none of these is in open */
	uint64_t unwound;
	/* part of calls: counted but not recorded, so without individual durations */
	uint64_t counted;
	/* part of calls: only the return was seen, so without a duration */
	uint64_t end_only;
	uint64_t total_ns; /* time from entry to return */
	/* part of total_ns: open and unwound calls, as far as seen */
	uint64_t unfinished_ns;
	/* states of the thread during total_ns, without empty polls and counted calls */
	struct state_times split;
	uint64_t send_bytes; /* bytes handed over */
	/* bytes that arrived if the status reported them, else the capacity posted */
	uint64_t recv_bytes;
	uint64_t unknown_sends, unknown_recvs; /* operations of unknown size */
	uint64_t errors;		       /* calls that returned an error */
	/* part of total_ns: interrupts and softirqs during the calls; without empty polls */
	uint64_t interrupted_ns;
	/* calls made inside calls of the same layer, in none of the members above */
	uint64_t nested_calls;
	uint64_t nested_ns;
};

struct functions {
	struct model_sink sink;
	/* the caller's; NULL: interrupts are not wanted */
	const struct interrupts *interrupts;
	struct map by_key;
	/* after the replay: most total time first; owned */
	struct function_row **row;
	uint32_t nrow;
	/* Functions that the overhead limit left out for a time: id → bits of LOSS_LEFT_OUT. */
	struct map left_out;
};

void functions_init(struct functions *a, const struct interrupts *interrupts);
void functions_release(struct functions *a);
/*
 * One row per function, summed over the wanted processes (by their idx, n of them), most total time
 * first. Call after the replay. The caller frees the list with functions_sum_free.
 */
struct function_row **functions_sum(const struct functions *a, const bool *wanted, uint32_t n,
				    uint32_t *nrow);
/* Mean duration of the calls that returned, including empty polls; NaN if there are none. */
double function_row_mean(const struct function_row *f);
/*
 * True if more than 1 % of the calls were counted but not recorded. Then only the maximum of the
 * distribution is known.
 */
bool function_row_mostly_counted(const struct function_row *f);
/* The part of the missing records (bits of analysis/loss.h) that affects this function. */
uint32_t function_row_lost(const struct function_row *f, uint32_t lost);
void functions_sum_free(struct function_row **row, uint32_t nrow);

/*
 * Sums up the cost of MPI calls by call site, and its imbalance among processes. Calls that the
 * library makes inside its own calls are left out. Merged polls count for the site of the first
 * one.
 */

/* rows kept; each is a function called from one site by one process */
#define SITE_ROWS_MAX 262144

struct site_sums {
	/* polls: part of calls, those that found nothing and were merged */
	uint64_t calls, polls;
	/* entry to return; for unfinished calls, the time that was seen */
	uint64_t total_ns;
	/* longest call that returned and was recorded individually */
	uint64_t max_ns;
};

struct site_row {
	const struct func_info *func;
	/* address 0 if the module is known, as addresses differ among processes */
	struct model_site site;
	uint32_t process_idx;
	struct site_sums sums;
	struct site_row *next; /* next row with the same hash */
};

/* A function and a call site, summed over processes. */
struct site_total {
	const struct func_info *func;
	struct model_site site;
	struct site_sums sums;
	/* number of processes that called the function there */
	uint32_t processes;
	/* smallest total_ns of any process; 0 if one never called the function there */
	uint64_t least_ns;
	uint64_t mean_ns;  /* mean total_ns over all processes */
	uint64_t most_ns;  /* largest total_ns of any process */
	uint32_t most_idx; /* idx of the process with the largest total_ns */
};

struct site_times {
	struct model_sink sink;
	struct map by_key;
	struct site_row **row; /* owned */
	uint32_t nrow;
	uint64_t left_out; /* calls from sites for which there was no room */
};

/* Returns 0 if both are the same place of the same file, in whatever process or module. */
int site_compare(const struct model_site *a, const struct model_site *b);

void site_times_init(struct site_times *a);
void site_times_release(struct site_times *a);
/*
 * Sums over the wanted processes (by idx, n of them), most total time first. Call after the replay.
 * The caller frees the list.
 */
struct site_total *site_times_sum(const struct site_times *a, const bool *wanted, uint32_t n,
				  uint32_t *ntotal);

#endif
