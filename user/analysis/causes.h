/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Why those who were waited for were late. While a process is waited for, from the begin of the wait to the begin of the call that
 * ends it, its thread that makes that call computes, has no core, sleeps, is in MPI, or waits itself for somebody who is late. Such
 * waits are followed, at the same moment, to who does not wait: the root. What is waited for is shared out over the roots' causes
 * to the nanosecond: all of them together cost what late.h, arrivals.h and epochs.h say that was waited.
 *
 * A wait is followed when CAUSES_QUEUED_MAX later ones are known, or at the end; what threads did is kept of the last CAUSES_KEPT_MAX
 * states, calls and waits.
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
	CAUSE_NO_CORE,	/* was runnable, in MPI or outside: another one had the core */
	CAUSE_SLEPT,	/* was blocked outside MPI */
	CAUSE_OUTSIDE,	/* was outside MPI; its state is not known */
	CAUSE_MPI,	/* was in an MPI call, and nobody is known to have been late to it */
	CAUSE_POLLED,	/* made polls that found nothing */
	CAUSE_UNKNOWN,	/* not recorded or not kept; a chain too long, or a circle */
	CAUSE_WAITED,	/* waited for another process: never of a root */
	CAUSE_KINDS,
};

/* How others waited for it. */
enum cause_wait {
	CAUSE_LATE_SENDER,
	CAUSE_LATE_RECEIVER,
	CAUSE_COLLECTIVE,
	CAUSE_EPOCH, /* + enum epoch_kind */
	CAUSE_WAITS = CAUSE_EPOCH + EPOCH_KINDS,
};

#define CAUSE_NOBODY UINT32_MAX

/* Of a cause, a wait that it cost much in. */
struct cause_worst {
	uint64_t ns;
	enum cause_wait how;
	uint64_t from_ns, to_ns; /* from its first stretch to its last one in that wait */
	/* idx of processes, of the longest stretch: who waited (but for collectives), who was late, whom that one waited for, …, the root */
	uint32_t chain[CAUSES_CHAIN_MAX + 1];
	uint32_t nchain;
	const struct func_info *after; /* the root's next call behind it, or NULL */
	uint64_t after_ns;	       /* when that began */
	struct model_site after_site;  /* where it was made */
	/* The call of one that waited, and where it was made; NULL: not known. */
	const struct func_info *waits_in;
	struct model_site waits_at;
};

struct cause {
	uint32_t process; /* idx */
	enum cause_kind kind;
	uint32_t other; /* NO_CORE: idx of the process that had it; WAITED: that was waited for; or CAUSE_NOBODY */
	uint64_t ns;
	uint64_t cnt;	     /* waits that it is a cause of */
	uint64_t through_ns; /* of ns: lost by those who waited for others that waited for it */
	struct cause_worst worst, /* by ns */
		farthest;	  /* by what was lost in it through others; ns 0: none */
};

/* Of a process: what its threads did in calls of the top layer, and in that part of it in which others were late. */
struct blame {
	struct state_times calls;
	struct state_times waited[CAUSE_WAITS];
};

struct causes {
	struct model_sink sink; /* to be told behind those of late, arrivals, epochs and holders */
	struct causes_thread *thread; /* by idx; owned */
	uint32_t nthread;
	struct causes_queued *queue; /* waits to be followed; owned */
	uint32_t nqueue;
	uint64_t kept;		   /* entries of all threads */
	uint64_t since_ns, now_ns; /* what was before is not kept; the latest that is */
	struct map roots;	   /* process, kind, other → struct cause */
	struct map direct
		[CAUSE_WAITS]; /* the same of what the late one did itself, by how it was waited for */
	struct cause_row **touched; /* of the wait that is followed; owned */
	uint32_t touched_room;
	struct blame *process; /* by idx; owned */
	uint32_t nprocess;
	struct state_times
		*waiting; /* by idx of threads: what they did while they waited for others; owned */
	uint32_t nwaiting;
	struct map
		held; /* of held_add: who had the core while a thread without one waited for others anyway */
	/* The caller's: what a thread did in each part of a wait; or NULL. */
	void (*waited)(void *ctx, const struct model_thread *t, uint64_t from_ns, uint64_t to_ns,
		       enum thread_state s);
	void *waited_ctx;
	uint64_t walks; /* waits that were followed */
	uint64_t told_late; /* waits that became known when others had been followed that may lead through them */
};

/* Takes over what the four tell. */
void causes_init(struct causes *a, struct late_pairs *late, struct arrivals *arrivals,
		 struct epochs *epochs, struct holders *holders);
void causes_release(struct causes *a);
/* Those of a map of it: by process, the costliest first. Caller frees. */
struct cause *causes_list(const struct map *of, uint32_t *n);
const struct blame *causes_blame(const struct causes *a, uint32_t process);

#endif
