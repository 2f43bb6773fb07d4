/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * How much each rank computed: what its threads ran outside MPI, from the end of its MPI_Init to the begin of its
 * MPI_Finalize. Polls count as MPI from the first to the last of a run. Where a call is under way when that begins, its thread's part of it counts
 * as MPI.
 */
#ifndef POV_ANALYSIS_BALANCE_H
#define POV_ANALYSIS_BALANCE_H

#include "model/model.h"

struct balance_row {
	bool begun, over;
	uint64_t begin_ns, end_ns; /* end of MPI_Init, begin of MPI_Finalize; 0 if there was none */
	uint64_t before_ns;	   /* that its threads had run by begin_ns */
	uint64_t ran_ns;	   /* up to end_ns, or to its end */
	uint64_t calls_ns;	   /* of this, in calls of MPI since begin_ns */
};

struct balance {
	struct model_sink sink;
	struct balance_row *process; /* by idx; owned */
	uint32_t nprocess;
	bool lost; /* records are missing: calls that are not seen would be computing */
};

void balance_init(struct balance *a);
void balance_release(struct balance *a);
/* 0 unless it began while it was recorded. */
uint64_t balance_computed_ns(const struct balance *a, uint32_t process);

#endif
