/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Calls, operations and messages. */
#ifndef POV_MODEL_WHAT_H
#define POV_MODEL_WHAT_H

#include "model/when.h"

struct history_entry {
	uint64_t seq;		       /* number of the state change */
	uint64_t ts_ns;		       /* end of the segment */
	enum thread_state was;	       /* state during the segment; UNKNOWN if there were several */
	uint64_t ns[THREAD_STATE_CNT]; /* the thread's times at ts_ns */
};

struct history {
	struct history_entry *entry; /* owned */
	uint32_t n, cap;
	uint64_t seq;
	uint64_t from_ns; /* begin of the first segment */
};

/* A call whose begin was announced when its thread left the CPU inside it. */
struct announced_call {
	bool known;
	uint64_t begin_ns;
	struct state_times at_begin;
};

/* A call or merged polls. Copied if it has to wait. */
struct call_or_spin {
	uint64_t begin_ns, end_ns;
	uint8_t depth;
	bool is_spin;
	union {
		struct model_call call;
		struct model_spin spin;
	};
	void *storage; /* of a copy; owned: the view and everything it points to */
	size_t bytes;  /* size of storage */
};

/* Polls that found nothing. cnt 0: the thread has done something else since. */
struct polls {
	uint64_t begin_ns, end_ns;
	const struct func_info *func[POV_SPIN_FUNCS_MAX];
	uint32_t cnt;
};

struct thread_calls {
	struct history history;
	struct polls polls; /* the last ones outside other calls */
	struct announced_call announced[POV_CALL_DEPTH_MAX];
	bool any_announced;	      /* since the last outermost call ended */
	uint64_t left_ns;	      /* when the thread left the CPU inside a call */
	bool is_away;		      /* off the CPU since left_ns */
	uint64_t away_ns;	      /* total time away since the last outermost call ended */
	struct call_or_spin *pending; /* nested calls waiting for their outermost call; owned */
	uint32_t npending, pending_cap;
};

/* Sorts by begin, outer calls first. */
int call_or_spin_compare(const void *a, const void *b);
/* Makes a copy that outlives the record. */
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
/* Ends all regions that the thread is in. */
void region_stack_end(struct model *m, struct mthread *t, uint64_t end_ns, enum region_end how);
void region_stack_release(struct mthread *t);

/* ---- history.c: a thread's recent states, to split the time of a call ---- */

/* Adds a finished segment of one state. */
void history_note(struct mthread *t, uint64_t from_ns, uint64_t ts_ns, enum thread_state was);
/* Forgets the past: no later call begins before ts_ns. */
void history_restart(struct mthread *t, uint64_t ts_ns);
/* Times in each state from begin to end; they add up to end - begin. */
void history_split(const struct mthread *t, uint64_t begin_ns, uint64_t end_ns,
		   struct state_times *out);
/* history_split() in two steps: history_at(begin) while begin is recent, the other at the end. */
void history_at(const struct mthread *t, uint64_t ts_ns, struct state_times *out);
void history_split_from(const struct mthread *t, const struct state_times *begin, uint64_t begin_ns,
			uint64_t end_ns, struct state_times *out);

/* ---- call_order.c ---- */

void call_order_told(struct model *m, const struct call_or_spin *c);
void call_order_finish(struct model *m);
void call_order_reset(struct model *m);

/* ---- operation.c ---- */

/* Reports the operations that c, an outermost call of its layer, has completed. */
void operations_tell(struct model *m, const struct model_call *c);
void in_flight_call(struct model *m, struct mprocess *p, const struct call_roles *roles,
		    uint64_t ts_ns);
/* The program of a process has ended; nothing is in flight any more. */
void in_flight_end(struct model *m, struct mprocess *p, uint64_t ts_ns);

#endif
