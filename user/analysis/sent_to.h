/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Messages and bytes that each rank sent to each other rank, as reported by the sending calls. */
#ifndef POV_ANALYSIS_SENT_TO_H
#define POV_ANALYSIS_SENT_TO_H

#include "analysis/pairs.h"
#include "lib/map.h"
#include "model/model.h"

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
