/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Infers from the messages up to which size they are sent at once (eagerly). A send that ended
 * before its receive was posted was eager. A send was probably not eager if the call that completed
 * it began before its receive was posted and ended after that.
 */
#ifndef POV_ADVISE_THRESHOLD_SEEN_H
#define POV_ADVISE_THRESHOLD_SEEN_H

#include "analysis/match.h"
#include "lib/map.h"

struct threshold_seen {
	uint64_t messages;
	int64_t eager_max; /* largest eager message in bytes; -1: none was seen */
	struct map waited; /* bytes + 1 → struct threshold_size */
};

struct threshold_size {
	uint64_t waited, at_once;
};

void threshold_seen_add(struct threshold_seen *s, const struct match *m);
/* Returns whether more messages above the limit were sent at once than were waited for. */
bool threshold_seen_refutes(const struct threshold_seen *s, int64_t limit);
/*
 * Returns whether any message above eager_max was waited for. If none was, the limit may be higher.
 */
bool threshold_seen_agrees(const struct threshold_seen *s);
void threshold_seen_release(struct threshold_seen *s);
/*
 * Returns whether a function only sends, in MPI's standard mode, where the library chooses the
 * protocol.
 */
bool threshold_is_standard(const struct func_info *f);

#endif
