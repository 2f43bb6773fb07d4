/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The phase of the program that a thread was in at a moment: the innermost phase that it has open
 * itself. A thread that never has a phase gets that of the thread in its process that changed its
 * phase last. A phase has a level; a begin or end at a level ends all finer phases. Queries may
 * come a little late, as calls are reported when they are over: the last changes of each process
 * are kept.
 */
#ifndef POV_ANALYSIS_PHASES_H
#define POV_ANALYSIS_PHASES_H

#include "lib/names.h"
#include "model/model.h"

struct phases {
	struct names *names;		 /* texts of the phases; the caller's */
	struct process_phases **process; /* by idx, NULL: no phases were marked; owned */
	uint32_t nprocess;		 /* allocated */
	struct thread_phases *thread;	 /* by idx; owned */
	uint32_t nthread;		 /* allocated */
};

void phases_init(struct phases *a, struct names *names);
void phases_release(struct phases *a);
/* levels that are told apart; finer phases count as part of coarser ones */
#define PHASE_LEVELS 16

/*
 * Begins a phase whose name is a number in `names`. 0: ends the phase that is open at this level.
 */
void phases_set(struct phases *a, const struct model_thread *t, uint64_t ts_ns, uint32_t level,
		uint32_t name);
/* Number of the phase in `names`. 0: none was open. "?" if the change is no longer kept. */
uint32_t phases_at(struct phases *a, const struct model_thread *t, uint64_t ts_ns);

#endif
