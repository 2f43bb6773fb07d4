/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Traffic between processes of the trace, in the direction in which the bytes went, whichever side
 * posted. Traffic with processes outside the trace is not included.
 */
#ifndef POV_ANALYSIS_PAIRS_H
#define POV_ANALYSIS_PAIRS_H

#include "analysis/traffic.h"
#include "lib/map.h"
#include "model/model.h"

struct pair {
	uint32_t from, to; /* idx of processes */
	/* The poster's context and function (see traffic_key), if rows are split by them. */
	uint32_t context, func;
	uint64_t messages, bytes, unknown;
};

/*
 * Sums up the posts of the wanted processes (by idx, n of them), most bytes first. by_func: one row
 * per pair and function; else one row per pair. Call after the replay. The caller frees the list.
 */
struct pair *pairs_find(const struct traffic *a, const bool *wanted, uint32_t n, bool by_func,
			uint32_t *npair);

/* Messages and bytes that each rank sent to each other rank, as reported by the sending calls. */

struct sent_to {
	struct model_sink sink;
	const struct model *model;
	/* from, to → struct pair; its context is unused */
	struct map pairs;
};

void sent_to_init(struct sent_to *a);
void sent_to_release(struct sent_to *a);
/* Valid as long as the analysis is. NULL: nothing was sent. */
const struct pair *sent_to_find(const struct sent_to *a, uint32_t from, uint32_t to);

#endif
