/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Time that interrupts and softirqs took from ranks' running threads (record --irq), while their
 * processes use MPI (windows.h). A softirq counts without the interrupts served inside it. This
 * time is part of what the threads did: computing, or calling MPI.
 */
#ifndef POV_ANALYSIS_INTERRUPTS_H
#define POV_ANALYSIS_INTERRUPTS_H

#include "analysis/windows.h"

/*
 * Interrupts that are kept of each thread and each CPU, the last ones. interrupts_within needs
 * them. They are also needed to take back those inside MPI_Finalize when that call ends.
 */
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
	bool recorded; /* the recording has interrupts */
};

/* The sink of windows must run before this one. */
void interrupts_init(struct interrupts *a, const struct windows *windows);
void interrupts_release(struct interrupts *a);
/* Interrupts of a thread; zeros if it had none. */
struct interrupts_row interrupts_of(const struct interrupts *a, uint32_t thread);
/*
 * Interrupts of a rank's thread that began in a span of time, whether its process used MPI then or
 * not. Only the last INTERRUPTS_KEPT are known.
 */
struct interrupts_row interrupts_within(const struct interrupts *a, uint32_t thread,
					uint64_t from_ns, uint64_t to_ns);

#endif
