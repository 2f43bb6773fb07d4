/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Messages that arrived before a receive was posted for them. The library keeps them in a queue of
 * its own, searches it whenever a receive is posted, and copies each message once more. A message
 * is known to be unexpected if its send was complete before the call that posts the receive began:
 * only such a queue can have taken it. For sends that complete later, the time of arrival is
 * unknown.
 */
#ifndef POV_ANALYSIS_UNEXPECTED_H
#define POV_ANALYSIS_UNEXPECTED_H

#include "analysis/match.h"

/* messages received while one message lay in the queue */
#define UNEXPECTED_MIN 64
#define UNEXPECTED_KEPT (1u << 13) /* how many of the last receives are kept */

/* Unexpected messages of one process. */
struct unexpected {
	const struct model_process *process;
	/* function that posted all of these receives; NULL: several did */
	const struct func_info *func;
	/* ns: time in the calls that posted the receives */
	uint64_t cnt, bytes, ns;
	/*
	 * Largest number of messages received between the end of one message's send and its own
	 * receive.
	 */
	uint64_t behind;
	uint64_t behind_from_ns, behind_to_ns; /* from the end of that send to its receive */
	/* when the last messages were received, in order; owned */
	uint64_t *taken;
	uint32_t ntaken, room;
};

struct unexpecteds {
	struct map process; /* idx → struct unexpected */
};

void unexpecteds_init(struct unexpecteds *a);
void unexpecteds_release(struct unexpecteds *a);
void unexpecteds_match(struct unexpecteds *a, const struct match *m);

#endif
