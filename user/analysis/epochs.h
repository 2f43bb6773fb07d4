/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Who waited for whom in one-sided communication (MPI standard, One-Sided Communications, Synchronization Calls), but for fences, which
 * arrivals.h has.
 *
 * Late post: an origin is in MPI_Win_start, or in MPI_Win_complete if that is where its library waits, and a target has not called
 * MPI_Win_post. Late complete: a target is in MPI_Win_wait, and an origin has not called MPI_Win_complete. The n-th exposure of a target
 * that names an origin belongs to the n-th access of that origin that names the target, on one window. Where several are missing, it is
 * shared among them. Lock contention (locks.h) and targets outside MPI (passive.h) are told here, too.
 *
 * After A. Kühnal, M.-A. Hermanns, B. Mohr, F. Wolf: Specification of Inefficiency Patterns for MPI-2 One-Sided Communication (Euro-Par
 * 2006), where late complete is a part of "early wait", which is what is told here: see kmod-docs/FINDINGS_MESSAGES.md.
 *
 * What cannot be matched is counted with its reason. Memory is bounded by the epochs that are not over or have one side only; of their
 * sides EPOCHS_KEPT_MAX are kept.
 */
#ifndef POV_ANALYSIS_EPOCHS_H
#define POV_ANALYSIS_EPOCHS_H

#include "analysis/arrivals.h"
#include "analysis/waited_for.h"

#define EPOCHS_KEPT_MAX (1u << 16)

enum epoch_kind {
	EPOCH_LATE_POST,
	EPOCH_LATE_COMPLETE,
	EPOCH_LOCKED,
	EPOCH_NO_PROGRESS, /* the target did not call MPI, by which accesses are carried out (passive.h) */
	EPOCH_KINDS,
};

enum epoch_why {
	EPOCH_MATCHED,
	EPOCH_WINDOW_UNKNOWN, /* how its window was made was not recorded */
	EPOCH_GROUP_UNKNOWN,  /* or how its group was */
	EPOCH_UNCERTAIN,      /* an epoch before may not have been recorded */
	EPOCH_NO_OTHER,	      /* the other side was never begun, or not while it was recorded */
	EPOCH_TOO_MANY,	      /* sides without another were kept already */
	EPOCH_WHY_CNT,
};

/* Of a process. */
struct epoch_row {
	/* MPI_Win_start: each target; MPI_Win_post: each origin. One for all of them if the group is not known. */
	uint64_t accesses[EPOCH_WHY_CNT], exposures[EPOCH_WHY_CNT];
	uint64_t locks;	   /* on windows that are known */
	uint64_t doubtful; /* calls that may have waited for a lock (locks.h) */
};

struct epochs {
	struct model_sink sink;
	/* The caller's: each wait, with the call that waits and those that it waits for; or NULL. */
	void (*tell)(void *ctx, enum epoch_kind kind, const struct model_thread *waiter,
		     const struct arrival_joint *j);
	void *ctx;
	const struct model *model;
	struct map windows;	       /* communicator, number → struct epoch_window */
	struct map waits[EPOCH_KINDS]; /* of waited_for.h */
	struct epoch_row *process;     /* by idx; owned */
	uint32_t nprocess;
	uint32_t kept;
	bool lost; /* records of calls */
	bool full; /* what comes is not kept any more */
};

void epochs_init(struct epochs *a);
void epochs_release(struct epochs *a);
/* Of a process; zeros if it has none. */
const struct epoch_row *epochs_of(const struct epochs *a, uint32_t idx);

/* ---- for those that find them: epochs.c, locks.c and passive.c ---- */

struct arrival_call epoch_call(const struct model_call *k, bool waits);
/* A call waited for others: of calls, which are put in order of begin, the one that waits. */
void epochs_add(struct epochs *a, enum epoch_kind kind, struct arrival_call *call, uint32_t calls);
/* Which window the call is about, in the whole trace; 0: not known. */
uint64_t epoch_window_key(const struct call_roles *r);

#endif
