/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* How many messages, and bytes, each rank sent to each other one: by what the calls that sent them say. */
#ifndef POV_ANALYSIS_SENT_TO_H
#define POV_ANALYSIS_SENT_TO_H

#include "analysis/pairs.h"
#include "lib/map.h"
#include "model/model.h"

struct sent_to {
	struct model_sink sink;
	const struct model *model;
	struct map pairs; /* from, to → struct pair, without context */
};

void sent_to_init(struct sent_to *a);
void sent_to_release(struct sent_to *a);
/* Valid as long as the analysis. NULL: none was sent. */
const struct pair *sent_to_find(const struct sent_to *a, uint32_t from, uint32_t to);

#endif
