/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * How threads of ranks came to run: how long after they were woken, and how often on another CPU than before. The waiting for a CPU in
 * which a thread was moved is what the moves cost at least: what it finds cold there, nobody tells.
 *
 * Held back: a thread that had to leave its CPU could have gone on, and the CPU was idle. The scheduler does that to none but those whose
 * group of processes has used up its CPU time (cgroups' cpu.max, cpu.cfs_quota_us). Threads of it that are woken meanwhile wait, too.
 */
#ifndef POV_ANALYSIS_MOVES_H
#define POV_ANALYSIS_MOVES_H

#include "analysis/histogram.h"
#include "model/model.h"

#define WAKEUP_SLOW_NS 100000 /* from a wake-up until it runs, though the core was idle */
#define HELD_BACK_NS \
	1000000 /* that a CPU was idle while the thread that had left it could have gone on */

struct moves_thread {
	uint64_t moves, back; /* back: to the CPU that it was moved away from last */
	uint64_t moves_wait_ns;
	uint64_t worst_ns, worst_from_ns; /* of these waits */
	uint32_t from_cpu;		  /* of the last move; valid if moves */
	bool moved;			  /* in its waiting, which is under way */
	uint64_t woken_ns;		  /* 0: it was not woken since it ran */
	/* Since when it may wait for a CPU, 0: it does not, and how long that one had been idle by then. */
	uint64_t wants_ns, wants_idle_ns;
	uint16_t wants_cpu;
	bool wants_woken; /* it was woken then; else it left that CPU */
};

struct moves_process {
	struct histogram wakeups; /* ns from each until it ran */
	uint64_t slow, slow_ns;	  /* WAKEUP_SLOW_NS or more, on an idle core */
	uint64_t worst_ns, worst_from_ns;
	uint32_t worst_cpu;
	uint64_t held_back,
		held_back_ns; /* HELD_BACK_NS or more, of those that had left their CPU … */
	uint64_t held_back_woken, held_back_woken_ns; /* … and those that were woken */
	uint64_t held_worst_ns, held_worst_from_ns;
	uint32_t held_worst_cpu;
};

struct moves_core {
	uint64_t idle_since_ns; /* 0: it is not idle */
	uint64_t idle_ns;	/* before that */
};

struct moves {
	struct model_sink sink;
	struct moves_thread *thread; /* by idx; owned */
	uint32_t nthread;
	struct moves_process *process; /* by idx; owned */
	uint32_t nprocess;
	struct moves_core *core; /* by CPU; owned */
	uint32_t ncore;
};

void moves_init(struct moves *a);
void moves_release(struct moves *a);

#endif
