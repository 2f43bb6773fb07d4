/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Messages that came before anybody had posted a receive for them: the library keeps them in a queue of its own, searches that when receives
 * are posted, and copies them once more. Known of those whose send was complete when the call began that posts the receive:
 * nothing but such a queue can have taken them. Of sends that are completed later, it is not known when they came.
 */
#ifndef POV_ANALYSIS_UNEXPECTED_H
#define POV_ANALYSIS_UNEXPECTED_H

#include "analysis/match.h"

#define UNEXPECTED_MIN 64	   /* so many others were received while one of them lay there */
#define UNEXPECTED_KEPT (1u << 13) /* receives, as far as is looked back */

/* What one process received so. */
struct unexpected {
	const struct model_process *process;
	const struct func_info *func; /* that posted all of these receives; NULL: several did */
	uint64_t cnt, bytes, ns;      /* ns: in the calls that posted the receives */
	uint64_t behind; /* most that were received between the end of one's send and its own receive … */
	uint64_t behind_from_ns, behind_to_ns; /* … from then to then */
	uint64_t *taken; /* when the last ones were received, in order; owned */
	uint32_t ntaken, room;
};

struct unexpecteds {
	struct map process; /* idx → struct unexpected */
};

void unexpecteds_init(struct unexpecteds *a);
void unexpecteds_release(struct unexpecteds *a);
void unexpecteds_match(struct unexpecteds *a, const struct match *m);

#endif
