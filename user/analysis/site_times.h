/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Sums up the cost of MPI calls by call site, and its imbalance among processes. Calls that the
 * library makes inside its own calls are left out. Merged polls count for the site of the first
 * one.
 */
#ifndef POV_ANALYSIS_SITE_TIMES_H
#define POV_ANALYSIS_SITE_TIMES_H

#include "lib/map.h"
#include "model/model.h"

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
	uint32_t nrow, rows_cap;
	uint64_t left_out; /* calls from sites for which there was no room */
};

/* Returns 0 if both are the same place, in any process and whichever object stands for its file. */
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
