/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Finds who waited for whom in one-sided communication (MPI standard, One-Sided Communications,
 * Synchronization Calls). Fences are in arrivals.h.
 *
 * Late post: an origin is in MPI_Win_start (or in MPI_Win_complete, if its library waits there),
 * and a target has not called MPI_Win_post. Late complete: a target is in MPI_Win_wait, and an
 * origin has not called MPI_Win_complete. On one window, the n-th exposure of a target that names
 * an origin belongs to the n-th access of that origin that names the target. If several processes
 * are missing, the wait is shared among them. Lock contention (locks.c) and targets outside MPI
 * (passive.c) are reported through this analysis, too.
 *
 * After A. Kühnal, M.-A. Hermanns, B. Mohr, F. Wolf: Specification of Inefficiency Patterns for
 * MPI-2 One-Sided Communication (Euro-Par 2006). There, late complete is a part of "early wait",
 * which is what this analysis reports: see kmod-docs/FINDINGS_MESSAGES.md.
 *
 * Unmatched epochs are counted with the reason. Memory is bounded by the epochs that are in
 * progress or have only one side; at most EPOCHS_KEPT_MAX sides are kept.
 */
#ifndef POV_ANALYSIS_EPOCHS_H
#define POV_ANALYSIS_EPOCHS_H

#include "analysis/arrivals.h"
#include "analysis/late.h"

#define EPOCHS_KEPT_MAX (1u << 16)

enum epoch_kind {
	EPOCH_LATE_POST,
	EPOCH_LATE_COMPLETE,
	EPOCH_LOCKED,
	/*
	 * The target did not call MPI, and its library carries out accesses only in calls
	 * (passive.c).
	 */
	EPOCH_NO_PROGRESS,
	EPOCH_KINDS,
};

enum epoch_why {
	EPOCH_MATCHED,
	/* the call that made its window was not recorded */
	EPOCH_WINDOW_UNKNOWN,
	/* the call that made its group was not recorded */
	EPOCH_GROUP_UNKNOWN,
	EPOCH_UNCERTAIN, /* an earlier epoch may not have been recorded */
	/* The other side was never begun, or not while the recording ran. */
	EPOCH_NO_OTHER,
	EPOCH_TOO_MANY, /* the limit of kept sides was reached */
	EPOCH_WHY_CNT,
};

/* Epochs of one process. */
struct epoch_row {
	/*
	 * Epochs by outcome. MPI_Win_start counts once per target, MPI_Win_post once per origin,
	 * and either counts once in total if its group is unknown.
	 */
	uint64_t accesses[EPOCH_WHY_CNT], exposures[EPOCH_WHY_CNT];
	uint64_t locks; /* locks on known windows */
	/* calls that may have waited for a lock (locks.c) */
	uint64_t doubtful;
};

/* A wait of one call, and the calls that it waits for. */
struct epoch_joint {
	enum epoch_kind kind;
	const struct model_thread *waiter;
	const struct arrival_joint *joint;
};

struct epochs {
	struct model_sink sink;
	struct observers joints; /* events: struct epoch_joint */
	const struct model *model;
	struct map windows;	       /* communicator, number → struct epoch_window */
	struct map waits[EPOCH_KINDS]; /* waiter, late → struct waited_for */
	struct epoch_row *process;     /* by process idx; owned */
	uint32_t nprocess;
	uint32_t kept;
	bool lost; /* records of calls were lost */
	/* the limit was reached: later sides are not kept */
	bool full;
};

void epochs_init(struct epochs *a);
void epochs_release(struct epochs *a);
/* Row of a process; zeros if it has none. */
const struct epoch_row *epochs_of(const struct epochs *a, uint32_t idx);

/* ---- for the analyses that find the waits: epochs.c, locks.c and passive.c ---- */

struct arrival_call epoch_call(const struct model_call *k, bool waits);
/* Adds a wait. Sorts the calls by begin; one of them is the call that waits. */
void epochs_add(struct epochs *a, enum epoch_kind kind, struct arrival_call *call, uint32_t calls);
/* Key of the call's window, unique in the whole trace. 0: unknown. */
uint64_t epoch_window_key(const struct call_roles *r);

/* Lock contention; locks.c has the rule. */
struct locks {
	struct model_sink sink;
	struct epochs *epochs; /* the analysis that waits are reported to */
	const struct model *model;
	struct map windows; /* communicator, number → struct lock_window */
};

void locks_init(struct locks *a, struct epochs *epochs);
void locks_release(struct locks *a);

/* Targets outside MPI; passive.c has the rule. */
struct passive {
	struct model_sink sink;
	struct epochs *epochs; /* the analysis that waits are reported to */
	const struct model *model;
	struct passive_process *process; /* by process idx; owned */
	uint32_t nprocess;
	struct map windows;	       /* epoch_window_key → struct passive_window */
	struct passive_call **waiting; /* owned; PASSIVE_WAITING_MAX */
	uint32_t nwaiting;
	bool lost; /* records of calls were lost */
};

void passive_init(struct passive *a, struct epochs *epochs);
void passive_release(struct passive *a);

#endif
