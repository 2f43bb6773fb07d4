/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Which phase of the program a thread was in at a moment: the innermost one that it has open itself, or if it never has any, that of the
 * thread of its process that changed last. A phase has a level; what begins or ends there ends all finer ones. Moments may be
 * asked for a little late, as calls are told when they are over: the last changes of each process are kept.
 */
#ifndef POV_ANALYSIS_PHASES_H
#define POV_ANALYSIS_PHASES_H

#include "lib/names.h"
#include "model/model.h"

struct phases {
	struct names *names;		 /* the caller's: texts of the phases */
	struct process_phases **process; /* by idx, NULL: marked none; owned */
	uint32_t nprocess;		 /* allocated */
	struct thread_phases *thread;	 /* by idx; owned */
	uint32_t nthread;		 /* allocated */
};

void phases_init(struct phases *a, struct names *names);
void phases_release(struct phases *a);
#define PHASE_LEVELS 16 /* finer ones are part of these */

/* A phase begins; its name is a number among names. 0: what is open at the level ends. */
void phases_set(struct phases *a, const struct model_thread *t, uint64_t ts_ns, uint32_t level,
		uint32_t name);
/* The phase's number among names; 0: none was open. One that has been forgotten is called "?". */
uint32_t phases_at(struct phases *a, const struct model_thread *t, uint64_t ts_ns);

#endif
