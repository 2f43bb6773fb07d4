/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Where ranks are when the recording ends, and whom they wait for there. An open call says what it waits for: a message, its
 * receiver, the other members of a communicator. The records before it say which of that has not happened. Nothing is concluded
 * where records are missing that could have said otherwise.
 */
#ifndef POV_ANALYSIS_HANG_H
#define POV_ANALYSIS_HANG_H

#include "analysis/match.h"
#include "lib/map.h"
#include "model/model.h"

struct inbox;

enum hang_kind {
	HANG_RECV,     /* a message from peer */
	HANG_SEND,     /* peer's receive */
	HANG_TOGETHER, /* members of a communicator or window */
	HANG_LOCK,     /* the lock of a window at target `peer`, or accesses there */
	HANG_FILE,     /* a file */
	HANG_OTHER,    /* unknown */
};

/* Whether the other side of it was seen. */
enum hang_other {
	HANG_UNKNOWN, /* records that could say so are missing */
	HANG_SEEN,    /* it is under way, or over */
	HANG_UNSEEN,  /* nobody has begun it */
};

/* One thing that an open call waits for. */
struct hang_want {
	enum hang_kind kind;
	enum hang_other other;
	const struct func_info *func;	     /* that began it: MPI_Irecv, of a call of MPI_Wait */
	uint32_t comm_id;		     /* of call_roles; 0: unknown */
	bool world;			     /* it is MPI_COMM_WORLD */
	int32_t comm_size;		     /* -1: unknown */
	int32_t peer, tag;		     /* RECV, SEND, LOCK: as of call_roles */
	const struct model_process *process; /* the peer; NULL: unknown, any, or not in the trace */
	uint64_t joint;			     /* TOGETHER: key of hang.joints; 0: unknown */
	uint64_t number; /* of the calls on it that its members make together, from 1 */
	const struct model_process *root; /* NULL: it has none, or it is unknown */
	bool for_all;			  /* it cannot return before all members have called */
	bool for_root;			  /* it cannot return before the root has called */
};

/* A thread of a rank that lives when the recording ends, and has made calls of MPI. */
struct hang_thread {
	const struct model_thread *thread;
	const struct func_info
		*func; /* of its open call; or, if polls, of its polls; NULL: it is outside MPI */
	bool polls;    /* it polls, and has found nothing */
	bool before;   /* its call was under way when the recording began */
	bool any;      /* one of what it waits for is enough */
	bool presumed; /* hang_settle: before, and it has been in the call for all of the recording and could work */
	struct model_site site;
	uint64_t since_ns; /* begin of its call; of its polls; end of its last call. 0: it made none */
	uint64_t polled;	      /* how often */
	const struct func_info *last; /* its last call that has returned, or NULL … */
	struct model_site last_site;
	struct model_site
		at; /* outside MPI: where its program was when the recording ended; address 0: unknown */
	struct state_times times; /* since then */
	struct hang_want *want;	  /* owned */
	uint32_t nwant;
	uint32_t *waits_for; /* idx of processes that have not done what it waits for; owned */
	uint32_t nwaits_for;
	bool stuck; /* hang_settle: none of these can do it */
};

/* The last call of a member of a communicator or window among those that its members make together. */
struct hang_part {
	uint64_t number; /* from 1 */
	const struct func_info *func;
	struct model_site site;
};

struct hang_joint {
	uint32_t comm_id;
	int32_t size; /* members */
	bool world, is_window;
	struct call_member *member; /* owned; NULL: unknown */
	struct map part;	    /* process idx → struct hang_part */
};

/* What a process waits for, or why it will do nothing more. */
struct hang_process {
	bool called;	   /* MPI */
	bool finalized;	   /* it has left MPI_Finalize */
	bool multiple;	   /* threads of it may call MPI at the same time; or it is unknown */
	bool ends;	   /* it does not live when the recording ends */
	bool stuck;	   /* hang_settle: none of its threads can go on */
	uint32_t in_calls; /* threads of it that are in calls, or poll */
};

struct hang {
	struct model_sink sink;
	const struct model *model;
	struct hang_thread
		*thread; /* by idx of threads; those without `thread` are of no interest; owned */
	uint32_t nthread;
	struct hang_process *process; /* by idx; owned */
	uint32_t nprocess;
	struct map joints;   /* struct hang_joint */
	struct map numbers;  /* process and request → number of the nonblocking collective */
	struct map inboxes;  /* communicator, receiver → struct hang_inbox */
	struct map locks;    /* communicator, window, target → struct hang_lock */
	bool lost;	     /* records of calls, or calls that never made one */
	bool partial;	     /* not all functions of MPI were to be recorded */
	bool cut;	     /* the file is cut off: which calls were open is unknown */
	uint32_t open;	     /* threads in open calls */
	uint64_t longest_ns; /* of these calls that wait */
};

/* matches: their sink runs before this one. */
void hang_init(struct hang *h, struct matches *matches);
void hang_release(struct hang *h);

/* Whether calls that the process made before may be missing. */
bool hang_may_miss(const struct hang *h, const struct model_process *p);
/* The process of a member of a communicator; NULL: it is not in the trace. */
const struct model_process *hang_member(const struct hang *h, const struct model_process *self,
					struct call_member member);
/* The number of the last call that the process made together with others; 0: none. */
uint64_t hang_number(const struct hang_joint *j, const struct model_process *p);

/* A message that was sent and never received, from `from` to `to`; tag, communicator. False: there is none. */
struct hang_message {
	const struct func_info *func;
	uint32_t comm_id;
	int32_t tag;
	uint32_t cnt; /* how many such */
};
bool hang_other_message(const struct hang *h, const struct model_process *from,
			const struct model_process *to, struct hang_message *out);
/* Who holds a lock of that window at that target, NULL: nobody that was seen. */
const struct model_process *hang_lock_holder(const struct hang *h, const struct hang_want *w,
					     const struct model_process *self);

/* ---- hang_settle.c ---- */

/* Finds out of each want whether its other side was seen, and who waits for whom. */
void hang_settle(struct hang *h);
/* Whether it is a message whose other side was not begun, or, of a presumed one, not while it was recorded: so that the thread waits for that. */
bool hang_waits(const struct hang_thread *t, const struct hang_want *w);
/*
 * The members of the first cycle that begins at a process with this idx or a higher one, in order, each waiting for the next; 0: none.
 * cycle: room for all processes.
 */
uint32_t hang_cycle(const struct hang *h, bool *seen, uint32_t *cycle);

#endif
