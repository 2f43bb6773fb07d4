/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * A thread's state and the frames of its calls under way, for all that begins and ends calls: probes in its program
 * (call.bpf.c) and in the kernel on its behalf (os.bpf.c). A frame is known by where its stack pointer was: a
 * program's return address lies there; of a call within the kernel it is where the kernel keeps that call's arguments
 * for us, on the thread's kernel stack. Addresses of the two have different ranges.
 */
#ifndef POV_FRAME_BPF_H
#define POV_FRAME_BPF_H

#include "core.bpf.h"

#define FROM_PROGRAM \
	(~0ull) /* whoever asks runs on behalf of the program's own code: no system call is under way */

static __always_inline bool sp_in_kernel(u64 sp)
{
	return sp >> 63;
}

/* Room for a thread's state. Two threads may want the same slot at once: one gets it. */
static __always_inline struct pov_thread *thread_claim(struct task_struct *self, u32 tid)
{
	struct pov_thread *t = thread_slot(tid);
	u32 i;

	if (t && !__sync_val_compare_and_swap(&t->tid, 0, tid)) {
		t->regs = 0;
		t->task = (u64)self;
		t->depth = 0;
		t->told = 0;
		t->closed = POV_THREAD_LIVE;
		t->spin_busy = t->spinning = 0;
		for (i = 0; i < POV_CALL_DEPTH_MAX; i++)
			((struct pov_spin *)t->spin[i].rec)->nfuncs = 0;
		for (i = 0; i < POV_TYPES_KEPT; i++)
			t->type[i].handle = 0;
		return t;
	}
	t = bpf_task_storage_get(&threads, self, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!t) {
		count(POV_COUNT_MISS(POV_MISS_THREADS));
		return NULL;
	}
	t->tid = tid;
	t->task = (u64)self;
	return t;
}

/*
 * Whether a call is still under way. One within the kernel is over as soon as the program's own code runs, or as the kernel's
 * stack is no deeper than it was there; its return was not seen then.
 */
static __always_inline bool frame_lasts(struct task_struct *self, u64 sp, u64 here)
{
	return sp_in_kernel(sp) ? here < sp : frame_alive(self, sp);
}

/* Frames whose function was left without returning. here: FROM_PROGRAM, or the kernel's stack pointer. */
static __always_inline void frames_drop_stale(struct pov_thread *t, struct task_struct *self,
					      u64 here, u64 now)
{
	u32 i, d;

	for (i = 0; i < POV_CALL_DEPTH_MAX; i++) {
		d = t->depth - 1;
		if (d >= POV_CALL_DEPTH_MAX || frame_lasts(self, frame_at(t, d)->sp, here))
			break;
		t->depth = d;
		frame_emit(t, d, now, 0, POV_CALL_UNWOUND);
	}
}

/* Those above frame d, which returns now: they never did. */
static __always_inline void frames_drop_above(struct pov_thread *t, u32 d, u64 now)
{
	u32 i, top = t->depth - 1;

	for (i = 0; i < POV_CALL_DEPTH_MAX && top > d; i++) {
		t->depth = top;
		frame_emit(t, top, now, 0, POV_CALL_UNWOUND);
		top--;
	}
}

/* Begins the record of a call at depth d, but for its arguments. */
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
	c->pad = 0;
	f->sp = sp;
	f->folded = 0;
	f->announced = 0;
	f->used = sizeof(*c) + 8 * nargs;
	return f;
}

/* The frame that returns now, or a number ≥ POV_CALL_DEPTH_MAX. Frames above it never returned. */
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
