/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Which send belongs to which receive. MPI keeps messages of one sender, one receiver, one communicator and one tag in order: the
 * n-th send of these, in the order in which they were posted, goes to the n-th such receive, a wildcard counting as what its
 * status says that it has received (MPI standard, Semantics of Point-to-Point Communication, Order). A receive that took
 * anything and whose status nobody asked for is matched if only one message can be meant.
 *
 * What cannot be matched is counted with its reason, and never guessed. Memory is bounded by what is under way or has one end
 * only; of that, MATCH_KEPT_MAX ends are kept.
 */
#ifndef POV_ANALYSIS_MATCH_H
#define POV_ANALYSIS_MATCH_H

#include "lib/map.h"
#include "model/model.h"

/* One side of a message. */
struct match_end {
	const struct model_process *process;
	const struct model_thread *thread;    /* that posted it */
	const struct model_thread *completer; /* that learned that it is over; NULL: nobody did */
	const struct func_info *func;	      /* that described it: MPI_Send_init, not MPI_Start */
	uint64_t begin_ns, posted_ns;	      /* of the call that posted it */
	uint64_t completing_ns,
		end_ns; /* of the call that completed it: the same if it blocks; 0 without completer */
	uint32_t place, end_place; /* of model_operation */
	int64_t bytes;		   /* of call_roles and status; or BYTES_UNKNOWN */
	bool any_source;	   /* a receive from MPI_ANY_SOURCE */
};

/* That two ends belong together is right only if */
enum match_assumed {
	ASSUMED_NOTHING,
	ASSUMED_WHOLE, /* none was under way when the recording began, or where records were lost */
	ASSUMED_CANCELLED, /* what was to be cancelled was: nobody asked for the status */
	ASSUMED_SKIPPED, /* none of those before them, whose other end was not known, was theirs */
	ASSUMED_CNT,
};

struct match {
	struct match_end send, recv;
	int32_t tag;
	uint32_t comm_id; /* of call_roles */
	int64_t bytes; /* that were sent; as the receive's status has it if the send does not tell */
	enum match_assumed assumed;
};

enum match_why {
	MATCHED,
	MATCH_PEER_UNKNOWN, /* model_message.why */
	MATCH_NO_PEER,	    /* the other process is not in the trace */
	MATCH_NO_OTHER, /* the other end is not in the trace: never posted, or not while it was recorded */
	MATCH_STATUS, /* from any source or with any tag, several messages were possible, and the status was not asked for */
	MATCH_BEHIND, /* one of these may have taken its message */
	MATCH_CONFLICT, /* what would belong together contradicts itself */
	MATCH_TOO_MANY, /* ends without another were kept already */
	MATCH_WHY_CNT,
};

/* Of the ends of a process. */
struct match_row {
	uint64_t sends[MATCH_WHY_CNT], recvs[MATCH_WHY_CNT];
	uint64_t assumed; /* of sends[MATCHED] + recvs[MATCHED] */
};

#define MATCH_KEPT_MAX (1u << 16)

struct inbox;

struct matches {
	struct model_sink sink;
	void (*tell)(void *ctx, const struct match *m); /* the caller's: each, once it is found */
	void *ctx;
	/* The caller's: what is left in an inbox at the end, when all that can be matched is; or NULL. */
	void (*left)(void *ctx, const struct matches *a, const struct inbox *in);
	void *left_ctx;
	const struct model *model;
	struct map inboxes;	       /* communicator, receiver → struct inbox */
	struct match_process *process; /* by idx; owned */
	uint32_t nprocess;
	struct match_row *row; /* by idx; owned */
	uint32_t nrow;
	struct map
		unknown_to; /* communicators in which something was sent to nobody knows whom: → the matches */
	struct map skipped
		[2]; /* receives, sends with an unknown peer: communicator, process → the matches */
	struct inbox **waiting; /* for calls that may still be told; owned */
	uint32_t nwaiting, waiting_room;
	struct match_posted *told[2]; /* of the operation that was told last: its send, its receive */
	uint32_t kept;		      /* ends */
	uint32_t events;
	bool lost;	   /* records of calls */
	bool clocks_apart; /* of hosts: what one sent by some time is not known before all is told */
	bool full;	   /* what comes is not kept any more */
	bool over;	   /* nothing more will be told */
};

/* tell may be NULL. */
void matches_init(struct matches *a, void (*tell)(void *ctx, const struct match *m), void *ctx);
void matches_release(struct matches *a);
/* Those of a process; zeros if it has none. */
const struct match_row *matches_of(const struct matches *a, uint32_t idx);

#endif
