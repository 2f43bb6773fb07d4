/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Fields of one element. Most calls need nothing else, so this code is inlined where calls begin
 * and return.
 */
#ifndef POV_FETCH_BPF_H
#define POV_FETCH_BPF_H

#include "core.bpf.h"

static __always_inline bool is_memory(const struct pov_lib *lib, u64 p)
{
	return p && p != lib->skip[0] && p != lib->skip[1] && p != lib->skip[2] &&
	       p != lib->skip[3];
}

/*
 * Begins a field after those in the frame. Returns where its data go, or null if it does not fit.
 */
static __always_inline u8 *field_begin(struct pov_frame *f, u8 type, u8 arg, u32 cnt, u64 bytes)
{
	u64 used = f->used;
	struct pov_field *head;

	barrier_var(used);
	if (used > POV_FRAME_FULL - sizeof(*head) || used + sizeof(*head) + bytes > POV_FRAME_FULL)
		return NULL;
	head = (struct pov_field *)(f->rec + used);
	head->type = type;
	head->arg = arg;
	head->size = bytes;
	head->cnt = cnt;
	return f->rec + used + sizeof(*head);
}

static __always_inline void field_end(struct pov_frame *f, u32 bytes)
{
	f->used += sizeof(struct pov_field) + ((bytes + 7) & ~7u);
}

/* True if a datatype is an object whose size can be read. */
static __always_inline bool type_is_object(const struct pov_lib *lib, u64 type)
{
	return lib->flags & POV_LIB_HANDLE_PTR && lib->type_size_off != POV_OFF_NONE && type;
}

/* Size of a datatype object, from the thread's small cache or from the library's memory. */
static __always_inline int type_size(struct pov_thread *t, const struct pov_lib *lib, u64 handle,
				     u64 *out)
{
	u64 generation = type_generation_of(handle);
	struct pov_type *kept = &t->type[(handle >> 4 ^ handle >> 9) % POV_TYPES_KEPT];

	if (kept->handle == handle && kept->generation == generation) {
		*out = kept->bytes;
		return 0;
	}
	if (bpf_probe_read_user(out, 8, (void *)(handle + lib->type_size_off)))
		return -1;
	kept->handle = handle;
	kept->bytes = *out;
	kept->generation = generation;
	return 0;
}

/*
 * True if the fetch's argument describes a buffer that is MPI_IN_PLACE. It may then point anywhere,
 * as MPI does not look at it.
 */
static __always_inline bool in_place(struct pov_frame *f, const struct pov_fetch *fe,
				     const struct pov_lib *lib)
{
	u64 buffer = frame_arg(f, fe->buf_arg); /* 0 if there is none */

	return buffer && !is_memory(lib, buffer);
}

/*
 * True if the fetch's argument describes data that are exchanged with nobody: it may point anywhere
 * then. The root of an intercommunicator passes MPI_ROOT; its fetches with a buf_arg are left out,
 * too, because MPI uses only one of the two buffers.
 */
static __always_inline bool with_nobody(struct pov_frame *f, const struct pov_fetch *fe,
					const struct pov_lib *lib)
{
	s32 peer = frame_arg(f, fe->len_arg);

	return fe->len == POV_LEN_ONE && fe->len_arg < POV_CALL_ARGS_MAX &&
	       (peer == lib->proc_null || (peer == lib->root && fe->buf_arg < POV_CALL_ARGS_MAX));
}

static __always_inline void fetch_type_size(struct pov_thread *t, struct pov_frame *f,
					    const struct pov_fetch *fe, const struct pov_lib *lib)
{
	u64 type = frame_arg(f, fe->arg), size;
	u8 arg = fe->arg, *data;

	if (!type_is_object(lib, type) || with_nobody(f, fe, lib))
		return;
	if (type_size(t, lib, type, &size)) {
		frame_call(f)->hdr.flags |= POV_CALL_FAULT;
		return;
	}
	data = field_begin(f, POV_FIELD_TYPE_SIZE, arg, 1, 8);
	if (!data)
		return;
	*(u64 *)data = size;
	field_end(f, 8);
}

/* Width of a fetch's elements. */
static __always_inline u32 fetch_width(const struct pov_fetch *fe, const struct pov_lib *lib)
{
	return fe->bytes ?: lib->elem_bytes[index_mask(fe->elem, POV_ELEM_CNT)];
}

static __always_inline void fetch_value(struct pov_frame *f, const struct pov_fetch *fe,
					const struct pov_lib *lib)
{
	u32 bytes = fetch_width(fe, lib);
	u64 p = frame_arg(f, fe->arg);
	struct words *data;

	if (!is_memory(lib, p))
		return;
	/* words written after the element lie in room for the next field */
	data = (struct words *)field_begin(f, fe->op, fe->arg, 1, bytes);
	if (!data)
		return;
	if (bytes > sizeof(*data) || read_words(data, p + fe->off, bytes))
		frame_call(f)->hdr.flags |= POV_CALL_FAULT;
	else
		field_end(f, bytes);
}

static __always_inline void fetch_one(struct pov_thread *t, struct pov_frame *f,
				      const struct pov_fetch *fe, const struct pov_lib *lib)
{
	if (fe->op != POV_FETCH_TYPE_SIZE)
		fetch_value(f, fe, lib);
	else if (!in_place(f, fe, lib))
		fetch_type_size(t, f, fe, lib);
}

#endif
