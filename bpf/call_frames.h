/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The frames of a thread's calls in flight. Files that include this define frame_lasts(ret, sp,
 * here): true while the call with stack pointer sp is in flight. ret: return address expected at
 * sp. here: current stack pointer, or FROM_PROGRAM.
 */
#ifndef POV_CALL_FRAMES_H
#define POV_CALL_FRAMES_H

#include "call_state.h"

/*
 * True if the function of frame d was left without returning. If probes on its exits see it return,
 * its own return address stays at sp; someone else's return probe may replace it by the trampoline.
 */
static __always_inline bool frame_is_left(struct pov_thread *t, u32 d, u64 trampoline, u64 here)
{
	struct pov_frame *f = frame_at(t, d);

	return !(f->ret && frame_lasts(f->ret, f->sp, here)) &&
	       !frame_lasts(trampoline, f->sp, here);
}

/* Drops frames whose function was left without returning. trampoline, here: see frame_lasts. */
static __always_inline void frames_drop_stale(struct pov_thread *t, u64 trampoline, u64 here,
					      u64 now)
{
	u32 d = t->depth - 1, i;

	if (d >= POV_CALL_DEPTH_MAX || !frame_is_left(t, d, trampoline, here))
		return;
	for (i = 0; i < POV_CALL_DEPTH_MAX; i++)
		if (!frame_drop_stale(t, trampoline, here, now))
			break;
}

/* Drops the frames above frame d, which returns now: their calls never returned. */
static __always_inline void frames_drop_above(struct pov_thread *t, u32 d, u64 now)
{
	u32 i, top = t->depth - 1;

	for (i = 0; i < POV_CALL_DEPTH_MAX && top > d; i++) {
		t->depth = top;
		frame_emit(t, top, now, 0, POV_CALL_UNWOUND);
		top--;
	}
}

/* Begins the record of a call at depth d; the caller adds the arguments. */
static __always_inline struct pov_frame *frame_begin(struct pov_thread *t, u32 d, u64 cookie,
						     u32 nargs, u64 sp, u64 now)
{
	struct pov_frame *f = frame_at(t, d);
	struct pov_call *c = frame_call(f);

	hdr_init(&c->hdr, POV_KIND_CALL, 0, t->tid, now);
	c->tgid = t->tgid;
	c->func = POV_COOKIE_FUNC(cookie);
	c->depth = d;
	c->nargs = nargs;
	c->site = 0;
	c->lib = POV_COOKIE_LIB(cookie);
	c->unknown = 0;
	f->sp = sp;
	f->ret = 0;
	f->folded = 0;
	f->announced = 0;
	f->counted = 0;
	f->bytes = POV_COUNTED_UNSIZED;
	f->used = sizeof(*c) + 8 * nargs;
	return f;
}

/* Index of the frame that returns now, or a number ≥ POV_CALL_DEPTH_MAX. */
static __always_inline u32 frame_match(struct pov_thread *t, u64 sp)
{
	u32 i, d;

	for (i = 0; i < POV_CALL_DEPTH_MAX; i++) {
		d = t->depth - 1 - i;
		if (d >= POV_CALL_DEPTH_MAX)
			break;
		if (frame_at(t, d)->sp == sp)
			return d;
	}
	return POV_CALL_DEPTH_MAX;
}

#endif
