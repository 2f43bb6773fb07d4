/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * MPI calls that returned an error to the program: which function, with which error, from where, and how often of each process. Calls whose
 * error handler ended the program never returned and are none of these.
 */
#ifndef POV_ANALYSIS_FAILED_H
#define POV_ANALYSIS_FAILED_H

#include "lib/map.h"
#include "model/model.h"

#define FAILED_KEPT_MAX 4096 /* rows */

/* Calls of one process that are alike. */
struct failed_row {
	const struct func_info *func;
	const char *error; /* name of its class; NULL: not known */
	int32_t code;	   /* as the first of them returned it */
	struct model_site site;
	const struct model_process *process;
	uint64_t cnt, first_ns; /* how many; when the first returned */
};

struct failed {
	struct model_sink sink;
	struct failed_row *row; /* owned; after the replay in order of function, error and site */
	uint32_t nrow, room;
	struct map by_key;
	uint64_t cnt, left_out; /* calls; of these in no row */
};

void failed_init(struct failed *a);
void failed_release(struct failed *a);
/* Whether both are the same but for their process. */
bool failed_alike(const struct failed_row *a, const struct failed_row *b);

#endif
