/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The steps of a traced call from its entry to its return, once its thread and function are known.
 * They are the same for probes (call.bpf.c) and for the preloaded library
 * (user/preload/call_record.c). Files that include this define
 *
 *	frame_out(t, f, size)		sends a finished record
 *	frame_lasts(ret, sp, here)	see call_frames.h
 *	fn_find, lib_find, count	find recipes and layouts, increment a counter
 *	bindings_exist		true if there are bindings (binding.bpf.c)
 */
#ifndef POV_CALL_STEPS_H
#define POV_CALL_STEPS_H

#include "call_frames.h"
#include "call_state.h"
#include "counted.h"
#include "fetch.bpf.h"

static __always_inline int frame_write(struct pov_thread *t, u32 idx, u64 end_ns, u64 ret,
				       u32 flags)
{
	struct pov_frame *f;
	struct pov_call *c;
	u64 size;

	if (!t || idx >= POV_CALL_DEPTH_MAX)
		return -1;
	if (t->spinning >> (idx + 1))
		spin_flush(t, idx + 1, ALL_TIMES);
	f = frame_at(t, idx);
	c = frame_call(f);
	size = f->used;
	barrier_var(size);
	if (size < sizeof(*c) || size > POV_FRAME_FULL)
		return -1;
	c->dur_ns = end_ns - c->hdr.ts_ns;
	c->hdr.ts_ns = end_ns;
	c->hdr.size = size;
	c->hdr.flags |= flags;
	c->ret = ret;
	c->cpu = bpf_get_smp_processor_id();
	return frame_out(t, f, size);
}

/*
 * Also called for calls whose return probe never fired. A counted call then adds no time, because
 * its duration is unknown.
 */
__noinline int frame_emit(struct pov_thread *t, u32 idx, u64 end_ns, u64 ret, u32 flags)
{
	if (t && idx < POV_CALL_DEPTH_MAX && frame_at(t, idx)->counted)
		return counted_add(t, idx, frame_call(frame_at(t, idx))->hdr.ts_ns, 0);
	return frame_write(t, idx, end_ns, ret, flags);
}

__noinline int frame_drop_stale(struct pov_thread *t, u64 trampoline, u64 here, u64 now)
{
	u32 d;

	if (!t)
		return 0;
	d = t->depth - 1;
	if (d >= POV_CALL_DEPTH_MAX || !frame_is_left(t, d, trampoline, here))
		return 0;
	t->depth = d;
	frame_emit(t, d, now, 0, POV_CALL_UNWOUND);
	return 1;
}

/* Also writes a record of a call at its entry, which is not shown: for the objects it reveals. */
__noinline int frame_announce(struct pov_thread *t, u32 idx)
{
	struct pov_frame *f;
	struct pov_call *c;
	u64 size;
	int err;

	if (!t || idx >= POV_CALL_DEPTH_MAX)
		return -1;
	f = frame_at(t, idx);
	c = frame_call(f);
	size = f->used;
	barrier_var(size);
	if (size < sizeof(*c) || size > POV_FRAME_FULL)
		return -1;
	c->hdr.kind = POV_KIND_UNSHOWN;
	c->hdr.flags |= POV_CALL_OPEN;
	c->hdr.size = size;
	c->dur_ns = 0;
	c->ret = 0;
	c->cpu = bpf_get_smp_processor_id();
	err = emit(f->rec, size, POV_CLASS_CALL);
	c->hdr.kind = POV_KIND_CALL;
	c->hdr.flags &= ~POV_CALL_OPEN;
	return err;
}

/* Runs the fetches of a call at its entry or return; takes the fast path for a single element. */
static __always_inline void frame_fetch(struct pov_thread *t, u32 idx, u32 func,
					const struct pov_fn *fn, u32 at_return, u64 now)
{
	u32 one = at_return ? fn->return_one : fn->entry_one, what, lib_id;
	const struct pov_fetch *fe;
	struct pov_lib *lib;
	u64 next;

	if (one >= POV_FETCH_MAX) {
		fetch_all(t, idx, func, at_return, now);
		return;
	}
	fe = &fn->fetch[index_mask(one, POV_FETCH_MAX)];
	if (fe->op == POV_FETCH_WORK) {
		what = fe->arg | fe->len_arg << 8 | fe->bytes << 16;
		next = work_fetch(t, idx, what);
		if (next)
			work_list(t, idx, what, next, now);
		return;
	}
	if (fe->op == POV_FETCH_ACCEPTED) {
		if ((u32)frame_call(frame_at(t, idx))->ret)
			work_accepted(t, idx, fe->arg | fe->len_arg << 8);
		return;
	}
	lib_id = frame_call(frame_at(t, idx))->lib;
	lib = lib_find(lib_id);
	if (lib)
		fetch_one(t, frame_at(t, idx), fe, lib);
}

static __always_inline u32 call_nargs(const struct pov_fn *fn)
{
	u32 nargs = fn->nargs;

	return nargs > POV_CALL_ARGS_MAX ? POV_CALL_ARGS_MAX : nargs;
}

/*
 * Begins a call: returns its frame, to which the caller adds the arguments. NULL: the call has no
 * frame of its own, because it is part of the enclosing call or is nested too deeply. Stale frames
 * must have been dropped before.
 */
static __always_inline struct pov_frame *call_enter(struct pov_thread *t, const struct pov_fn *fn,
						    u64 cookie, u32 nargs, u64 first_arg, u64 sp,
						    u64 now)
{
	u32 d = t->depth;
	struct pov_frame *f;
	struct pov_call *c;

	if (d && d <= POV_CALL_DEPTH_MAX) {
		f = frame_at(t, d - 1);
		c = frame_call(f);
		if (c->func == POV_COOKIE_FUNC(cookie) && fn->flags & POV_FN_WRAPPED &&
		    frame_arg(f, 0) == first_arg) {
			f->folded++;
			count(POV_COUNT_STAT(POV_STAT_FOLDED));
			return NULL;
		}
	}
	if (d >= POV_CALL_DEPTH_MAX) {
		count(POV_COUNT_MISS(POV_MISS_DEPTH));
		return NULL;
	}
	if (t->spinning >> d && !(fn->flags & (POV_FN_POLL | POV_FN_SILENT)))
		spin_flush(t, d, ALL_TIMES);
	return frame_begin(t, d, cookie, nargs, sp, now);
}

/* Completes the entry of a call whose arguments are in frame d. */
static __always_inline void call_entered(struct pov_thread *t, u32 d, u32 func,
					 const struct pov_fn *fn, u64 now)
{
	if (fn->flags & POV_FN_FETCH_ENTRY && !fn->brief)
		frame_fetch(t, d, func, fn, 0, now);
	if (fn->learn == POV_LEARN_COMM_FREE)
		comm_forget(t, d);
	else if (fn->learn == POV_LEARN_TYPE_FREE)
		type_freed(frame_call(frame_at(t, d))->lib, frame_arg(frame_at(t, d), 0));
	if (fn->learn == POV_LEARN_WORLD)
		world_report(0);
#if defined(POV_IN_PROCESS)
	else if (fn->learn == POV_LEARN_FINAL)
		world_wait();
#endif
	if (fn->flags & POV_FN_MAKES_COMM)
		frame_announce(t, d);
	barrier();
	t->depth = d + 1;
}

static __always_inline bool poll_found(struct pov_frame *f, const struct pov_fn *fn, u64 ret)
{
	s32 v = 1;

	if (fn->flags & POV_FN_BY_RETURN)
		return (fn->poll_bytes == 1 ? (s8)ret :
			fn->poll_bytes == 4 ? (s32)ret :
					      (s64)ret) != (s8)fn->poll_arg;
	if ((u32)ret)
		return true;
	if (bpf_probe_read_user(&v, 4, (void *)frame_arg(f, fn->poll_arg)))
		return true;
	return fn->flags & POV_FN_BY_COUNT ? v > 0 : v != 0; /* MPI_UNDEFINED is negative */
}

#define CALL_FOLDED POV_CALL_DEPTH_MAX	       /* the call is part of the enclosing one */
#define CALL_NO_ENTRY (POV_CALL_DEPTH_MAX + 1) /* the call's entry was not seen */

/* Index of the frame of the call that was entered with stack pointer sp, or one of the above. */
static __always_inline u32 call_returning(struct pov_thread *t, u64 sp)
{
	u32 top = t->depth - 1, d;
	struct pov_frame *f;

	if (top >= POV_CALL_DEPTH_MAX)
		return CALL_NO_ENTRY;
	d = frame_match(t, sp);
	if (d >= POV_CALL_DEPTH_MAX) {
		f = frame_at(t, top);
		if (!f->folded)
			return CALL_NO_ENTRY;
		f->folded--;
		return CALL_FOLDED;
	}
	f = frame_at(t, d);
	if (f->folded) { /* a wrapper that jumped: the same stack pointer returns twice */
		f->folded--;
		return CALL_FOLDED;
	}
	return d;
}

/*
 * MADE_IS_KNOWN(f, fn): true if an earlier record already describes the datatype that the call in
 * frame f made. Files that include this may define a better test.
 */
#ifndef MADE_IS_KNOWN
#define MADE_IS_KNOWN(f, fn) false
#endif

/* True if the call succeeded and is not worth a record. */
static __always_inline bool call_is_brief(struct pov_frame *f, const struct pov_fn *fn, u64 ret,
					  u64 now)
{
	bool known = fn->made_arg == POV_ARG_NONE || (!(u32)ret && MADE_IS_KNOWN(f, fn));

	return known && fn->brief && !(u32)ret && !f->announced &&
	       now - frame_call(f)->hdr.ts_ns < POV_BRIEF_NS;
}

/* Ends the call in frame d, which returns `ret` to `site`. */
static __always_inline void call_leave(struct pov_thread *t, u32 d, u32 func,
				       const struct pov_fn *fn, u64 ret, u64 site, u64 now)
{
	struct pov_frame *f = frame_at(t, d);
	bool learned = false;

	frames_drop_above(t, d, now);
	if (call_is_brief(f, fn, ret, now)) {
		/*
		 * first, so that a process killed here loses the call, but never has it both open
		 * and counted
		 */
		t->depth = d;
		barrier();
		counted_add(t, d, now, now - frame_call(f)->hdr.ts_ns);
		return;
	}
	frame_call(f)->site = site;
	if (fn->learn && fn->learn < POV_LEARN_COMM_FREE && !(u32)ret)
		learned = comm_learn(t, d, func) == 1;
	else if (fn->learn == POV_LEARN_COPY && !(u32)ret)
		comm_copy(t, d, func);
	else if ((fn->learn == POV_LEARN_INTER || fn->learn == POV_LEARN_ALIKE) && !(u32)ret)
		comm_join(t, d, func);
	else if (fn->learn == POV_LEARN_WORLD && !(u32)ret)
		world_report(1);
	if (fn->flags & POV_FN_SILENT) {
		if (!learned && !POV_LEARN_RECORDED(fn->learn)) {
			t->depth = d;
			return;
		}
		frame_call(f)->hdr.kind = POV_KIND_UNSHOWN;
	}
	if ((fn->flags & POV_FN_POLL) && !poll_found(f, fn, ret)) {
		spin_add(t, d, now,
			 fn->spin_arg < POV_CALL_ARGS_MAX ? frame_arg(f, fn->spin_arg) : 0);
		t->depth = d;
		return;
	}
	if (fn->flags & POV_FN_POLL)
		spin_flush(t, d, ALL_TIMES);
	frame_call(f)->ret = ret; /* some fetches use it as their array length */
	if (fn->flags & POV_FN_FETCH_RETURN)
		frame_fetch(t, d, func, fn, 1, now);
	if (fn->flags & POV_FN_MAKES_COMM && !(u32)ret)
		comm_describe(t, d, func);
	if (bindings_exist())
		site_leave_bindings(t, d);
	t->depth = d;
	frame_write(t, d, now, ret, 0);
}

/* ---- calls that are only counted (counted.h) ---- */

/*
 * Completes the entry of a counted call, whose register arguments are in frame d. Switches do not
 * announce it.
 */
static __always_inline void counted_entered(struct pov_thread *t, u32 d, u32 func,
					    const struct pov_fn *fn)
{
	struct pov_frame *f = frame_at(t, d);

	if (fn->count_bytes)
		counted_size(t, d, func);
	else if (fn->learn == POV_LEARN_TYPE_FREE)
		type_freed(frame_call(f)->lib, frame_arg(f, 0));
	f->counted = f->announced = 1;
	barrier();
	t->depth = d + 1;
}

/* Ends the counted call in frame d. */
static __always_inline void counted_leave(struct pov_thread *t, u32 d, u64 now)
{
	frames_drop_above(t, d, now);
	counted_add(t, d, now, now - frame_call(frame_at(t, d))->hdr.ts_ns);
	t->depth = d;
}

#endif
