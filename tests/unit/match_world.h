/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A small MPI that knows which send belongs to which receive. Like a real one, it has two queues:
 * posted receives and unexpected messages. Its ranks take random legal actions. It passes to
 * analysis/match.h what a model would, and asserts that each match found is a true one.
 */
#ifndef POV_TESTS_MATCH_WORLD_H
#define POV_TESTS_MATCH_WORLD_H

#include "analysis/match.h"
#include "unit/model_fixture.h"

#define RANKS 5
#define OPEN_MAX 64 /* requests per rank */

extern const struct func_info match_world_isend, match_world_wait;

/* The truth about one end of a message. */
struct side {
	struct side *next;  /* next in its queue */
	struct side *older; /* list of all sides */
	uint64_t request;   /* 0: blocking call */
	uint64_t begin_ns, posted_ns;
	uint32_t place;
	/*
	 * Peer and tag of a receive may be PEER_ANY and TAG_ANY. Once it is over, they are those
	 * received.
	 */
	int rank, peer, comm, tag;
	bool sends, over;
	bool asked; /* its status was requested */
	bool freed; /* its request was freed, so no call completes it */
	bool found;
	struct side *other;
	struct call_roles roles; /* as posted */
};

struct rank {
	struct side *posted, *unexpected; /* in posting order and arrival order */
	struct side *request[OPEN_MAX];
	uint32_t nrequests;
	struct side *blocked; /* the receive that it is blocked in */
};

struct match_world {
	struct mfix f;
	struct matches a;
	struct model_thread thread[RANKS];
	struct rank rank[RANKS];
	struct side *newest;
	struct map by_begin; /* (begin, place) → struct side */
	uint64_t now, request;
	uint64_t seed;
	bool ask_always, any;
	bool assumed;		 /* all matches must be reported as assumed */
	uint32_t matched, truly; /* messages matched: reported, and in truth */
};

/*
 * any: some receives take messages from any source or with any tag. ask_always: each receive asks
 * for its status.
 */
void match_world_open(struct match_world *w, uint64_t seed, bool any, bool ask_always);
void match_world_close(struct match_world *w);
/* Makes a rank do something. */
void match_world_step(struct match_world *w);
/* Ends all blocking receives, then waits for all requests that are over. */
void match_world_drain(struct match_world *w);

/* ---- one by one ---- */

/* Passes a call to the analysis. */
void match_world_call(struct match_world *w, int rank, const struct func_info *f, uint64_t begin_ns,
		      const struct call_roles *roles);
/*
 * Posts one end, from or to peer; with a request if `started`. A receive does not ask for its
 * status.
 */
struct side *match_world_post(struct match_world *w, int rank, bool sends, int peer, bool started);
void match_world_complete(struct match_world *w, const struct side *s);
/* Cancels a receive that has no message yet. Nobody asks if the cancellation succeeded. */
void match_world_cancel(struct match_world *w, struct side *r);

#endif
