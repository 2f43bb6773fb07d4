/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Sizes of the messages that ranks send: one count per sending operation of the program, by powers
 * of two of its bytes. A collective counts once per rank that contributes data, with all the data
 * of that rank.
 */
#ifndef POV_ANALYSIS_MESSAGES_H
#define POV_ANALYSIS_MESSAGES_H

#include "model/model.h"

enum message_class {
	MESSAGE_P2P,  /* groups p2p and part */
	MESSAGE_COLL, /* groups coll and neigh */
	MESSAGE_RMA,
	MESSAGE_IO,
	MESSAGE_OTHER,
	MESSAGE_CLASS_CNT,
};
extern const char *const message_class_names[MESSAGE_CLASS_CNT];

/* bucket 0: no bytes; bucket b: 2^(b-1) … 2^b - 1 bytes */
#define MESSAGE_BUCKETS 65

struct message_row {
	uint64_t cnt[MESSAGE_CLASS_CNT][MESSAGE_BUCKETS];
	uint64_t bytes[MESSAGE_CLASS_CNT][MESSAGE_BUCKETS];
	uint64_t unknown[MESSAGE_CLASS_CNT]; /* operations of unknown size */
};

struct messages {
	struct model_sink sink;
	struct message_row **process; /* by idx, NULL: it sent nothing; owned */
	uint32_t nprocess;
};

void messages_init(struct messages *a);
void messages_release(struct messages *a);
/* Row of a process; zeros if it sent nothing. */
const struct message_row *messages_of(const struct messages *a, uint32_t idx);

/*
 * Counts how well the peers of each process are known: for each message, sent or received, whether
 * the peer's rank in MPI_COMM_WORLD is known, or why it is not.
 */

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
