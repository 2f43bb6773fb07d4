/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Waiting for the other side of point-to-point messages that had not called yet. Late sender: a call waits to complete a receive
 * whose send has not been posted; it is waited for until that begins. Late receiver: a call waits to complete a send, and is still in it
 * when the receive is posted. Of a call that completes several, no time counts twice: what one has been told to have
 * cost is not told of the next one.
 */
#ifndef POV_ANALYSIS_LATE_H
#define POV_ANALYSIS_LATE_H

#include "analysis/match.h"
#include "analysis/waited_for.h"

enum late_kind { LATE_SENDER, LATE_RECEIVER, LATE_KINDS };

/* A stretch in which a call of a thread waited, and the call that it waited for: that begins when the stretch ends. */
struct late_wait {
	enum late_kind kind;
	const struct model_thread *waiter;
	const struct match_end *late;
	uint64_t from_ns, to_ns;
};

struct late_pairs {
	struct matches matches;				   /* its sink is this analysis's */
	void (*matched)(void *ctx, const struct match *m); /* the caller's: each match; or NULL */
	void *matched_ctx;
	void (*tell)(void *ctx, const struct late_wait *w); /* the caller's: each; or NULL */
	void *ctx;
	struct map pairs[LATE_KINDS]; /* of waited_for.h */
	uint64_t uncertain
		[ASSUMED_CNT]; /* messages that are only assumed to belong together: not looked at */
	struct late_thread *thread; /* by idx; owned */
	uint32_t nthread;
};

/*
 * How long a message was waited for: LATE_SENDER by its receive, LATE_RECEIVER by its send. 0: not. Those of one call that completes
 * several lie in one another.
 */
uint64_t late_ns(const struct match *m, enum late_kind kind);

void late_init(struct late_pairs *a);
void late_release(struct late_pairs *a);

#endif
