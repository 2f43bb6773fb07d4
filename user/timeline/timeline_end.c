/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Ranks that failed or did not finish (analysis/rank_ends.h): an instant at that time on the track
 * of the thread whose calls show the place.
 */
#include <stdlib.h>

#include "analysis/label.h"
#include "lib/log.h"
#include "analysis/rank_ends.h"
#include "timeline/timeline_priv.h"

static void rank_end_write(struct timeline *tl, const struct rank_ends *e,
			   const struct rank_end *end)
{
	char *text = rank_end_text(e, end), *name = rank_end_short(end);
	struct slice s = {.begin_ns = end->at_ns, .name = name, .category = "end"};

	args_reset(&tl->args);
	args_add_text(&tl->args, "text", text);
	args_add_text(&tl->args, "kind", rank_end_kinds[end->kind]);
	tl_instant_write(tl, &tl_thread_of(tl, (struct model_thread *)end->thread)->track, &s);
	free(text);
	free(name);
}

void timeline_add_ends(struct timeline *tl, const struct rank_ends *e, const bool *shown)
{
	for (uint32_t i = 0; i < e->n; i++) {
		const struct rank_end *end = &e->end[i];

		if (end->kind != RANK_END_RUNNING && end->thread && shown[end->process->idx] &&
		    tl_in_window(tl, end->at_ns))
			rank_end_write(tl, e, end);
	}
}
