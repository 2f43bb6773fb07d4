/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Finds where ranks are when the recording ends, and whom they wait for. An open call shows what it
 * waits for: a message, a receiver, the other members of a communicator. The records before it show
 * which of these have not happened. Nothing is concluded if missing records could contradict it.
 */
#ifndef POV_ANALYSIS_HANG_H
#define POV_ANALYSIS_HANG_H

#include "analysis/match.h"
#include "analysis/match_lane.h"
#include "lib/map.h"
#include "model/model.h"

struct inbox;

enum hang_kind {
	HANG_RECV,     /* a message from peer */
	HANG_SEND,     /* a receive by peer */
	HANG_TOGETHER, /* members of a communicator or window */
	HANG_LOCK,     /* the lock of a window at target `peer`, or accesses there */
	HANG_FILE,     /* a file */
	HANG_OTHER,    /* unknown */
};

/* State of the other side of a wait. */
enum hang_other {
	/* unknown, as records that could show it are missing */
	HANG_UNKNOWN,
	HANG_SEEN,   /* the other side is in progress or over */
	HANG_UNSEEN, /* no process has begun the other side */
};

/* One thing that an open call waits for. */
struct hang_want {
	enum hang_kind kind;
	enum hang_other other;
	/* function that began it: MPI_Irecv for a call of MPI_Wait */
	const struct func_info *func;
	uint32_t comm_id;  /* see call_roles; 0: unknown */
	bool world;	   /* the communicator is MPI_COMM_WORLD */
	int32_t comm_size; /* -1: unknown */
	/* HANG_RECV, HANG_SEND, HANG_LOCK: see call_roles */
	int32_t peer, tag;
	/* process of the peer; NULL: unknown, any, or not in the trace */
	const struct model_process *process;
	/* HANG_TOGETHER: key in hang.joints; 0: unknown */
	uint64_t joint;
	/* The call's number, from 1, among the calls that the members make together. */
	uint64_t number;
	/* root of the call; NULL: there is none, or it is unknown */
	const struct model_process *root;
	/* the call cannot return before all members have called */
	bool for_all;
	/* the call cannot return before the root has called */
	bool for_root;
};

/* A thread of a rank that lives when the recording ends and has called MPI. */
struct hang_thread {
	const struct model_thread *thread;
	/*
	 * Function of its open call, or, with polls, of its polls. NULL: the thread is outside MPI.
	 */
	const struct func_info *func;
	bool polls; /* the thread polls and has found nothing */
	/* the call was in progress when the recording began */
	bool began_before;
	bool any_suffices; /* one of its wants is enough for it to go on */
	/*
	 * Set by hang_settle: the call lasted for all of the recording, no records of calls were
	 * lost, and the thread had time to work. Then a want whose other side is unknown is
	 * presumed to be unmet.
	 */
	bool presumed;
	struct model_site site;
	/*
	 * Begin of the open call or of the polls; else the end of the last call. 0: the thread made
	 * no call.
	 */
	uint64_t since_ns;
	uint64_t polled;	      /* number of polls */
	const struct func_info *last; /* the last call that has returned, or NULL */
	struct model_site last_site;
	/* Outside MPI: where the program was when the recording ended. Address 0: unknown. */
	struct model_site at;
	struct state_times times; /* thread states since since_ns */
	struct hang_want *want;	  /* owned */
	uint32_t nwant;
	/* idx of the processes that have not done what the thread waits for; owned */
	uint32_t *waits_for;
	uint32_t nwaits_for;
	/*
	 * Set by hang_settle: the thread can never go on, as what it waits for can never be done.
	 */
	bool stuck;
};

/* The last call that a member made together with the other members of a communicator or window. */
struct hang_part {
	/* number of the call among those made together, from 1 */
	uint64_t number;
	const struct func_info *func;
	struct model_site site;
};

struct hang_joint {
	uint32_t comm_id;
	int32_t size; /* number of members */
	bool world, is_window, is_file;
	struct call_member *member; /* owned; NULL: unknown */
	struct map part;	    /* process idx → struct hang_part */
};

/* State of a process: what it waits for, or why it will do nothing more. */
struct hang_process {
	bool called;	/* it has called MPI */
	bool finalized; /* it has left MPI_Finalize */
	/* its threads may call MPI at the same time, or it is unknown whether they may */
	bool multiple;
	bool ends; /* it has ended before the end of the recording */
	/* Set by hang_settle: none of its threads can go on. */
	bool stuck;
	/* number of its threads that are in calls or poll */
	uint32_t in_calls;
};

struct hang {
	struct model_sink sink;
	const struct model *model;
	/* By idx of threads. Entries whose member `thread` is NULL are unused. Owned. */
	struct hang_thread *thread;
	uint32_t nthread;
	struct hang_process *process; /* by process idx; owned */
	uint32_t nprocess;
	struct map joints;  /* joint key → struct hang_joint */
	struct map numbers; /* process and request → number of the nonblocking collective */
	struct map inboxes; /* communicator, receiver → struct hang_inbox */
	struct map locks;   /* communicator, window, target → struct hang_lock */
	/* records of calls were lost, or calls never made a record */
	bool lost;
	bool partial; /* the recording left out some MPI functions */
	/* the file is cut off, so it is unknown which calls were open */
	bool cut;
	uint32_t open; /* threads in open calls */
	/* longest time in one of the open calls that wait */
	uint64_t longest_ns;
};

/* The sink of matches must run before this one. */
void hang_init(struct hang *h, struct matches *matches);
void hang_release(struct hang *h);

/* True if earlier calls of the process may be missing. */
bool hang_may_miss(const struct hang *h, const struct model_process *p);
/* The process of a communicator's member. NULL: it is not in the trace. */
const struct model_process *hang_member(const struct hang *h, const struct model_process *self,
					struct call_member member);
/* The number of the last call that the process made together with the other members. 0: none. */
uint64_t hang_number(const struct hang_joint *j, const struct model_process *p);

/* Messages that were sent and never received. */
struct hang_message {
	const struct func_info *func;
	uint32_t comm_id;
	int32_t tag;
	/* how many messages have this tag and communicator */
	uint32_t cnt;
};
bool hang_other_message(const struct hang *h, const struct model_process *from,
			const struct model_process *to, struct hang_message *out);
/* The process that holds the lock of the window at the target. NULL: no holder was seen. */
const struct model_process *hang_lock_holder(const struct hang *h, const struct hang_want *w,
					     const struct model_process *self);

/* ---- hang_settle.c ---- */

/* Finds whether the other side of each want was seen, and who waits for whom. */
void hang_settle(struct hang *h);
/*
 * True if the want is a message whose other side was not begun, so that the thread waits for it.
 * For a presumed thread, it suffices that the other side was not seen.
 */
bool hang_waits(const struct hang_thread *t, const struct hang_want *w);
/*
 * Finds the first cycle of processes, each waiting for the next, that can be reached from a process
 * not yet in seen, lowest idx first. Writes the members in order to cycle, which needs room for all
 * processes. Returns their number. 0: there is no further cycle. Marks processes in seen.
 */
uint32_t hang_cycle(const struct hang *h, bool *seen, uint32_t *cycle);

/*
 * Message ends that have no other end when the recording ends. They were posted by requests, by
 * calls that are over, or by open calls.
 */

struct hang_end {
	uint32_t comm_id;
	int64_t from; /* idx of the sender, or FROM_ANY */
	uint32_t to;  /* idx of the receiver */
	int32_t tag;  /* tag, or TAG_ANY */
	bool sends;
	const struct func_info *func;
};

/* All unmatched ends of messages to one process in one communicator. */
struct hang_inbox {
	struct hang_end *end; /* owned */
	uint32_t cnt;
	/* Some ends may have another end that is unknown. */
	bool doubtful;
};

static inline uint64_t hang_lock_key(uint32_t comm_id, uint32_t window, int32_t target)
{
	return (uint64_t)comm_id << 40 ^ (uint64_t)window << 24 ^ (uint32_t)target;
}

/* Takes over the unmatched ends of an inbox. A callback for matches.left. */
void hang_ends_left(void *ctx, const struct matches *a, const struct inbox *in);
void hang_ends_release(struct hang *h);

#endif
