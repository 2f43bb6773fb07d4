/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Whether it is known who the ranks are that a process exchanges messages with: of each message, sent or received, its peer's rank
 * in MPI_COMM_WORLD, or why that is not known.
 */
#ifndef POV_ANALYSIS_PEERS_H
#define POV_ANALYSIS_PEERS_H

#include "model/model.h"

struct peers_row {
	uint64_t messages;	       /* = Σ by */
	uint64_t by[PEER_UNKNOWN_CNT]; /* why it is not known, or PEER_KNOWN */
};

struct peers {
	struct model_sink sink;
	struct peers_row *process; /* by idx; owned */
	uint32_t nprocess;
};

void peers_init(struct peers *a);
void peers_release(struct peers *a);
/* Those of a process; zeros if it exchanged none. */
const struct peers_row *peers_of(const struct peers *a, uint32_t idx);

#endif
