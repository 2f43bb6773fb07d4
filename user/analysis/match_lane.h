/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Message ends in posting order. An inbox is everything that one process receives in one
 * communicator. A lane of it is what one sender sends there with one tag: a queue of sends and a
 * queue of receives, matched first to first. Receives that may take from several lanes wait beside
 * the lanes until it is known which lane it was.
 */
#ifndef POV_ANALYSIS_MATCH_LANE_H
#define POV_ANALYSIS_MATCH_LANE_H

#include "analysis/match.h"

struct match_posted {
	struct match_posted *prev, *next; /* in posting order */
	/* match.c: an end posted earlier by a request with the same handle */
	struct match_posted *replaced;
	struct match_end end;
	/* begin of the call that posted it, or of the probe that matched it */
	uint64_t order_ns;
	bool sends;
	bool over;	/* it was completed, and `end` is final */
	bool cancelled; /* the program tried to cancel it */
	/* the program tried to cancel it, and did not ask whether that succeeded */
	bool in_doubt;
	struct inbox *inbox;
	/* lane of the inbox; NULL: it may take from several */
	struct lane *lane;
	int64_t from; /* idx of the sender, or FROM_ANY */
	int32_t tag;  /* tag, or TAG_ANY */
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
	uint32_t comm_id, to; /* idx */
	struct map lanes;     /* from, tag → struct lane */
	/* number of lanes at which the empty ones are freed */
	size_t sweep_at;
	struct posted_queue wild; /* receives that may take from several lanes */
	/* an earlier wildcard receive may take what a receive waits for */
	bool blocked;
	bool waits; /* the inbox is in matches.waiting */
	/* The program did not ask whether something was cancelled or had its message. */
	bool doubtful;
};

/* Creates the inbox if needed. */
struct inbox *match_inbox(struct matches *a, uint32_t comm_id, uint32_t to);
void match_inboxes_release(struct matches *a);
/* Queues an end by its inbox, from and tag. Takes ownership of p. */
void match_post(struct matches *a, struct match_posted *p);
/*
 * The operation is over, and from and tag are final. Reports the matches that are certain now. May
 * free p.
 */
void match_over(struct matches *a, struct match_posted *p, int64_t from, int32_t tag);
/* Drops an end that was cancelled or completed with an error. Frees p. */
void match_withdraw(struct matches *a, struct match_posted *p);
/*
 * The receive is over, but the program did not ask whether it was cancelled. It is settled once no
 * message can come that it could have taken. May free p.
 */
void match_in_doubt(struct matches *a, struct match_posted *p);
/* Retries the inboxes that wait for calls not yet reported. */
void match_look(struct matches *a);
/* Settles everything; no more calls will come. */
void match_finish(struct matches *a);

/* ---- match.c ---- */

void match_count(struct matches *a, const struct match_posted *p, enum match_why why);
/* True if no unreported call can have posted an earlier end in the same process. */
bool match_settled(const struct matches *a, const struct match_posted *p);
/* All calls that began before this time have been reported. */
uint64_t match_known_until(const struct matches *a);
/* doubtful: something before the match may or may not have been cancelled. */
enum match_assumed match_assumed(const struct matches *a, const struct match *m, bool doubtful);

#endif
