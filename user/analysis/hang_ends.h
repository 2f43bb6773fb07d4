/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Message ends that have no other end when the recording ends, for analysis/hang.h. They were
 * posted by requests, by calls that are over, or by open calls.
 */
#ifndef POV_ANALYSIS_HANG_ENDS_H
#define POV_ANALYSIS_HANG_ENDS_H

#include "analysis/hang.h"
#include "analysis/match_lane.h"

struct hang_end {
	uint32_t comm_id;
	int64_t from; /* idx of the sender, or FROM_ANY */
	uint32_t to;  /* idx of the receiver */
	int32_t tag;  /* tag, or TAG_ANY */
	bool sends;
	const struct func_info *func;
};

/* All unmatched ends of messages to one process in one communicator. */
struct hang_inbox {
	struct hang_end *end; /* owned */
	uint32_t cnt;
	/* Some ends may have another end that is unknown. */
	bool doubtful;
};

static inline uint64_t hang_lock_key(uint32_t comm_id, uint32_t window, int32_t target)
{
	return (uint64_t)comm_id << 40 ^ (uint64_t)window << 24 ^ (uint32_t)target;
}

/* NULL: no unmatched ends are left. */
const struct hang_inbox *hang_inbox_find(const struct hang *h, uint32_t comm_id, uint32_t to);
void hang_end_add(struct hang *h, const struct hang_end *e);
/* Takes over the unmatched ends of an inbox. A callback for matches.left. */
void hang_ends_left(void *ctx, const struct matches *a, const struct inbox *in);
void hang_ends_release(struct hang *h);

#endif
