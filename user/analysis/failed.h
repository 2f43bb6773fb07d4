/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * MPI calls that returned an error to the program: which function, which error, from where, and how
 * often in each process. A call whose error handler ended the program never returned and is not
 * counted.
 */
#ifndef POV_ANALYSIS_FAILED_H
#define POV_ANALYSIS_FAILED_H

#include "lib/map.h"
#include "model/model.h"

#define FAILED_KEPT_MAX 4096 /* rows kept */

/* Failed calls of one process with the same function, error and call site. */
struct failed_row {
	const struct func_info *func;
	const char *error; /* name of the error class; NULL: unknown */
	/* error code that the first of the calls returned */
	int32_t code;
	struct model_site site;
	const struct model_process *process;
	/* number of calls, and the time when the first returned */
	uint64_t cnt, first_ns;
};

struct failed {
	struct model_sink sink;
	/* after the replay in order of function, error and site; owned */
	struct failed_row *row;
	uint32_t nrow, room;
	struct map by_key;
	/* failed calls, and those of them that are in no row */
	uint64_t cnt, left_out;
};

void failed_init(struct failed *a);
void failed_release(struct failed *a);
/* True if both rows differ only in their process. */
bool failed_alike(const struct failed_row *a, const struct failed_row *b);

#endif
