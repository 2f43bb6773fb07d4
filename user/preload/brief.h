/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The fast path for brief calls (pov_fn.brief), which take less time than recording them. It
 * handles only calls that are not inside another call, while the thread has nothing else open. A
 * call that turns out not to be brief, or that is made inside one, finds a normal frame. Included
 * after call_steps.h.
 */
#ifndef POV_PRELOAD_BRIEF_H
#define POV_PRELOAD_BRIEF_H

/* Recipe of the call in the thread's outermost frame; NULL: it took the normal path. */
static __thread const struct pov_fn *brief;

/* Begins a call on the fast path. False: the call must take the normal path. */
static __always_inline bool brief_begin(struct pov_thread *t, const struct hook *hook,
					const struct pov_fn *fn, const u64 *args, u64 sp, u64 now)
{
	struct pov_frame *f;
	u32 nargs;

	if (t->depth | t->spinning || (t->counting_ns && now - t->counting_ns > POV_COUNTING_NS))
		return false;
	nargs = call_nargs(fn);
	f = frame_begin(t, 0, POV_COOKIE(setup->first_row + hook->row, hook->lib), nargs, sp, now);
	frame_call(f)->site = *(const u64 *)(sp + MARK_CALLER);
	memcpy(frame_args(f), args, 6 * sizeof(u64));
	for (u32 i = 6; i < nargs; i++)
		frame_args(f)[i] = args[i];
	if (fn->learn == POV_LEARN_TYPE_FREE)
		type_freed(hook->lib, args[0]);
	brief = fn;
	outer_begins(t);
	t->depth = 1;
	return true;
}

/* Returns the counter for the function in frame f; NULL: none yet. */
static __always_inline struct pov_counting *brief_place(struct pov_thread *t, struct pov_frame *f)
{
	const struct pov_call *call = frame_call(f);

	for (u32 i = 0; i < POV_COUNTING_MAX && t->counting[i].calls; i++)
		if (t->counting[i].func == call->func && t->counting[i].lib == call->lib &&
		    !t->counting[i].nested)
			return &t->counting[i];
	return NULL;
}

/*
 * Ends a call. True if it began on the fast path and was brief. A call that made a datatype takes
 * the normal path, so that only one place decides whether the datatype is known.
 */
static __always_inline bool brief_end(struct pov_thread *t, u64 sp, u64 ret, u64 now)
{
	struct pov_frame *f = frame_at(t, 0);
	struct pov_counting *c;
	u64 begin_ns;

	if (!brief || t->depth != 1 || f->sp != sp || f->folded ||
	    brief->made_arg != POV_ARG_NONE || !call_is_brief(f, brief, ret, now))
		return false;
	c = brief_place(t, f);
	if (!c)
		return false;
	begin_ns = frame_call(f)->hdr.ts_ns;
	t->depth = 0;
	barrier();
	c->end_ns = now;
	c->busy_ns += now - begin_ns;
	c->calls++;
	return true;
}

#endif
