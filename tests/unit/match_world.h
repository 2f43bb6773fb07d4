/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A small MPI that knows which send belongs to which receive: it has the two queues that real ones have, of receives that were posted
 * and of messages that nobody expected, and ranks that do at random whatever is legal. It tells analysis/match.h what a model would,
 * and asserts that each message that is found is a true one.
 */
#ifndef POV_TESTS_MATCH_WORLD_H
#define POV_TESTS_MATCH_WORLD_H

#include "analysis/match.h"
#include "unit/model_fixture.h"

#define RANKS 5
#define OPEN_MAX 64 /* requests of a rank */

extern const struct func_info match_world_isend, match_world_wait;

/* One end, in the truth. */
struct side {
	struct side *next;  /* in a queue */
	struct side *older; /* of all */
	uint64_t request;   /* 0: the call blocks */
	uint64_t begin_ns, posted_ns;
	uint32_t place;
	int rank, peer, comm,
		tag; /* peer and tag of a receive: or PEER_ANY, TAG_ANY; once it is over, those it got */
	bool sends, over;
	bool asked; /* for the status */
	bool freed; /* its request was freed: no call completes it */
	bool found;
	struct side *other;
	struct call_roles roles; /* as it was posted */
};

struct rank {
	struct side *posted, *unexpected; /* in order */
	struct side *request[OPEN_MAX];
	uint32_t nrequests;
	struct side *blocked; /* in a receive */
};

struct match_world {
	struct mfix f;
	struct matches a;
	struct model_thread thread[RANKS];
	struct rank rank[RANKS];
	struct side *newest;
	struct map by_begin; /* begin, place → struct side */
	uint64_t now, request;
	uint64_t seed;
	bool ask_always, any;
	bool assumed;	      /* what is told, all of it */
	uint32_t told, truly; /* messages */
};

/* any: some receives take what comes from any source or with any tag. ask_always: for the status of each. */
void match_world_open(struct match_world *w, uint64_t seed, bool any, bool ask_always);
void match_world_close(struct match_world *w);
/* A rank does something. */
void match_world_step(struct match_world *w);
/* Everybody gets what it is blocked for, and then waits for all that is over. */
void match_world_drain(struct match_world *w);

/* ---- one by one ---- */

/* Tells of a call. */
void match_world_call(struct match_world *w, int rank, const struct func_info *f, uint64_t begin_ns,
		      const struct call_roles *roles);
/* Posts one end, from or to peer; with a request if started. Of a receive nobody asks for the status. */
struct side *match_world_post(struct match_world *w, int rank, bool sends, int peer, bool started);
void match_world_complete(struct match_world *w, const struct side *s);
/* A receive that has got nothing yet is cancelled; nobody asks whether it was. */
void match_world_cancel(struct match_world *w, struct side *r);

#endif
