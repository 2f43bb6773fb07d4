/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Ends of messages in the order in which they were posted. All that a process receives in a communicator is an inbox; what one
 * sender sends there with one tag, a lane of it: a queue of sends and one of receives, first to first. Receives that may take from
 * several lanes wait beside them, until it is known which it was.
 */
#ifndef POV_ANALYSIS_MATCH_LANE_H
#define POV_ANALYSIS_MATCH_LANE_H

#include "analysis/match.h"

struct match_posted {
	struct match_posted *prev, *next; /* in order of posting */
	struct match_posted *replaced; /* match.c: posted earlier by a request of the same name */
	struct match_end end;
	uint64_t order_ns; /* begin of the call that posted it; of the probe that has matched it */
	bool sends;
	bool over;	/* it was completed: end is what came of it */
	bool cancelled; /* somebody tried to */
	bool in_doubt;	/* and nobody asked whether it was */
	struct inbox *inbox;
	struct lane *lane; /* of it; NULL: it may take from several */
	int64_t from;	   /* idx of the sender, or FROM_ANY */
	int32_t tag;	   /* or TAG_ANY */
};
#define FROM_ANY (-1)

struct posted_queue {
	struct match_posted *first, *last;
	uint32_t cnt;
};

struct lane {
	uint32_t from; /* idx */
	int32_t tag;
	struct posted_queue sends, recvs;
};

struct inbox {
	uint32_t comm_id, to;	  /* idx */
	struct map lanes;	  /* from, tag → struct lane */
	size_t sweep_at;	  /* lanes, of which those that are empty are to be freed */
	struct posted_queue wild; /* receives that may take from several lanes */
	bool blocked;		  /* an earlier one of these may take what a receive waits for */
	bool waits;		  /* is on the list of those that wait */
	bool doubtful; /* nobody asked whether something was cancelled, or had its message */
};

/* Made if need be. */
struct inbox *match_inbox(struct matches *a, uint32_t comm_id, uint32_t to);
void match_inboxes_release(struct matches *a);
/* Takes its place, by inbox, from and tag; takes over what is posted. */
void match_post(struct matches *a, struct match_posted *p);
/* It is over, and from and tag are what they turned out to be: tells what can be told now, and may free it. */
void match_over(struct matches *a, struct match_posted *p, int64_t from, int32_t tag);
/* Nothing came of it: it was cancelled, or completed with an error. Frees it. */
void match_withdraw(struct matches *a, struct match_posted *p);
/* It is over, a receive, and either cancelled or not, which nobody asked: told when nothing may come that it could have taken. May free it. */
void match_in_doubt(struct matches *a, struct match_posted *p);
/* Looks again at those that wait for calls that may still be told. */
void match_look(struct matches *a);
/* Nothing more will come. */
void match_finish(struct matches *a);

/* ---- match.c ---- */

void match_count(struct matches *a, const struct match_posted *p, enum match_why why);
/* No call that posted an earlier one may still be told. */
bool match_settled(const struct matches *a, const struct match_posted *p);
/* No call that began earlier will be told. */
uint64_t match_told_until(const struct matches *a);
/* doubtful: something before it was cancelled, or was not. */
enum match_assumed match_assumed(const struct matches *a, const struct match *m, bool doubtful);

#endif
