/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * A thread's state and the frames of its calls in flight, for all parts of the kernel half that
 * begin and end calls: probes in its program (call.bpf.c), and in the kernel on its behalf
 * (os.bpf.c). A frame is identified by a stack pointer. For a call in the program, that is where
 * its return address lies. For a call within the kernel, it is the place on the kernel stack where
 * the kernel keeps the arguments that it passes us. The two address ranges do not overlap.
 */
#ifndef POV_FRAME_BPF_H
#define POV_FRAME_BPF_H

#include "core.bpf.h"

/* `here` for code that runs on behalf of the program itself: no system call is in flight. */
#define FROM_PROGRAM (~0ull)

static __always_inline bool sp_in_kernel(u64 sp)
{
	return sp >> 63;
}

/* Finds room for a thread's state. If two threads claim the same slot at once, one gets it. */
static __always_inline struct pov_thread *thread_claim(struct task_struct *self, u32 tid)
{
	struct pov_thread *t = thread_slot(tid);
	u32 i;

	if (t && !__sync_val_compare_and_swap(&t->tid, 0, tid)) {
		t->regs = 0;
		t->task = (u64)self;
		t->depth = 0;
		t->announced = 0;
		t->closed = POV_THREAD_LIVE;
		t->spin_busy = t->spinning = 0;
		t->bindings_seen = 0;
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
	__sync_fetch_and_add(&threads_stored, 1);
	t->tid = tid;
	t->task = (u64)self;
	return t;
}

/*
 * True while the call is in flight. A call within the kernel is over when control is back in the
 * program (here is FROM_PROGRAM), or when the kernel stack is no deeper than at the call's entry.
 * Its return probe was missed then.
 */
static __always_inline bool frame_lasts(u64 trampoline, u64 sp, u64 here)
{
	return sp_in_kernel(sp) ? here < sp : frame_alive(trampoline, sp);
}

#include "call_frames.h"

#endif
