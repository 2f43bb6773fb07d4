/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Matches each send with its receive. MPI keeps messages of one sender, one receiver, one
 * communicator and one tag in order: in posting order, the n-th such send goes to the n-th such
 * receive. A wildcard receive counts with the source and tag that its status reports (MPI standard,
 * Semantics of Point-to-Point Communication, Order). A wildcard receive whose status the program
 * did not ask for is matched if only one message is possible.
 *
 * Unmatched ends are counted with the reason; nothing is guessed. Memory is bounded by the
 * operations in flight and the ends that have no other end yet; at most MATCH_KEPT_MAX of those
 * ends are kept.
 */
#ifndef POV_ANALYSIS_MATCH_H
#define POV_ANALYSIS_MATCH_H

#include "lib/map.h"
#include "model/model.h"

/* One side of a message. */
struct match_end {
	const struct model_process *process;
	const struct model_thread *thread; /* thread that posted it */
	/* thread that learned of its completion; NULL: none did */
	const struct model_thread *completer;
	/* call that described it: MPI_Send_init, not MPI_Start */
	const struct func_info *func;
	uint64_t begin_ns, posted_ns; /* begin and end of the call that posted it */
	/*
	 * Begin and end of the call that completed it; a blocking call both posts and completes. 0
	 * without a completer.
	 */
	uint64_t completing_ns, end_ns;
	uint64_t waiting_ns; /* begin of the polls that it ended, or completing_ns */
	/* index among the operations that the posting, and the completing, call handled */
	uint32_t place, end_place;
	/* from call_roles and the status, or BYTES_UNKNOWN */
	int64_t bytes;
	bool any_source; /* a receive from MPI_ANY_SOURCE */
};

/* Assumption of a match. The match is right only if it holds. */
enum match_assumed {
	ASSUMED_NOTHING,
	/* No operation was in flight when the recording began, or where records were lost. */
	ASSUMED_WHOLE,
	/*
	 * The program tried to cancel an operation and did not ask for the status. The cancellation
	 * succeeded.
	 */
	ASSUMED_CANCELLED,
	/* No end with an unknown peer belongs before this match. */
	ASSUMED_SKIPPED,
	ASSUMED_CNT,
};

struct match {
	struct match_end send, recv;
	int32_t tag;
	uint32_t comm_id; /* see call_roles */
	/* bytes sent; as in the receive's status if the send does not report them */
	int64_t bytes;
	enum match_assumed assumed;
};

enum match_why {
	MATCHED,
	MATCH_PEER_UNKNOWN, /* see model_message.why */
	MATCH_NO_PEER,	    /* the other process is not in the trace */
	/*
	 * The other end is not in the trace: it was never posted, or not while the recording ran.
	 */
	MATCH_NO_OTHER,
	/*
	 * The receive takes any source or any tag, several messages were possible, and the program
	 * did not ask for the status.
	 */
	MATCH_STATUS,
	/* an earlier receive with an unknown status may have taken its message */
	MATCH_BEHIND,
	/* posting order pairs a send with a receive for fewer bytes */
	MATCH_CONFLICT,
	MATCH_TOO_MANY, /* the limit of kept ends was reached */
	MATCH_WHY_CNT,
};

/* Message ends of one process, by outcome. */
struct match_row {
	uint64_t sends[MATCH_WHY_CNT], recvs[MATCH_WHY_CNT];
	uint64_t assumed; /* part of sends[MATCHED] + recvs[MATCHED] */
};

#define MATCH_KEPT_MAX (1u << 16)

struct inbox;

struct matches {
	struct model_sink sink;
	/* the caller's: called with each match as it is found */
	void (*notify)(void *ctx, const struct match *m);
	void *ctx;
	/*
	 * The caller's, or NULL: called at the end for each inbox that still holds unmatched ends.
	 */
	void (*left)(void *ctx, const struct matches *a, const struct inbox *in);
	void *left_ctx;
	const struct model *model;
	struct map inboxes;	       /* communicator, receiver → struct inbox */
	struct match_process *process; /* by process idx; owned */
	uint32_t nprocess;
	struct match_row *row; /* by process idx; owned */
	uint32_t nrow;
	/*
	 * Communicators in which a message was sent to an unknown receiver. The values only mark
	 * them.
	 */
	struct map unknown_to;
	/*
	 * Receives [0] and sends [1] with an unknown peer, by communicator and process. The values
	 * only mark them.
	 */
	struct map skipped[2];
	/* inboxes that wait for calls not yet reported; owned */
	struct inbox **waiting;
	uint32_t nwaiting;
	/* Send [0] and receive [1] of the operation that the model reported last. */
	struct match_posted *last[2];
	uint32_t kept; /* ends that are kept */
	uint32_t events;
	/*
	 * Waits for requests in processes that ran before the recording. before: the call that
	 * started the request was not recorded; since: it was.
	 */
	uint64_t before, since;
	bool lost; /* records of calls were lost */
	/*
	 * The hosts' clocks differ: sends before a given time are complete only at the end of the
	 * replay.
	 */
	bool clocks_apart;
	/* the limit was reached: later ends are not kept */
	bool full;
	bool over; /* the replay has ended */
};

/* notify may be NULL. */
void matches_init(struct matches *a, void (*notify)(void *ctx, const struct match *m), void *ctx);
void matches_release(struct matches *a);
/* Row of a process; zeros if it has none. */
const struct match_row *matches_of(const struct matches *a, uint32_t idx);

#endif
