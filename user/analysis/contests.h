/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Finds who had the core while a rank's thread was runnable and another thread ran on the CPU that
 * it waited for, and what both threads were doing. For each pair of threads on a CPU it sums how
 * long one waited for the other, by what each was doing (activity.c). A thread's waiting lies
 * in one call or outside all calls. If only part of the other thread's run overlaps the waiting,
 * each of its activities counts in proportion. Only waiting while the process uses MPI counts
 * (windows.h).
 */
#ifndef POV_ANALYSIS_CONTESTS_H
#define POV_ANALYSIS_CONTESTS_H

#include "analysis/windows.h"
#include "lib/map.h"
#include "model/model.h"

/*
 * What threads did in stretches of their lives: they were outside MPI, working in an MPI call, or
 * polling in one. A call is known only once it has ended, which may be long after a
 * stretch inside it. So a stretch is reported once all calls that can overlap it are known. The
 * outermost call decides. A thread polls from the first to the last of several polls that found
 * nothing.
 */

enum activity {
	ACTIVITY_OWN,  /* outside MPI */
	ACTIVITY_WORK, /* in an MPI call that does not wait */
	/* in a call that waits, or in a run of polls that found nothing */
	ACTIVITY_POLL,
	ACTIVITY_UNKNOWN, /* records of calls are missing */
	ACTIVITY_CNT,
};

struct stretch {
	const struct model_thread *thread;
	uint64_t from_ns, to_ns;
	/* Set once the stretch is reported; the sum is its length. */
	uint64_t ns[ACTIVITY_CNT];
	/* the call that took most of the stretch, or NULL */
	const struct func_info *func;
	uint64_t func_ns;
	void *user;	      /* the caller's data */
	struct stretch *next; /* next stretch of the same thread */
};

/*
 * Stretches of a thread that are not yet reported. To exceed this, a call would have to last
 * minutes while its thread changes state all the time.
 */
#define ACTIVITY_KEPT_MAX 65536
/* the same for a thread that has made no call so far */
#define ACTIVITY_KEPT_MAX_OWN 1024

struct activity_thread;

struct activities {
	struct activity_thread *thread; /* by idx; owned */
	uint32_t nthread;
	/* called with each finished stretch, which is freed afterwards */
	void (*known)(void *ctx, const struct stretch *s);
	void *ctx;
};

void activities_init(struct activities *a, void (*known)(void *ctx, const struct stretch *s),
		     void *ctx);
void activities_release(struct activities *a);
/*
 * Adds a stretch that has just ended: a run since the thread got a CPU, or a wait for one. Call
 * this before any later event is reported.
 */
void activities_ask(struct activities *a, const struct model_thread *t, uint64_t from_ns,
		    uint64_t to_ns, void *user);
/* Forward the reports of the model's sinks to these. */
void activities_call(struct activities *a, const struct model_call *c);
void activities_spin(struct activities *a, const struct model_spin *s);
void activities_lost(struct activities *a, const struct model_lost *l);
void activities_exit(struct activities *a, const struct model_thread *t);
void activities_finish(struct activities *a);

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
	struct activities activities;
	const struct windows *windows;
	struct contest_core *core; /* by CPU; owned */
	uint32_t ncore;
	struct contest_thread *thread; /* by idx; owned */
	uint32_t nthread;
	struct map sums; /* struct contest */
};

/* The sink of windows must run before this one. */
void contests_init(struct contests *a, const struct windows *windows);
void contests_release(struct contests *a);
/* All contests, grouped by the waiter's process, longest first. The caller frees the list. */
struct contest *contests_list(const struct contests *a, uint32_t *n);

#endif
