/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Sums up what each CPU has run, and for whom, up to the present moment of the replay. The
 * difference between two moments is what ran between them. Counting starts with a CPU's first
 * switch. Nothing is counted while it is unknown what a CPU runs.
 */
#ifndef POV_ANALYSIS_CORE_TOTALS_H
#define POV_ANALYSIS_CORE_TOTALS_H

#include "model/model.h"

struct core_total {
	uint64_t own_ns;   /* threads of the process in question */
	uint64_t ranks_ns; /* threads of other ranks */
	uint64_t other_ns; /* other tasks */
	uint64_t idle_ns;
};

struct core_run;

struct core_totals {
	struct core_run *core; /* by CPU; owned */
	uint32_t ncore;
	struct core_run_process *process; /* by idx; owned */
	uint32_t nprocess;
};

/* Forward the reports of the caller's sinks to these two. */
void core_totals_switch(struct core_totals *a, const struct model_switch *s);
void core_totals_lost(struct core_totals *a, const struct model_lost *l);
/* Totals up to ts_ns. No later switch on the CPU may be earlier than that. */
struct core_total core_totals_at(struct core_totals *a, uint16_t cpu,
				 const struct model_process *own, uint64_t ts_ns);
void core_totals_release(struct core_totals *a);

#endif
