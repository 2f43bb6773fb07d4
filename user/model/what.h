/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* What was called, and what came of it. */
#ifndef POV_MODEL_WHAT_H
#define POV_MODEL_WHAT_H

#include "model/when.h"

struct history_entry {
	uint64_t seq;		       /* number of the change of state */
	uint64_t ts_ns;		       /* end of the segment */
	enum thread_state was;	       /* in it; UNKNOWN if it was several */
	uint64_t ns[THREAD_STATE_CNT]; /* the thread's times at ts_ns */
};

struct history {
	struct history_entry *entry; /* owned */
	uint32_t n, cap;
	uint64_t seq;
	uint64_t from_ns; /* where the first segment began */
};

/* A call announced when its thread left the CPU in it. */
struct announced_call {
	bool known;
	uint64_t begin_ns;
	struct state_times at_begin;
};

/* A call, or polls that were merged; copied where it has to wait. */
struct call_or_spin {
	uint64_t begin_ns, end_ns;
	uint8_t depth;
	bool is_spin;
	union {
		struct model_call call;
		struct model_spin spin;
	};
	void *storage; /* of a copy, owned: what call.view points to, and the view */
	size_t bytes;  /* of storage */
};

struct thread_calls {
	struct history history;
	struct announced_call announced[POV_CALL_DEPTH_MAX];
	bool any_announced;	      /* since its last outermost call ended */
	uint64_t left_ns;	      /* when it left the CPU in a call */
	bool is_away;		      /* since then */
	uint64_t away_ns;	      /* so long in all, since its last outermost call ended */
	struct call_or_spin *pending; /* nested, until their outermost call has ended; owned */
	uint32_t npending, pending_cap;
};

/* In order of begin, the outer one first. */
int call_or_spin_compare(const void *a, const void *b);
/* That outlives the record. */
void call_or_spin_copy(struct call_or_spin *to, const struct call_or_spin *from);

/* ---- call.c ---- */

void call_unshown_record(struct model *m, struct mthread *t, const struct pov_call *rec);
void call_record(struct model *m, struct mthread *t, const struct pov_call *rec);
void call_begin_record(const struct model *m, struct mthread *t, const struct pov_call_begin *rec);
void spin_record(struct model *m, struct mthread *t, const struct pov_spin *rec);
void call_flush(struct model *m, struct mthread *t);
void call_release(struct model *m, struct mthread *t);

/* ---- region.c ---- */

void region_names_read(struct model *m);
void region_record(struct model *m, struct mthread *t, const struct pov_region *rec);
/* Ends all that the thread is in. */
void region_stack_end(struct model *m, struct mthread *t, uint64_t end_ns, enum region_end how);
void region_stack_release(struct mthread *t);

/* ---- history.c: what a thread did lately, to split a call's time ---- */

/* A segment of one state has ended. */
void history_note(struct mthread *t, uint64_t from_ns, uint64_t ts_ns, enum thread_state was);
/* No later call begins before ts. */
void history_restart(struct mthread *t, uint64_t ts_ns);
/* Times in each state from begin to end; they add up to end - begin. */
void history_split(const struct mthread *t, uint64_t begin_ns, uint64_t end_ns,
		   struct state_times *out);
/* The same in two steps, the first one while begin is recent. */
void history_at(const struct mthread *t, uint64_t ts_ns, struct state_times *out);
void history_split_from(const struct mthread *t, const struct state_times *begin, uint64_t begin_ns,
			uint64_t end_ns, struct state_times *out);

/* ---- past.c ---- */

void past_told(struct model *m, const struct call_or_spin *c);
void past_finish(struct model *m);
void past_reset(struct model *m);

/* ---- operation.c ---- */

/* What is over when an outermost call of its layer has ended. */
void operations_tell(struct model *m, const struct model_call *c);
void in_flight_call(struct model *m, struct mprocess *p, const struct call_roles *roles,
		    uint64_t ts_ns);
/* A process's program has ended: whatever it had in flight is not any more. */
void in_flight_end(struct model *m, struct mprocess *p, uint64_t ts_ns);

#endif
