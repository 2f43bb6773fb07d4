/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Ranks that waited for one that receives from any source (MPI_ANY_SOURCE), while it was at what others had sent it: a master that
 * serves its workers one by one. A message is in the queue from the begin of the call that sends it until the receiver calls what
 * completes its receive. The receiver is at another rank's message from the end of the call that received it until its next such call.
 * What counts is what the sender waited (analysis/late.h), for its message to be taken or for an answer, while both was so.
 *
 * A receive from one rank, behind a probe of any, is not seen as one from any source. Of a call that completes several, what the
 * receiver does with the first of them before the others is not counted; nor is what lies more than ANY_SOURCE_KEPT messages back.
 */
#ifndef POV_ANALYSIS_ANY_SOURCE_H
#define POV_ANALYSIS_ANY_SOURCE_H

#include "analysis/late.h"

#define ANY_SOURCE_KEPT 1024

struct any_source {
	struct map waits;   /* of waited_for.h */
	struct map queued;  /* sender, server → struct queued */
	struct map servers; /* idx → struct server */
	void (*next)(void *ctx, const struct late_wait *w);
	void *next_ctx;
};

/* Takes what late tells of waits, and hands it on to whoever took it before. */
void any_source_init(struct any_source *a, struct late_pairs *late);
void any_source_release(struct any_source *a);
/* Each match, before the waits that follow from it. */
void any_source_match(struct any_source *a, const struct match *m);

#endif
