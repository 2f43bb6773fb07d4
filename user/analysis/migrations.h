/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Finds how ranks' threads got a CPU: how long after a wake-up they ran, and how often on another
 * CPU than before. The time that a thread waited for a CPU while it was moved is the least cost of
 * its migrations. The cost of cold caches on the new CPU is unknown.
 *
 * Held back: a thread had to leave its CPU although it could have gone on, and the CPU was idle.
 * The scheduler does that only to threads whose group of processes has used up its CPU time
 * (cgroups' cpu.max, cpu.cfs_quota_us). Threads of the group that are woken meanwhile wait, too.
 */
#ifndef POV_ANALYSIS_MIGRATIONS_H
#define POV_ANALYSIS_MIGRATIONS_H

#include "lib/statistics.h"
#include "model/model.h"

/* A wake-up is slow if the thread runs this long after it or later, although the core was idle. */
#define WAKEUP_SLOW_NS 100000
/*
 * A thread is held back if the CPU that it left was idle for this long while it could have gone on.
 */
#define HELD_BACK_NS 1000000

struct migrations_thread {
	/* back: migrations to the CPU that the last move had left */
	uint64_t migrations, back;
	uint64_t migrations_wait_ns;
	/* the longest wait in which the thread was moved */
	uint64_t worst_ns, worst_from_ns;
	/* CPU that the last move left; valid if migrations > 0 */
	uint32_t from_cpu;
	bool moved; /* the thread was moved in the current wait */
	/* time of the wake-up; 0: it was not woken since it ran */
	uint64_t woken_ns;
	/*
	 * begin of its wait for a CPU (0: it does not wait), and the CPU's total idle time by then
	 */
	uint64_t wants_ns, wants_idle_ns;
	uint16_t wants_cpu;
	/* it waits since a wake-up; else since it left that CPU */
	bool wants_woken;
};

struct migrations_process {
	struct histogram wakeups; /* ns from each wake-up until the thread ran */
	/* wake-ups that took WAKEUP_SLOW_NS or more on an idle core */
	uint64_t slow, slow_ns;
	uint64_t worst_ns, worst_from_ns;
	uint32_t worst_cpu;
	/* Threads held back for HELD_BACK_NS or more after they had left their CPU. */
	uint64_t held_back, held_back_ns;
	/* Threads held back for HELD_BACK_NS or more after a wake-up. */
	uint64_t held_back_woken, held_back_woken_ns;
	uint64_t held_worst_ns, held_worst_from_ns;
	uint32_t held_worst_cpu;
};

struct migrations_core {
	uint64_t idle_since_ns; /* 0: the CPU is not idle */
	uint64_t idle_ns;	/* total idle time before idle_since_ns */
};

struct migrations {
	struct model_sink sink;
	struct migrations_thread *thread; /* by thread idx; owned */
	uint32_t nthread;
	struct migrations_process *process; /* by process idx; owned */
	uint32_t nprocess;
	struct migrations_core *core; /* by CPU; owned */
	uint32_t ncore;
};

void migrations_init(struct migrations *a);
void migrations_release(struct migrations *a);

#endif
