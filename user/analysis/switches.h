/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Counts how often threads left their CPU and migrated. Counted as the kernel does: after a
 * voluntary switch the thread sleeps; after an involuntary one it is still runnable (preempted, or
 * it yielded).
 */
#ifndef POV_ANALYSIS_SWITCHES_H
#define POV_ANALYSIS_SWITCHES_H

#include "model/model.h"

struct switch_row {
	uint64_t switches; /* voluntary + involuntary */
	uint64_t voluntary, involuntary;
	uint64_t migrations;
	uint64_t wakeups; /* wake-ups of its threads */
};

struct switches {
	struct model_sink sink;
	struct switch_row *process, *thread; /* by idx; owned; complete after the replay */
	uint32_t nprocess, nthread;	     /* allocated */
};

void switches_init(struct switches *a);
void switches_release(struct switches *a);

#endif
