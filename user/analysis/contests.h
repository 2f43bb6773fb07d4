/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Who had the core, and what both were doing: while a thread of a rank was runnable, another thread ran on the CPU that it waited for. Of
 * each two threads on a CPU: how long one waited for the other, by what each did (doing.h). A thread's waiting lies in one call or outside all;
 * of a stretch that the other ran, and that lies in the waiting in part only, each activity is taken in proportion. Only what is waited
 * while the process uses MPI counts (windows.h).
 */
#ifndef POV_ANALYSIS_CONTESTS_H
#define POV_ANALYSIS_CONTESTS_H

#include "analysis/doing.h"
#include "analysis/windows.h"
#include "lib/map.h"

struct contest {
	uint32_t idx; /* in the list of all */
	const struct model_thread *waiter, *holder;
	uint16_t cpu;
	enum doing waits, holds; /* what they were doing */
	uint64_t ns, cnt;
	uint64_t worst_ns,
		worst_from_ns; /* the longest that it waited without a break, while that one ran */
	const struct func_info *waits_in, *holds_in; /* then: the calls, or NULL */
};

struct contest_core;
struct contest_thread;

struct contests {
	struct model_sink sink;
	struct doings doings;
	const struct windows *windows;
	struct contest_core *core; /* by CPU; owned */
	uint32_t ncore;
	struct contest_thread *thread; /* by idx; owned */
	uint32_t nthread;
	struct map sums; /* struct contest */
};

/* windows: of a sink that is told before this one. */
void contests_init(struct contests *a, const struct windows *windows);
void contests_release(struct contests *a);
/* All, those of one process's waiting together, the longest first. Caller frees. */
struct contest *contests_list(const struct contests *a, uint32_t *n);

#endif
