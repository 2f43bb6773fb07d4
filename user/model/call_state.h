/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What the model keeps of one thread to tell its calls: private to call.c and history.c.
 */
#ifndef POV_MODEL_CALL_STATE_H
#define POV_MODEL_CALL_STATE_H

#include "model/model_internal.h"

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

/* A nested call or spin that waits for its outermost call to end. */
struct pending_call {
	uint64_t begin_ns, end_ns;
	uint8_t depth;
	bool is_spin;
	union {
		struct model_call call;
		struct model_spin spin;
	};
	void *storage; /* owned: what call.view points to, and the view */
	size_t bytes;  /* of storage */
};

struct thread_calls {
	struct history history;
	struct announced_call announced[POV_CALL_DEPTH_MAX];
	struct pending_call *pending; /* owned */
	uint32_t npending, pending_cap;
};

/* In order of begin, the outer one first. */
int pending_compare(const void *a, const void *b);
/* One allocation: the view, and behind it what it points to. */
struct call_view *view_copy(const struct call_view *view, size_t *bytes);

#endif
