/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The fast path for polls. Programs that poll call the same function with the same arguments over
 * and over, and the memory that is read at entry stays the same. Then the last poll's frame already
 * holds everything for the next one except the time. The path handles polls only outside of other
 * calls, while they find nothing and no other call comes between them. Included after call_steps.h.
 */
#ifndef POV_PRELOAD_POLL_AGAIN_H
#define POV_PRELOAD_POLL_AGAIN_H

struct poll_again {
	/* hook of the poll in the thread's outermost frame; NULL: another call, or none */
	const struct hook *hook;
	u32 nargs; /* number of argument words in its frame */
	/* Memory that was read at its entry: `bytes` at `from`; `kept` is the copy. */
	u64 bytes;
	const void *from;
	const void *kept;
};
static __thread struct poll_again poll_again;

/*
 * Finds the only item that fn reads at entry; *out is NULL if it reads nothing. False: it reads
 * several, or not plain memory.
 */
static inline bool entry_fetch(const struct pov_fn *fn, const struct pov_fetch **out)
{
	*out = NULL;
	for (u32 k = 0; k < fn->nfetch && k < POV_FETCH_MAX; k++) {
		const struct pov_fetch *fe = &fn->fetch[k];

		if (pov_fetch_at_return(fe))
			continue;
		if (*out || fe->op != POV_FETCH_IN ||
		    (fe->len != POV_LEN_ONE && fe->len != POV_LEN_ARG))
			return false;
		*out = fe;
	}
	return true;
}

/* Notes a call that has begun in the outermost frame. */
static __noinline void poll_remember(struct pov_thread *t, const struct hook *hook,
				     const struct pov_fn *fn)
{
	struct pov_frame *f = frame_at(t, 0);
	struct poll_again *p = &poll_again;
	const struct pov_fetch *fe;
	u32 nargs = call_nargs(fn);
	struct pov_field *field;

	if (fn->flags & POV_FN_SILENT || fn->learn || frame_call(f)->hdr.flags ||
	    !entry_fetch(fn, &fe))
		return;
	field = (struct pov_field *)(frame_args(f) + nargs);
	p->bytes = 0;
	if ((u8 *)field < f->rec + f->used) {
		p->bytes = field->size;
		p->from = (const void *)(frame_arg(f, fe->arg) + fe->off);
		p->kept = field + 1;
	}
	p->nargs = nargs;
	p->hook = hook;
}

static __always_inline bool memory_same(const struct poll_again *p)
{
	u64 now, then;

	if (p->bytes != 8)
		return !p->bytes || !memcmp(p->from, p->kept, p->bytes);
	memcpy(&now, p->from, 8);
	memcpy(&then, p->kept, 8);
	return now == then;
}

/* Begins a call that repeats the last poll. False: it does not repeat it. */
static __always_inline bool poll_begin(struct pov_thread *t, const struct hook *hook,
				       const u64 *args, u64 sp, u64 now)
{
	struct pov_frame *f = frame_at(t, 0);
	const struct poll_again *p = &poll_again;

	if (p->hook != hook || t->depth)
		return false;
	for (u32 i = 0; i < p->nargs; i++)
		if (args[i] != frame_args(f)[i])
			return false;
	if (!memory_same(p))
		return false;
	frame_call(f)->hdr.ts_ns = now;
	f->sp = sp;
	f->announced = 0;
	outer_begins(t);
	t->depth = 1;
	return true;
}

/*
 * Ends a call that is this poll and found nothing. False: it is another call, or found something.
 */
static __always_inline bool poll_end(struct pov_thread *t, u64 sp, u64 ret, u64 site, u64 now)
{
	struct pov_frame *f = frame_at(t, 0);
	const struct pov_fn *fn;

	if (!poll_again.hook || t->depth != 1 || f->sp != sp || f->folded)
		return false;
	fn = &setup->fn[poll_again.hook->row];
	if (poll_found(f, fn, ret)) {
		poll_again.hook = NULL;
		return false;
	}
	frame_call(f)->site = site;
	spin_add(t, 0, now, fn->spin_arg < POV_CALL_ARGS_MAX ? frame_arg(f, fn->spin_arg) : 0);
	t->depth = 0;
	return true;
}

#endif
