/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What ranks send: how large, to whom, and how well the peers are known.
 *
 * Sizes: one count per sending operation of the program, by powers of two of its bytes. A
 * collective counts once per rank that contributes data, with all the data of that rank.
 *
 * Peers: for each message, sent or received, whether the peer's rank in MPI_COMM_WORLD is known, or
 * why it is not.
 */
#ifndef POV_ANALYSIS_MESSAGES_H
#define POV_ANALYSIS_MESSAGES_H

#include "analysis/traffic.h"
#include "lib/map.h"
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

struct peers_row {
	uint64_t messages; /* sum of `by` */
	/* by enum value: PEER_KNOWN, or why the peer is unknown */
	uint64_t by[PEER_UNKNOWN_CNT];
};

struct messages {
	struct model_sink sink;
	const struct model *model;
	struct message_row **process; /* by process idx, NULL: it sent nothing; owned */
	struct peers_row *peers;      /* by process idx; owned */
	uint32_t nprocess, npeers;
	/* from, to → struct pair: what each rank sent to each other; its context is unused */
	struct map pairs;
};

void messages_init(struct messages *a);
void messages_release(struct messages *a);
/* Row of a process; zeros if it sent nothing. */
const struct message_row *messages_of(const struct messages *a, uint32_t idx);
/* Row of a process; zeros if it exchanged no messages. */
const struct peers_row *messages_peers(const struct messages *a, uint32_t idx);
/* Valid as long as the analysis is. NULL: nothing was sent. */
const struct pair *messages_pair(const struct messages *a, uint32_t from, uint32_t to);

#endif
