/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Who sent how much to whom: the traffic between processes of the trace, in the direction in which the bytes went, whoever posted. What
 * went to or came from elsewhere is not in it.
 */
#ifndef POV_ANALYSIS_PAIRS_H
#define POV_ANALYSIS_PAIRS_H

#include "analysis/traffic.h"

struct pair {
	uint32_t from, to;	/* idx of processes */
	uint32_t context, func; /* of traffic_key, for which they are told apart; of the poster */
	uint64_t messages, bytes, unknown;
};

/*
 * Of posts of the processes wanted (by idx, n of them), most bytes first; by_func: a row for each function, else for both ends
 * only. After the replay. Caller frees.
 */
struct pair *pairs_find(const struct traffic *a, const bool *wanted, uint32_t n, bool by_func,
			uint32_t *npair);

#endif
