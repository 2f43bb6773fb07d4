/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Finds out why late processes were late. A process is waited for from the begin of the wait to the
 * begin of the call that ends it. During that time, the thread that makes this call computes, has
 * no core, sleeps, is in MPI, or itself waits for another late process. Such nested waits are
 * followed, at the same moment, to a process that does not wait: the root. The waiting time is
 * divided among the roots' causes to the nanosecond. Where a root computed, delays since its last
 * wait are charged first: without them, it would have computed that much before the wait began. The
 * costs of all causes add up to the waiting that late.h, arrivals.h and epochs.h report.
 *
 * A wait is followed once CAUSES_QUEUED_MAX later ones are known, or at the end. At most
 * CAUSES_KEPT_MAX states, calls and waits of threads are kept; threads with most lose the oldest.
 */
#ifndef POV_ANALYSIS_CAUSES_H
#define POV_ANALYSIS_CAUSES_H

#include "analysis/epochs.h"
#include "analysis/holders.h"
#include "analysis/late.h"

#define CAUSES_QUEUED_MAX (1u << 16)
#define CAUSES_KEPT_MAX (1u << 19)
#define CAUSES_CHAIN_MAX 16

enum cause_kind {
	CAUSE_COMPUTED, /* ran outside MPI */
	/* was runnable, in MPI or outside: another thread had the core */
	CAUSE_NO_CORE,
	CAUSE_SLEPT,   /* was blocked outside MPI */
	CAUSE_OUTSIDE, /* was outside MPI in an unknown state */
	/* was in an MPI call, and no process is known to have been late to it */
	CAUSE_MPI,
	CAUSE_POLLED, /* made polls that found nothing */
	/* not recorded or not kept; or the chain of waits was too long or circular */
	CAUSE_UNKNOWN,
	/* waited for another process; never the cause of a root */
	CAUSE_WAITED,
	CAUSE_KINDS,
};

/* How others waited for a late process. */
enum cause_wait {
	CAUSE_LATE_SENDER,
	CAUSE_LATE_RECEIVER,
	CAUSE_COLLECTIVE,
	CAUSE_EPOCH, /* add the enum epoch_kind */
	CAUSE_WAITS = CAUSE_EPOCH + EPOCH_KINDS,
};

#define CAUSE_NOBODY UINT32_MAX

/* The wait in which a cause cost most. */
struct cause_worst {
	uint64_t ns;
	enum cause_wait how;
	/* from the cause's first stretch in that wait to its last one */
	uint64_t from_ns, to_ns;
	/*
	 * idx of the processes in the longest stretch: the waiter (except in collectives), the late
	 * process, the process that this one waited for, …, the root
	 */
	uint32_t chain[CAUSES_CHAIN_MAX + 1];
	uint32_t nchain;
	/* the root's first call after the stretch, or NULL */
	const struct func_info *after;
	uint64_t after_ns;	      /* begin of that call */
	struct model_site after_site; /* call site of that call */
	/* The call that waited, and its call site. NULL: unknown. */
	const struct func_info *waits_in;
	struct model_site waits_at;
};

/* A call and its call site. func NULL: unknown. */
struct cause_place {
	const struct func_info *func;
	struct model_site site;
};

/* True for equal ones. All places in no known file count as one. */
bool cause_place_is(const struct cause_place *a, const struct cause_place *b);

struct cause {
	uint32_t process; /* idx of the process that caused the wait */
	enum cause_kind kind;
	/*
	 * CAUSE_NO_CORE: idx of the process that had the core. CAUSE_WAITED: idx of the process
	 * that was waited for. CAUSE_NOBODY: none or unknown.
	 */
	uint32_t other;
	uint64_t ns;
	uint64_t cnt; /* number of waits that it caused */
	/* part of ns lost indirectly: the late process was itself waiting for this one */
	uint64_t through_ns;
	/* worst: by ns. farthest: by ns lost indirectly; its ns is 0 if there was none. */
	struct cause_worst worst, farthest;
	/*
	 * The places with most of ns: the calls that waited, and the root's next calls. A place
	 * with an eighth of ns or less may be missed.
	 */
	struct cause_place most_in, most_before;
};

/* What a thread did in a part of a wait for a late process. */
struct causes_part {
	const struct model_thread *thread;
	uint64_t from_ns, to_ns;
	enum thread_state state;
};

/*
 * States of a process's threads in calls of the top layer, and in the part of these in which others
 * were late.
 */
struct blame {
	struct state_times calls;
	/* polls that found nothing, until the calls that ended them */
	struct state_times polled;
	struct state_times waited[CAUSE_WAITS];
};

/* What a thread did while it waited for others. */
struct causes_waiting {
	struct state_times all, in_files; /* in_files: the part in calls on files */
};

struct causes {
	/* must run after the sinks of late, arrivals, epochs and holders */
	struct model_sink sink;
	struct causes_thread *thread; /* by thread idx; owned */
	uint32_t nthread;
	struct causes_queued *queue; /* waits not yet followed; owned */
	uint32_t nqueue;
	uint64_t kept; /* entries kept for all threads */
	/*
	 * start_ns: begin of the recording. since_ns: entries before it were dropped, except on
	 * tracks that had few. now_ns: end of the latest entry so far.
	 */
	uint64_t start_ns, since_ns, now_ns;
	struct map roots; /* process, kind, other → struct cause */
	/*
	 * process, kind, other → struct cause, for what late processes did themselves; by kind of
	 * wait
	 */
	struct map direct[CAUSE_WAITS];
	/* rows touched by the wait that is being followed; owned */
	struct cause_row **touched;
	uint32_t touched_room;
	struct blame *process; /* by process idx; owned */
	uint32_t nprocess;
	struct causes_waiting *waiting; /* by idx of threads; owned */
	uint32_t nwaiting;
	/* who had the core while a thread waited for late ranks without a core; see held_add */
	struct map held;
	struct observers parts; /* events: struct causes_part, in any order of time */
	uint64_t walks;		/* number of waits that were followed */
	/*
	 * waits that became known too late: other waits that may lead to them had been followed
	 * before
	 */
	uint64_t reported_late;
};

/* Replaces the callbacks of all four analyses. */
void causes_init(struct causes *a, struct late_pairs *late, struct arrivals *arrivals,
		 struct epochs *epochs, struct holders *holders);
void causes_release(struct causes *a);
/*
 * Lists the causes in one of the maps above, by process, costliest first. The caller frees the
 * list.
 */
struct cause *causes_list(const struct map *of, uint32_t *n);
const struct blame *causes_blame(const struct causes *a, uint32_t process);

#endif
