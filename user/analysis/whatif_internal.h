/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* What whatif.c keeps of the recording, and whatif_run.c goes through. */
#ifndef POV_ANALYSIS_WHATIF_INTERNAL_H
#define POV_ANALYSIS_WHATIF_INTERNAL_H

#include "analysis/whatif.h"
#include "lib/map.h"

/* An outermost call of MPI, or polls that were merged. */
struct whatif_call {
	uint64_t begin_ns, end_ns;
	uint32_t site;
	bool computes; /* polls within a computation */
};

struct whatif_line {
	struct whatif_call *call; /* in order; owned */
	uint32_t ncall, room;
};

enum { SEND, RECV, SIDES };

struct whatif_side {
	uint64_t begin_ns;		/* of the call that posted it */
	uint64_t completing_ns, end_ns; /* of the call that completed it; end 0: nobody did */
	uint64_t peer_in_ns;		/* WHATIF_PEER_IN_MPI: when; 0: it did not wait for that */
	uint32_t thread, completer;	/* idx */
};

struct whatif_message {
	struct whatif_side side[SIDES];
	int64_t bytes;
	uint32_t site;
	bool other_host;
};

/* A member of a collective, or one side of a message, by when it was over. */
struct whatif_event {
	uint64_t end_ns, begin_ns; /* of the call */
	uint32_t thread;
	uint32_t of;  /* index of member or message */
	uint8_t side; /* of the message, or SIDES: a member */
};

struct whatif_member {
	uint64_t begin_ns, end_ns;
	uint32_t thread, joint;
	bool root; /* of a call that has one */
};

/* Who must wait for whom. */
enum whatif_flow { FLOW_ALL, FLOW_FROM_ROOT, FLOW_TO_ROOT };

struct whatif_joint {
	uint32_t first, n; /* members, in order of begin */
	enum whatif_flow flow;
	/* of a run: how many of them have begun by the time it has come to, and the latest of these begins as it would have been */
	uint32_t begun;
	int64_t last_ns;
};

/* The last of some times. */
#define TIMES_KEPT 31
struct whatif_times {
	uint64_t ns[TIMES_KEPT];
	uint32_t n; /* ever */
};

/* Of messages of one size: from when both sides were in MPI to the end of the receive. */
struct whatif_transfer {
	struct whatif_times alone;   /* nobody was outside of MPI from when both were posted */
	struct whatif_times resumed; /* one was: from when it called again */
};

struct whatif {
	const struct model *model;
	struct model_sink sink;
	struct whatif_line *line; /* by idx of thread; owned */
	uint32_t nline;
	struct whatif_message *message;
	size_t nmessage, message_room;
	struct whatif_member *member;
	uint32_t nmember, member_room;
	struct whatif_joint *joint;
	uint32_t njoint, joint_room;
	struct whatif_no_core *no_core; /* in order of to_ns, of each thread */
	size_t nno_core, no_core_room;
	struct whatif_site *site;
	uint32_t nsite, site_room;
	struct map site_of;  /* hash → index + 1 of the last one with it */
	uint32_t *site_next; /* the next one of the same hash, + 1; 0: none */
	uint32_t site_next_room;
	struct map transfer;	    /* size, hosts → struct whatif_transfer */
	struct whatif_event *event; /* in order of end, thread, begin; made by whatif_settle */
	size_t nevent;
	bool settled;
	size_t room_bytes; /* left; SIZE_MAX: not bounded */
	bool full;
	/* who listened before */
	void (*joint_tell)(void *ctx, const struct arrival_joint *j);
	void *joint_ctx;
	void (*no_core_tell)(void *ctx, const struct model_thread *waiter,
			     const struct model_thread *holder, uint64_t from_ns, uint64_t to_ns);
	void *no_core_ctx;
};

/* Once, before the first run. */
void whatif_settle(struct whatif *w);
/* The wait of one side of a message; false: it did not wait for that. */
bool whatif_dep_of(const struct whatif_message *m, int side, enum whatif_kind kind,
		   struct whatif_dep *out);

#endif
