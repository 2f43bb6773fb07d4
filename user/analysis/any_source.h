/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Ranks that waited for a receiver that takes messages from any source (MPI_ANY_SOURCE) while it
 * was busy with other ranks' messages: a master that serves its workers one by one. A message is
 * queued from the begin of the call that sends it until the receiver calls what completes its
 * receive. The receiver is busy with a rank's message from the end of the call that received it
 * until its next such call. The result is the sender's waiting (analysis/late.h), for its message
 * to be taken or for an answer. It counts while the message was queued and the receiver was busy
 * with others.
 *
 * A receive from one rank after a probe of any source does not count as one from any source. If a
 * call completes several receives, the time that the receiver spends on the first ones before the
 * others is not counted. Neither is anything more than ANY_SOURCE_KEPT messages back.
 */
#ifndef POV_ANALYSIS_ANY_SOURCE_H
#define POV_ANALYSIS_ANY_SOURCE_H

#include "analysis/late.h"

#define ANY_SOURCE_KEPT 1024

struct any_source {
	struct map waits;   /* see waited_for.h */
	struct map queued;  /* sender, server → struct queued */
	struct map servers; /* idx → struct server */
	void (*next)(void *ctx, const struct late_wait *w);
	void *next_ctx;
};

/* Takes over the wait callback of late, and calls the previous one too. */
void any_source_init(struct any_source *a, struct late_pairs *late);
void any_source_release(struct any_source *a);
/* Call this for each match, before the waits that follow from it are reported. */
void any_source_match(struct any_source *a, const struct match *m);

#endif
