/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The core's point of view: how long each CPU ran each process. The parts of a CPU (ranks, other
 * targets, other tasks, idle, unknown) add up to the recording's wall time.
 */
#ifndef POV_ANALYSIS_CORES_H
#define POV_ANALYSIS_CORES_H

#include "analysis/windows.h"
#include "model/model.h"

struct core_row {
	/* the host's description or a record names this CPU */
	bool seen;
	/* All members below are sums. */
	uint64_t rank_ns;   /* ranks of all jobs */
	uint64_t target_ns; /* other recorded processes: launchers, helpers */
	uint64_t other_ns;  /* tasks of all other processes */
	uint64_t idle_ns;
	uint64_t unknown_ns; /* unknown whether anything ran */
	uint64_t switches;
};

struct core_share {
	uint64_t *ns; /* by CPU; owned */
	uint32_t n;
};

struct cores {
	struct model_sink sink;
	struct core_row *core; /* by CPU; owned; complete after the replay */
	/* allocated rows; only those with seen are real CPUs */
	uint32_t ncore;
	struct core_share *process; /* running time by idx of processes; owned */
	uint32_t nprocess;	    /* allocated */
	uint64_t wall_ns;
};

void cores_init(struct cores *a);
void cores_release(struct cores *a);
/* Running time of a process on a CPU. */
uint64_t cores_share_ns(const struct cores *a, uint32_t process_idx, uint32_t cpu);

/*
 * Sums up what each CPU has run, and for whom, up to the present moment of the replay. The
 * difference between two moments is what ran between them. Counting starts with a CPU's first
 * switch. Nothing is counted while it is unknown what a CPU runs.
 */

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
	struct core_share *process; /* by process idx; owned */
	uint32_t nprocess;
};

/* Forward the reports of the caller's sinks to these two. */
void core_totals_switch(struct core_totals *a, const struct model_switch *s);
void core_totals_lost(struct core_totals *a, const struct model_lost *l);
/* Totals up to ts_ns. No later switch on the CPU may be earlier than that. */
struct core_total core_totals_at(struct core_totals *a, uint16_t cpu,
				 const struct model_process *own, uint64_t ts_ns);
void core_totals_release(struct core_totals *a);

/*
 * Time that interrupts and softirqs took from ranks' running threads (record --irq), while their
 * processes use MPI (windows.h). A softirq counts without the interrupts served inside it. This
 * time is part of what the threads did: computing, or calling MPI.
 */

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
	struct interrupts_thread *thread; /* by thread idx; owned */
	struct interrupt_ring *core;	  /* interrupts, without softirqs; by CPU; owned */
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
