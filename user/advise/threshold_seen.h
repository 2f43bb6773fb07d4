/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Up to which size messages were sent at once, by what they did: a send that was complete before its receive was posted was; of one that was waited for
 * until then it is likely that it was not.
 */
#ifndef POV_ADVISE_THRESHOLD_SEEN_H
#define POV_ADVISE_THRESHOLD_SEEN_H

#include "analysis/match.h"
#include "lib/map.h"

struct threshold_seen {
	uint64_t messages;
	int64_t eager_max; /* bytes; -1: none was seen */
	struct map waited; /* bytes + 1 → struct threshold_size */
};

struct threshold_size {
	uint64_t waited, at_once;
};

void threshold_seen_add(struct threshold_seen *s, const struct match *m);
/* Of the messages above a limit more were sent at once than waited for. */
bool threshold_seen_refutes(const struct threshold_seen *s, int64_t limit);
/* Of the sizes above eager_max all were waited for, and there are some: else the limit may be higher. */
bool threshold_seen_agrees(const struct threshold_seen *s);
void threshold_seen_release(struct threshold_seen *s);
/* Whether a function does nothing but send, in MPI's standard mode, whose protocol is the library's choice. */
bool threshold_is_standard(const struct func_info *f);

#endif
