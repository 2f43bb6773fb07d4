/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Calls of functions that are only counted, for recording them one by one would cost too much (record --max-overhead): their number,
 * time and bytes by thread and function, told each 10 ms. Such a call has a frame, so that others know that they are made within it,
 * but leaves no record.
 */
#ifndef POV_COUNTED_H
#define POV_COUNTED_H

#include "call_state.h"
#include "fetch.bpf.h"

static __always_inline struct pov_counting *counting_at(struct pov_thread *t, u32 i)
{
	return &t->counting[index_mask(i, POV_COUNTING_MAX)];
}

/* Tells what has been counted in place i; 1 if nothing has. Apart from the loop, so that the verifier goes through it once. */
__noinline int counted_write(struct pov_thread *t, u32 i)
{
	struct pov_counted r = {};
	struct pov_counting *c;

	if (!t)
		return -1;
	c = counting_at(t, i);
	if (!c->calls)
		return 1;
	hdr_init(&r.hdr, POV_KIND_COUNTED, sizeof(r), t->tid, c->end_ns);
	r.hdr.flags = c->nested;
	r.dur_ns = c->end_ns - c->begin_ns;
	r.calls = c->calls;
	r.busy_ns = c->busy_ns;
	r.tgid = t->tgid;
	r.func = c->func;
	r.lib = c->lib;
	r.bytes = c->bytes;
	r.sized = c->sized;
	c->calls = 0;
	emit(&r, sizeof(r), POV_CLASS_CALL);
	return 0;
}

__noinline int counted_flush(struct pov_thread *t)
{
	u32 i;

	if (!t)
		return -1;
	for (i = 0; i < POV_COUNTING_MAX && !counted_write(t, i); i++)
		;
	t->counting_ns = 0;
	return 0;
}

/* At any call of the thread: what was counted so long ago that it is to be told. */
static __always_inline void counted_look(struct pov_thread *t, u64 now)
{
	if (t->counting_ns && now - t->counting_ns > POV_COUNTING_NS)
		counted_flush(t);
}

/* The size of a datatype, as far as the handle or the library's object tells it; a negative number if not. */
static __always_inline int counted_type_size(struct pov_thread *t, const struct pov_lib *lib,
					     u64 type, u64 *out)
{
	/* MPICH: kind builtin, type datatype, then its size */
	if (lib->flags & POV_LIB_TYPE_IN_HANDLE && ((u32)type & 0xfc000000) == 0x4c000000) {
		*out = (u32)type >> 8 & 0xff;
		return 0;
	}
	return type_is_object(lib, type) ? type_size(t, lib, type, out) : -1;
}

/* count × size; POV_COUNTED_UNSIZED for counts that no buffer has, less than none among them. */
static __always_inline u64 counted_product(u64 count, u64 size)
{
	bool large = (count | size) >> 31;

	return large && size && count > POV_COUNTED_UNSIZED / 2 / size ? POV_COUNTED_UNSIZED :
									 count * size;
}

/* What the call in frame idx moves, by its arguments there. */
__noinline int counted_size(struct pov_thread *t, u32 idx, u32 func)
{
	const struct pov_fn *fn = fn_find(func);
	u64 size, count = 1;
	struct pov_lib *lib;
	struct pov_frame *f;

	if (!t || !fn || idx >= POV_CALL_DEPTH_MAX)
		return -1;
	f = frame_at(t, idx);
	lib = lib_find(frame_call(f)->lib);
	if (fn->count_arg != POV_ARG_NONE)
		count = frame_arg(f, fn->count_arg);
	if (fn->count_bytes != 8)
		count = (s32)count;
	if (!lib)
		return -1;
	if (!count ||
	    (fn->peer_arg != POV_ARG_NONE && (s32)frame_arg(f, fn->peer_arg) == lib->proc_null))
		f->bytes = 0;
	else if (!counted_type_size(t, lib, frame_arg(f, fn->type_arg), &size))
		f->bytes = counted_product(count, size);
	return 0;
}

/* Where the call in frame idx is counted, or a free place; POV_COUNTING_MAX if there is none. */
__noinline int counting_place(struct pov_thread *t, u32 idx)
{
	u32 i, nested = idx ? POV_COUNTED_NESTED : 0;
	struct pov_counting *c;
	struct pov_call *call;

	if (!t || idx >= POV_CALL_DEPTH_MAX)
		return -1;
	call = frame_call(frame_at(t, idx));
	for (i = 0; i < POV_COUNTING_MAX; i++) {
		c = counting_at(t, i);
		if (!c->calls ||
		    !((c->func ^ call->func) | (c->lib ^ call->lib) | (c->nested ^ nested)))
			break;
	}
	return i;
}

/* The call in frame idx is over, which took so long. */
__noinline int counted_add(struct pov_thread *t, u32 idx, u64 end_ns, u64 busy_ns)
{
	struct pov_counting *c;
	struct pov_call *call;
	u64 bytes;
	u32 place;

	if (!t || idx >= POV_CALL_DEPTH_MAX)
		return -1;
	call = frame_call(frame_at(t, idx));
	bytes = frame_at(t, idx)->bytes;
	place = counting_place(t, idx);
	if (place >= POV_COUNTING_MAX) {
		counted_flush(t);
		place = 0;
	}
	c = counting_at(t, place);
	if (!c->calls) {
		c->begin_ns = call->hdr.ts_ns;
		c->busy_ns = c->bytes = c->sized = 0;
		c->func = call->func;
		c->lib = call->lib;
		c->nested = idx ? POV_COUNTED_NESTED : 0;
	}
	c->end_ns = end_ns;
	c->busy_ns += busy_ns;
	c->calls++;
	if (bytes != POV_COUNTED_UNSIZED) {
		c->bytes += bytes;
		c->sized++;
	}
	if (!t->counting_ns)
		t->counting_ns = call->hdr.ts_ns;
	return 0;
}

#endif
