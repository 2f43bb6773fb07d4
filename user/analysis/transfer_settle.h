/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Keeps transfers until all records have been read, and then finds when their data moved. */
#ifndef POV_ANALYSIS_TRANSFER_SETTLE_H
#define POV_ANALYSIS_TRANSFER_SETTLE_H

#include "analysis/transfer_start.h"

/*
 * An MPI operation that may post. It is analysed, or kept because an analysed one may be mistaken
 * for it.
 */
struct transfer_op {
	uint64_t begin_ns, posted_ns, completing_ns, end_ns;
	uint64_t request;
	int64_t bytes;
	int32_t peer_job, peer_world; /* or -1 */
	int32_t peer;		      /* idx of the process once it is known, or -1 */
	/* Receives between two processes: source in the communicator and tag; or -1. */
	int32_t source, tag;
	uint16_t func;
	bool sends, receives;
	bool wanted;
	bool p2p;
	/* another operation may be mistaken for this one */
	bool doubtful;
	/* another receive may have the same source and tag */
	bool envelope_doubtful;
};

struct transfer_post {
	uint64_t ns;
	uint64_t message;
	int64_t bytes;
	uint32_t end, layer, thread; /* numbers in traffic.names */
	uint32_t in_func;	     /* id of the MPI function + 1, or 0 */
	int32_t peer;
	uint8_t kind, step, carrier;
};

/* Data that arrived. */
struct transfer_arrival {
	uint64_t ns;
	uint64_t message;
	int64_t bytes;
	uint32_t end, layer; /* numbers in traffic.names */
	int32_t source, tag; /* see call_post */
	int32_t peer;
	uint8_t carrier;
	bool has_envelope;
};

struct transfer_process {
	struct transfer_op *op;
	uint32_t nop;
	struct transfer_post *post;
	uint32_t npost;
	struct transfer_arrival *arrival;
	uint32_t narrival;
	struct transfer_row *row;
	uint32_t nrow;
	/* Request → its operation, owned, until the operation is reported as over. */
	struct map outstanding;
	bool forgotten;	   /* requests were dropped, because there were too many */
	uint64_t until_ns; /* if not 0: nothing is kept from this time on */
};

/* Counts an operation in its row and returns the row. The row is valid until the next call. */
struct transfer_row *transfer_count(struct transfer_process *p, const struct transfer_op *op,
				    enum transfer_when w);
/* Fills the rows of a struct transfer_start. */
void transfer_settle(void *ctx, const struct model *m);

#endif
