/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What causes.c keeps and causes_chain.c follows: of each thread what it did when, in three tracks that do not depend on each other,
 * and waits, each of which several threads and those who are to follow it may refer to.
 */
#ifndef POV_ANALYSIS_CAUSES_LINE_H
#define POV_ANALYSIS_CAUSES_LINE_H

#include "analysis/causes.h"

/* A wait: for one process, or for those who are missing. */
struct causes_wait {
	uint32_t refs;
	enum cause_wait how;
	const struct model_thread *waiter; /* NULL: all members that are there */
	struct wait_member {
		const struct model_thread *thread;
		uint64_t begin_ns; /* until then it is waited for */
	} * member;		   /* in order of begin; behind the wait itself */
	struct wait_step {
		uint64_t from_ns, to_ns;
		uint64_t before_ns,
			ns; /* what each missing one is waited for: in all steps before, and in this one */
	} * step;	    /* behind these */
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
		struct causes_wait *wait; /* LINE_WAITS; a reference */
	};
	const struct model_thread *holder; /* LINE_STATES: of RUNNABLE, or NULL */
};

enum line_track { LINE_STATES, LINE_CALLS, LINE_WAITS, LINE_TRACKS };

/* A thread. */
struct causes_thread {
	struct line {
		struct line_entry *entry; /* in order of time; owned */
		uint32_t n, room;
		uint32_t last; /* what line_find found: where it looks first */
	} line[LINE_TRACKS];
	uint64_t asked_ns; /* until when it has been followed */
};

/* Waiting for a member. */
struct causes_queued {
	struct causes_wait *wait; /* a reference */
	uint32_t member;
};

/* The last one that begins at ts or before, or NULL. */
const struct line_entry *line_find(struct line *l, uint64_t ts_ns);
/* What covers ts, or NULL; *until is brought forward to where that changes. */
const struct line_entry *line_at(struct line *l, uint64_t ts_ns, uint64_t *until_ns);
/* What a thread did at ts, and who had its core if it was runnable, or NULL; *until is brought forward to where that changes. */
enum thread_state line_state(struct causes *a, const struct model_thread *t, uint64_t ts_ns,
			     uint64_t *until_ns, const struct model_thread **holder);
/* Finds the roots of a wait, and adds what they cost. */
void causes_follow(struct causes *a, const struct causes_queued *q);

#endif
