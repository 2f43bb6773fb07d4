/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* What is kept of transfers until all is known, and what is made of it then. */
#ifndef POV_ANALYSIS_TRANSFER_SETTLE_H
#define POV_ANALYSIS_TRANSFER_SETTLE_H

#include "analysis/transfer_start.h"

/* Something of MPI that may post: what is asked for, and all that it may be mistaken for. */
struct transfer_op {
	uint64_t begin_ns, posted_ns, completing_ns, end_ns;
	uint64_t request;
	int64_t bytes;
	int32_t peer_job, peer_world; /* or -1 */
	int32_t peer;		      /* idx of the process, once that is known; or -1 */
	int32_t source, tag;	      /* receives between two: in the communicator; or -1 */
	uint16_t func;
	bool sends, receives;
	bool wanted;
	bool p2p;
	bool doubtful;		/* another one is in its way */
	bool envelope_doubtful; /* another receive may have its source and tag */
};

struct transfer_post {
	uint64_t ns;
	uint64_t message;
	int64_t bytes;
	uint32_t end, layer, thread; /* numbers of names */
	uint32_t in_func;	     /* id + 1, or 0 */
	int32_t peer;
	uint8_t kind, step, carrier;
};

/* Data that came. */
struct transfer_arrival {
	uint64_t ns;
	uint64_t message;
	int64_t bytes;
	uint32_t end, layer; /* numbers of names */
	int32_t source, tag; /* of call_post */
	int32_t peer;
	uint8_t carrier;
	bool has_envelope;
};

struct transfer_process {
	struct transfer_op *op;
	uint32_t nop, op_cap;
	struct transfer_post *post;
	uint32_t npost, post_cap;
	struct transfer_arrival *arrival;
	uint32_t narrival, arrival_cap;
	struct transfer_row *row;
	uint32_t nrow, rows_cap;
	struct map outstanding; /* request → its operation, owned, until it is told as over */
	bool forgotten;		/* there were too many requests */
	uint64_t until_ns;	/* not 0: nothing is kept from then on */
};

/* Its row; valid until the next is counted. */
struct transfer_row *transfer_count(struct transfer_process *p, const struct transfer_op *op,
				    enum transfer_when w);
/* Whose data come: made ready once peers are known, and the operations' doubts. */
void transfer_arrivals_choose(struct transfer_start *a, const struct model *m, uint32_t process);
/* When all data of a receive had come; 0: not known. */
uint64_t transfer_arrived_ns(const struct transfer_process *p, const struct transfer_op *op);
/* Of a struct transfer_start: fills its rows. Returns 0. */
int transfer_settle(void *ctx, const struct model *m);

#endif
