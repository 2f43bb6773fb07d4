/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Calls of functions that are only counted, for recording them one by one would cost too much (record --max-overhead): their number
 * and time by thread and function, told once a second. Such a call has a frame, so that others know that they are made within it,
 * but its arguments are not read.
 */
#ifndef POV_COUNTED_H
#define POV_COUNTED_H

#include "call_state.h"

static __always_inline struct pov_counting *counting_at(struct pov_thread *t, u32 i)
{
	return &t->counting[index_mask(i, POV_COUNTING_MAX)];
}

__noinline int counted_flush(struct pov_thread *t)
{
	struct pov_counted r = {};
	struct pov_counting *c;
	u32 i;

	if (!t)
		return -1;
	for (i = 0; i < POV_COUNTING_MAX; i++) {
		c = counting_at(t, i);
		if (!c->calls)
			break;
		hdr_init(&r.hdr, POV_KIND_COUNTED, sizeof(r), t->tid, c->end_ns);
		r.hdr.flags = c->nested;
		r.dur_ns = c->end_ns - c->begin_ns;
		r.calls = c->calls;
		r.busy_ns = c->busy_ns;
		r.tgid = t->tgid;
		r.func = c->func;
		r.lib = c->lib;
		c->calls = 0;
		emit(&r, sizeof(r), POV_CLASS_CALL);
	}
	t->counting_ns = 0;
	return 0;
}

/* At any call of the thread: what was counted so long ago that it is to be told. */
static __always_inline void counted_look(struct pov_thread *t, u64 now)
{
	if (t->counting_ns && now - t->counting_ns > POV_COUNTING_NS)
		counted_flush(t);
}

/* The call in frame idx is over, which took so long. */
__noinline int counted_add(struct pov_thread *t, u32 idx, u64 end_ns, u64 busy_ns)
{
	struct pov_counting *c = NULL;
	struct pov_call *call;
	u32 i, nested;

	if (!t || idx >= POV_CALL_DEPTH_MAX)
		return -1;
	call = frame_call(frame_at(t, idx));
	nested = idx ? POV_COUNTED_NESTED : 0;
	for (i = 0; i < POV_COUNTING_MAX; i++) {
		c = counting_at(t, i);
		if (!c->calls ||
		    (c->func == call->func && c->lib == call->lib && c->nested == nested))
			break;
	}
	if (i >= POV_COUNTING_MAX) {
		counted_flush(t);
		c = counting_at(t, 0);
	}
	if (!c->calls) {
		c->begin_ns = call->hdr.ts_ns;
		c->busy_ns = 0;
		c->func = call->func;
		c->lib = call->lib;
		c->nested = nested;
	}
	c->end_ns = end_ns;
	c->busy_ns += busy_ns;
	c->calls++;
	if (!t->counting_ns)
		t->counting_ns = call->hdr.ts_ns;
	return 0;
}

#endif
