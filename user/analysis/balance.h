/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Bytes that each process moves by MPI: what it sends and what it receives. Point-to-point messages
 * count at both ends, with the size that the sending call reports, if it names the receiver.
 * Collectives and one-sided operations count with the process's own arguments, once their call has
 * returned without an error.
 */
#ifndef POV_ANALYSIS_BALANCE_H
#define POV_ANALYSIS_BALANCE_H

#include "model/model.h"

struct volumes {
	struct model_sink sink;
	const struct model *model;
	uint64_t *bytes; /* by idx of processes; owned */
	uint32_t nprocess;
};

void volumes_init(struct volumes *a);
void volumes_release(struct volumes *a);

#endif
