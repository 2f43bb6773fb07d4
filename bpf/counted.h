/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Calls that are only counted, because recording them one by one would cost too much (record
 * --max-overhead). Their number, time and bytes are reported every 10 ms by thread and function. A
 * counted call has a frame, so that calls within it are known to be nested, but leaves no record.
 */
#ifndef POV_COUNTED_H
#define POV_COUNTED_H

#include "call_state.h"
#include "fetch.bpf.h"

static __always_inline struct pov_counting *counting_at(struct pov_thread *t, u32 i)
{
	return &t->counting[index_mask(i, POV_COUNTING_MAX)];
}

/*
 * Writes entry i of the counts. Returns 1 if the entry is free. Not part of the loop, so that the
 * verifier checks it only once.
 */
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

/* Writes the counts if the oldest one is due. Runs at each call of the thread. */
static __always_inline void counted_look(struct pov_thread *t, u64 now)
{
	if (t->counting_ns && now - t->counting_ns > POV_COUNTING_NS)
		counted_flush(t);
}

/* Size of a datatype, from its handle or from the library's object; negative if neither has it. */
static __always_inline int counted_type_size(struct pov_thread *t, const struct pov_lib *lib,
					     u64 type, u64 *out)
{
	/* MPICH's handles: kind "builtin", type "datatype", then the size */
	if (lib->flags & POV_LIB_TYPE_IN_HANDLE && ((u32)type & 0xfc000000) == 0x4c000000) {
		*out = (u32)type >> 8 & 0xff;
		return 0;
	}
	return type_is_object(lib, type) ? type_size(t, lib, type, out) : -1;
}

/* count × size; POV_COUNTED_UNSIZED if no buffer could have that size, as with a negative count. */
static __always_inline u64 counted_product(u64 count, u64 size)
{
	bool large = (count | size) >> 31;

	return large && size && count > POV_COUNTED_UNSIZED / 2 / size ? POV_COUNTED_UNSIZED :
									 count * size;
}

/* Computes from the arguments of the call in frame idx the bytes that it moves. */
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

/* Entry that counts the call in frame idx, or a free one; POV_COUNTING_MAX if there is none. */
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

/* Counts the call in frame idx, which ended at end_ns after busy_ns. */
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
