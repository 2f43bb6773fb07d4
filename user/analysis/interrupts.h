/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What interrupts and softirqs took of ranks' threads that ran (record --irq), while their processes use MPI (windows.h). A softirq counts
 * without the interrupts that were served within it. That time is part of what the threads did: computed, or called MPI.
 */
#ifndef POV_ANALYSIS_INTERRUPTS_H
#define POV_ANALYSIS_INTERRUPTS_H

#include "analysis/windows.h"

/* So many of the last of a thread, or a CPU, are known: those within MPI_Finalize are taken back when that ends; and interrupts_within. */
#define INTERRUPTS_KEPT 4096

struct interrupts_row {
	uint64_t cnt, ns;
};

struct interrupts {
	struct model_sink sink;
	const struct windows *windows;
	struct interrupts_thread *thread; /* by idx; owned */
	struct interrupts_core *core;	  /* by CPU; owned */
	uint32_t nthread, ncore;
	bool recorded; /* some were */
};

/* windows: of a sink that is told before this one. */
void interrupts_init(struct interrupts *a, const struct windows *windows);
void interrupts_release(struct interrupts *a);
/* Of a thread; zeros if it had none. */
struct interrupts_row interrupts_of(const struct interrupts *a, uint32_t thread);
/* Of a rank's thread, those that began within these times, of the last INTERRUPTS_KEPT; in or outside of its process's use of MPI. */
struct interrupts_row interrupts_within(const struct interrupts *a, uint32_t thread,
					uint64_t from_ns, uint64_t to_ns);

#endif
