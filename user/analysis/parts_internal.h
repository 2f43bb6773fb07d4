/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* State that parts.c keeps during the replay and parts_conclude.c turns into rows. */
#ifndef POV_ANALYSIS_PARTS_INTERNAL_H
#define POV_ANALYSIS_PARTS_INTERNAL_H

#include "analysis/parts.h"
#include "analysis/phases.h"
#include "analysis/whatif.h"

/* The visits of a thread to one part. */
struct part_visits {
	bool in;
	struct app_entry entry;		/* begin of the current visit */
	struct app_sums sums;		/* sums of the visits that are over */
	struct whatif_stretch *stretch; /* stretches of the visits that are over; owned */
	uint32_t n, room;
};

struct part_thread {
	struct part_visits **part; /* by id, NULL: never in the part; owned */
	uint32_t npart;
	/* open phases by level: numbers of names; 0: none */
	uint32_t open[PHASE_LEVELS];
};

/* NULL: the thread was never in the part. */
static inline const struct part_visits *part_visits_of(const struct parts *a, uint32_t thread,
						       uint32_t id)
{
	const struct part_thread *t = thread < a->nthread ? &a->thread[thread] : NULL;

	return t && id < t->npart ? t->part[id] : NULL;
}

#endif
