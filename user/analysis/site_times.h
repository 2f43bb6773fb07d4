/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What MPI calls cost by the place in the program that they were made from, and how unequal that is among processes. Calls that the
 * library made inside its own are left out. Polls that were merged count for the place of the first one.
 */
#ifndef POV_ANALYSIS_SITE_TIMES_H
#define POV_ANALYSIS_SITE_TIMES_H

#include "lib/map.h"
#include "model/model.h"

#define SITE_ROWS_MAX 262144 /* kept: a function called from one place by one process */

struct site_sums {
	uint64_t calls, polls; /* polls: of the calls, those that found nothing and were merged */
	uint64_t total_ns;     /* entry to return; of unfinished calls as far as seen */
	uint64_t max_ns;       /* of the calls that returned and were recorded one by one */
};

struct site_row {
	const struct func_info *func;
	struct model_site site; /* address 0 if the module is known: it differs among processes */
	uint32_t process_idx;
	struct site_sums sums;
	struct site_row *next; /* of the same hash */
};

/* A function and a place, over processes. */
struct site_total {
	const struct func_info *func;
	struct model_site site;
	struct site_sums sums;
	uint32_t processes; /* that called it there */
	uint64_t least_ns; /* total_ns of the process where that is least; 0 if one never called it … */
	uint64_t mean_ns;  /* … over all of them … */
	uint64_t most_ns;  /* … and of the one where it is most */
	uint32_t most_idx; /* which that is */
};

struct site_times {
	struct model_sink sink;
	struct map by_key;
	struct site_row **row; /* owned */
	uint32_t nrow, rows_cap;
	uint64_t left_out; /* calls from further places than can be kept */
};

/* 0: the same place, in whichever process, and whichever object stands for its file. */
int site_compare(const struct model_site *a, const struct model_site *b);

void site_times_init(struct site_times *a);
void site_times_release(struct site_times *a);
/* Over the processes wanted (by their idx, n of them), most total time first. After the replay. Caller frees. */
struct site_total *site_times_sum(const struct site_times *a, const bool *wanted, uint32_t n,
				  uint32_t *ntotal);

#endif
