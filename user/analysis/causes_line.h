/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * State that causes.c keeps and causes_chain.c follows. Each thread has four independent tracks of
 * what it did and when. Waits are shared: several threads, and queued waits that are yet to be
 * followed, may refer to one.
 */
#ifndef POV_ANALYSIS_CAUSES_LINE_H
#define POV_ANALYSIS_CAUSES_LINE_H

#include "analysis/causes.h"
#include "lib/table.h"
#include "lib/u64.h"

/* A wait for one process, or for the missing members of a collective. */
struct causes_wait {
	uint32_t refs;
	enum cause_wait how;
	bool in_file;			   /* the call that waits is on a file */
	const struct model_thread *waiter; /* NULL: all members that are present */
	struct wait_member {
		const struct model_thread *thread;
		uint64_t begin_ns; /* the member is waited for until this time */
	} * member;		   /* in order of begin; stored after the wait itself */
	struct wait_step {
		uint64_t from_ns, to_ns;
		/*
		 * How long each missing member is waited for: in all earlier steps, and in this
		 * step.
		 */
		uint64_t before_ns, ns;
		uint64_t waited_ns; /* duration of all earlier steps */
	} * step;		    /* stored after the members */
	uint32_t members, steps;
};

struct line_entry {
	uint64_t from_ns, to_ns;
	union {
		enum thread_state state;	      /* LINE_STATES */
		struct {			      /* LINE_CALLS */
			const struct func_info *func; /* NULL: polls */
			struct model_site site;
		};
		struct causes_wait *wait; /* LINE_WAITS; counts in causes_wait.refs */
	};
	/* LINE_STATES, if THREAD_RUNNABLE: thread that had the core, or NULL */
	const struct model_thread *holder;
};

/* LINE_AWAITED: when others waited for the thread. */
enum line_track { LINE_STATES, LINE_CALLS, LINE_WAITS, LINE_AWAITED, LINE_TRACKS };

/* Tracks of a thread. */
struct causes_thread {
	struct line {
		struct line_entry *entry; /* in order of time; owned */
		uint32_t n, room;
		/* index of the last entry that line_find found; the next search starts there */
		uint32_t last;
	} line[LINE_TRACKS];
	uint64_t since_ns; /* before this time, entries may be missing */
	/* latest time up to which a wait for it has been followed */
	uint64_t asked_ns;
	struct state_times polled; /* its last polls that found nothing */
};

/* A wait for one member that is to be followed. */
struct causes_queued {
	struct causes_wait *wait; /* counts in causes_wait.refs */
	uint32_t member;
};

/* How long, in total until ts_ns, at least one member waited. */
static inline uint64_t wait_waited_until(const struct causes_wait *w, uint64_t ts_ns)
{
	size_t n = table_first(0, w->steps, i, w->step[i].from_ns > ts_ns);
	const struct wait_step *s = &w->step[n - 1];

	return n ? s->waited_ns + u64_min(ts_ns, s->to_ns) - s->from_ns : 0;
}

/*
 * True if members waited for at least a tenth of the stretch. Only then are delays before it
 * charged. The root of a broadcast, for example, hardly waits: it soon leaves its call, while
 * others have yet to call it.
 */
static inline bool causes_charges_delays(const struct causes_wait *w, uint64_t from_ns,
					 uint64_t to_ns)
{
	return wait_waited_until(w, to_ns) - wait_waited_until(w, from_ns) >=
	       (to_ns - from_ns) / 10;
}

/* The last entry that begins at ts_ns or before, or NULL. */
const struct line_entry *line_find(struct line *l, uint64_t ts_ns);
/* The entry that covers ts_ns, or NULL. Lowers *until_ns to the time at which that changes. */
const struct line_entry *line_at(struct line *l, uint64_t ts_ns, uint64_t *until_ns);
/*
 * State of a thread at ts_ns. *holder: thread that had its core if it was runnable, or NULL. Lowers
 * *until_ns to the time at which either changes.
 */
enum thread_state line_state(struct causes *a, const struct model_thread *t, uint64_t ts_ns,
			     uint64_t *until_ns, const struct model_thread **holder);
/* Finds the roots of a wait and adds what they cost. */
void causes_follow(struct causes *a, const struct causes_queued *q);

#endif
