/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * How large the pieces are that the ranks hand over: one count per sending operation of the program, by
 * powers of two of its bytes. A collective counts once per rank that puts data in, with all it puts in.
 */
#ifndef POV_ANALYSIS_MESSAGES_H
#define POV_ANALYSIS_MESSAGES_H

#include "model/model.h"

enum message_class {
	MESSAGE_P2P,  /* groups p2p and part */
	MESSAGE_COLL, /* coll, neigh */
	MESSAGE_RMA,
	MESSAGE_IO,
	MESSAGE_OTHER,
	MESSAGE_CLASS_CNT,
};
extern const char *const message_class_names[MESSAGE_CLASS_CNT];

#define MESSAGE_BUCKETS 65 /* 0: no bytes; b: 2^(b-1) … 2^b - 1 bytes */

struct message_row {
	uint64_t cnt[MESSAGE_CLASS_CNT][MESSAGE_BUCKETS];
	uint64_t bytes[MESSAGE_CLASS_CNT][MESSAGE_BUCKETS];
	uint64_t unknown[MESSAGE_CLASS_CNT]; /* sent, but the size is not known */
};

struct messages {
	struct model_sink sink;
	struct message_row **process; /* by idx, NULL: none; owned */
	uint32_t nprocess;
};

void messages_init(struct messages *a);
void messages_release(struct messages *a);
/* Those of a process; zeros if it sent none. */
const struct message_row *messages_of(const struct messages *a, uint32_t idx);

#endif
