/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * "0,2,5-8" or, with several jobs, "1:3" (rank 3 of job 1, jobs counted from 0).
 */
#ifndef POV_LIB_RANK_LIST_H
#define POV_LIB_RANK_LIST_H

#include <stdbool.h>
#include <stdint.h>

struct rank_range {
	int32_t job; /* -1: any */
	int32_t first, last;
};

struct rank_list {
	struct rank_range *range; /* owned */
	uint32_t n;
};

/* Adds what the text, an option --rank, names. 0, or -EINVAL (printed). */
int rank_list_parse(const char *text, struct rank_list *out);
/* True if the list is empty or names the rank; an unknown rank (-1) is in the empty list only. */
bool rank_list_has(const struct rank_list *l, int32_t job, int32_t rank);
void rank_list_release(struct rank_list *l);

#endif
