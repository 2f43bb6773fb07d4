/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* What parts.c keeps of the replay, and parts_conclude.c makes rows of. */
#ifndef POV_ANALYSIS_PARTS_INTERNAL_H
#define POV_ANALYSIS_PARTS_INTERNAL_H

#include "analysis/parts.h"
#include "analysis/phases.h"
#include "analysis/whatif.h"

/* A thread in one part. */
struct part_visits {
	bool in;
	struct app_entry entry;		/* of the visit under way */
	struct app_sums sums;		/* of those that are over */
	struct whatif_stretch *stretch; /* the same; owned */
	uint32_t n, room;
};

struct part_thread {
	struct part_visits **part; /* by id, NULL: never in it; owned */
	uint32_t npart;
	uint32_t open[PHASE_LEVELS]; /* names of phases; 0: none */
};

/* NULL: it was never in it. */
static inline const struct part_visits *part_visits_of(const struct parts *a, uint32_t thread,
						       uint32_t id)
{
	const struct part_thread *t = thread < a->nthread ? &a->thread[thread] : NULL;

	return t && id < t->npart ? t->part[id] : NULL;
}

#endif
