/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Finds who had the core while a rank's thread was runnable and another thread ran on the CPU that
 * it waited for, and what both threads were doing. For each pair of threads on a CPU it sums how
 * long one waited for the other, by what each was doing. A thread's waiting lies in one call or
 * outside all calls. If only part of the other thread's run overlaps the waiting, each of its
 * activities counts in proportion. Only waiting while the process uses MPI counts (windows.h).
 */
#ifndef POV_ANALYSIS_CONTESTS_H
#define POV_ANALYSIS_CONTESTS_H

#include "analysis/windows.h"
#include "lib/map.h"
#include "model/model.h"

/*
 * What threads did in stretches of their lives: they were outside MPI, working in an MPI call, or
 * polling in one. A call is known only once it has ended, which may be long after a stretch inside
 * it. So a stretch is reported once all calls that can overlap it are known. The outermost call
 * decides. A thread polls from the first to the last of several polls that found nothing.
 */
enum activity {
	ACTIVITY_OWN,  /* outside MPI */
	ACTIVITY_WORK, /* in an MPI call that does not wait */
	/* in a call that waits, or in a run of polls that found nothing */
	ACTIVITY_POLL,
	ACTIVITY_UNKNOWN, /* records of calls are missing */
	ACTIVITY_CNT,
};

struct contest {
	uint32_t idx; /* index in the list of all contests */
	const struct model_thread *waiter, *holder;
	uint16_t cpu;
	enum activity waits, holds; /* what the waiter and the holder were doing */
	uint64_t ns, cnt;
	/* The longest time without a break that the waiter waited while the holder ran. */
	uint64_t worst_ns, worst_from_ns;
	/* The calls at the time of the longest wait, or NULL. */
	const struct func_info *waits_in, *holds_in;
};

struct contest_core;
struct contest_thread;

struct contests {
	struct model_sink sink;
	const struct windows *windows;
	struct contest_core *core; /* by CPU; owned */
	uint32_t ncore;
	struct contest_thread *thread; /* by thread idx; owned */
	uint32_t nthread;
	struct map sums; /* struct contest */
};

/* The sink of windows must run before this one. */
void contests_init(struct contests *a, const struct windows *windows);
void contests_release(struct contests *a);
/* All contests, grouped by the waiter's process, longest first. The caller frees the list. */
struct contest *contests_list(const struct contests *a, uint32_t *n);

#endif
