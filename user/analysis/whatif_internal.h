/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* State that whatif.c keeps of the recording for whatif_run.c. */
#ifndef POV_ANALYSIS_WHATIF_INTERNAL_H
#define POV_ANALYSIS_WHATIF_INTERNAL_H

#include "analysis/whatif.h"
#include "lib/map.h"

/* An outermost MPI call, or a run of merged polls. */
struct whatif_call {
	uint64_t begin_ns, end_ns;
	uint32_t site : 31;
	uint32_t computes : 1; /* polls inside a computation */
	float traced_ns;       /* cost of recording it; set by untraced.c */
};

struct whatif_line {
	struct whatif_call *call; /* in order of time; owned */
	uint32_t ncall;
	uint32_t looked_at; /* result of the last search; the next one is mostly near it */
};

enum { SEND, RECV, SIDES };

struct whatif_side {
	uint64_t begin_ns; /* begin of the call that posted this side */
	/*
	 * Begin and end of the call that completed this side, with the polls before it that found
	 * nothing. end_ns 0: no call did.
	 */
	uint64_t completing_ns, end_ns;
	/* Time of WHATIF_PEER_IN_MPI. 0: this side did not wait for that. */
	uint64_t peer_in_ns;
	/* idx of the threads that posted and completed this side */
	uint32_t thread, completer;
};

struct whatif_message {
	struct whatif_side side[SIDES];
	int64_t bytes;
	uint32_t site;
	bool other_host;
};

/* A member of a collective, or one side of a message, at the time when it ended. */
struct whatif_event {
	uint64_t end_ns, begin_ns; /* end and begin of the call */
	uint32_t thread;
	uint32_t of;  /* index of member or message */
	uint8_t side; /* side of the message, or SIDES for a member */
};

struct whatif_member {
	uint64_t begin_ns;
	uint64_t wait_ns, end_ns; /* begin and end of the call that waits; end_ns 0: none does */
	uint32_t thread, joint;
	bool root; /* this member is the root */
};

/* Dependencies among the members of a collective. */
enum whatif_flow { FLOW_ALL, FLOW_FROM_ROOT, FLOW_TO_ROOT };

struct whatif_joint {
	/* index of the first member and their number; members are in order of begin */
	uint32_t first, n;
	enum whatif_flow flow;
	/*
	 * State of a run: how many members have begun so far, and the latest of their begins as it
	 * would have been.
	 */
	uint32_t begun;
	int64_t last_ns;
};

/* The last TIMES_KEPT of some durations. */
#define TIMES_KEPT 31
struct whatif_times {
	uint64_t ns[TIMES_KEPT];
	uint32_t n; /* durations ever added */
};

/* Durations of messages of one size, from when both sides were in MPI to the end of the receive. */
struct whatif_transfer {
	/* both sides stayed in MPI after both were posted */
	struct whatif_times alone;
	/* one side was outside MPI; counted from when it called MPI again */
	struct whatif_times resumed;
};

/* A stretch in which a rank's thread was blocked. */
struct whatif_sleep {
	uint64_t from_ns, to_ns;
	uint32_t thread; /* idx */
};

struct whatif {
	const struct model *model;
	struct model_sink sink;
	struct whatif_line *line; /* by idx of threads; owned */
	uint32_t nline;
	struct whatif_message *message;
	size_t nmessage;
	struct whatif_member *member;
	uint32_t nmember;
	struct whatif_joint *joint;
	uint32_t njoint;
	struct whatif_no_core *no_core; /* in order of to_ns within each thread */
	size_t nno_core;
	struct whatif_sleep *sleep; /* in order of to_ns; owned */
	size_t nsleep;
	bool sleeps_lost; /* there were more */
	struct whatif_site *site;
	uint32_t nsite;
	/* hash → index + 1 of the last site with that hash */
	struct map site_of;
	/* index + 1 of the next site with the same hash; 0: none */
	uint32_t *site_next;
	uint32_t site_next_room;
	struct map transfer; /* size, hosts → struct whatif_transfer */
	/* in order of end, thread and begin; made by whatif_settle */
	struct whatif_event *event;
	size_t nevent;
	bool settled;
	/* bytes that may still be used; SIZE_MAX: unlimited */
	size_t room_bytes;
	bool full;
};

/* End of the thread's call that began at this time; 0: it is unknown. */
uint64_t whatif_call_end(const struct whatif *w, uint32_t thread, uint64_t begin_ns);
/* Prepares the runs; only the first call does anything. */
void whatif_settle(struct whatif *w);
/* Forgets the recording up to now. */
void whatif_forget(struct whatif *w);
/* Describes the wait of one side of a message. False: that side did not wait for this. */
bool whatif_dep_of(const struct whatif_message *m, int side, enum whatif_kind kind,
		   struct whatif_dep *out);

#endif
