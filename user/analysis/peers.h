/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Counts how well the peers of each process are known: for each message, sent or received, whether
 * the peer's rank in MPI_COMM_WORLD is known, or why it is not.
 */
#ifndef POV_ANALYSIS_PEERS_H
#define POV_ANALYSIS_PEERS_H

#include "model/model.h"

struct peers_row {
	uint64_t messages; /* sum of `by` */
	/* by enum value: PEER_KNOWN, or why the peer is unknown */
	uint64_t by[PEER_UNKNOWN_CNT];
};

struct peers {
	struct model_sink sink;
	struct peers_row *process; /* by idx; owned */
	uint32_t nprocess;
};

void peers_init(struct peers *a);
void peers_release(struct peers *a);
/* Row of a process; zeros if it exchanged no messages. */
const struct peers_row *peers_of(const struct peers *a, uint32_t idx);

#endif
