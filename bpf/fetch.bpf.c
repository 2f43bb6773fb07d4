// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * Runs the fetches of a call by its function's recipe; each adds a field to the record in the
 * frame. Arrays that do not fit leave as continuation records. Memory that cannot be read is
 * flagged, never made up.
 */
#include "core.bpf.h"
#include "fetch.bpf.h"

#define ARRAY_CHUNKS_MAX 64 /* continuation records of one array */
/*
 * Bytes that an array leaves for later fields: three arrays that are wholly in continuation
 * records, and a handle.
 */
#define FIELDS_BEHIND (6 * sizeof(struct pov_field))
/* Integers per chunk: 96 bytes on the stack, which just fit into the 512 of a whole call chain. */
#define SUM_CHUNK 12
#define SUM_PLAIN_MAX 16384 /* longest array summed without bpf_loop */
#define SUM_MAX (1 << 22)   /* longest array summed with bpf_loop: it takes some milliseconds */
#define IOV_MAX 64	    /* most pieces of memory whose lengths are summed */

__noinline int read_words(struct words *to, u64 from, u32 bytes)
{
	struct words buf = {};

	if (!to || bytes > sizeof(buf) || bpf_probe_read_user(&buf, bytes, (void *)from))
		return -1;
	*to = buf;
	return 0;
}

/* Number of a fetch's elements: ≥ 0; -1: unknown; -2: does not apply at this rank. */
static __always_inline s64 fetch_len(struct pov_thread *t, u32 idx, const struct pov_fn *fn,
				     const struct pov_fetch *fe)
{
	u64 word = frame_arg(frame_at(t, idx), fe->len_arg);
	s32 n = 0;

	switch (fe->len) {
	case POV_LEN_ONE:
		return 1;
	case POV_LEN_ARG:
		return (s32)word < 0 ? 0 : (s32)word;
	case POV_LEN_OUT_ARG:
		if (!word || bpf_probe_read_user(&n, 4, (void *)word))
			return -1;
		/* a call that failed may not have written it */
		if (n > (s32)frame_arg(frame_at(t, idx), 0))
			return -1;
		return n < 0 ? 0 : n;
	case POV_LEN_RETURN:
		n = frame_call(frame_at(t, idx))->ret;
		return n < 0 ? 0 : n;
	}
	return comm_len(t, idx, fn->comm_arg, fe->len, fe->len_arg);
}

/*
 * Sum over m ≤ SUM_CHUNK integers at p. Straight-line code, so that the verifier accepts long
 * arrays.
 */
__noinline int sum_chunk(u64 p, u32 m, u32 width, u64 *out)
{
	s64 buf[SUM_CHUNK] = {};
	u64 bytes = (u64)m * width;
	s64 sum = 0;
	u32 k;

	if (!out)
		return -1;
	barrier_var(bytes);
	if (bytes > sizeof(buf) || bpf_probe_read_user(buf, bytes, (void *)p))
		return -1;
	if (width == 8) {
		for (k = 0; k < SUM_CHUNK; k++)
			sum += buf[k];
	} else {
		for (k = 0; k < SUM_CHUNK; k++)
			sum += ((s32 *)buf)[k];
	}
	*out += sum;
	return 0;
}

struct sum {
	u64 p;
	u64 total;
	u32 bytes; /* bytes of a chunk */
	s32 err;
};

static long sum_step(u32 i, struct sum *s)
{
	s->err = sum_chunk(s->p + (u64)i * s->bytes, SUM_CHUNK, s->bytes / SUM_CHUNK, &s->total);
	return s->err != 0;
}

/* As sum_plain, for kernels with bpf_loop (5.17, commit e6f2dd0f8067). */
static __always_inline int sum_looped(u64 p, u32 n, u32 width, u64 *out)
{
	u32 chunks = n / SUM_CHUNK, rest = n % SUM_CHUNK;
	struct sum s = {.p = p, .bytes = SUM_CHUNK * width};

	bpf_loop(chunks, sum_step, &s, 0);
	if (!s.err && rest)
		s.err = sum_chunk(p + (u64)chunks * s.bytes, rest, width, &s.total);
	*out = s.total;
	return s.err;
}

/*
 * Sum over n integers of 4 or 8 bytes at p. Whole chunks come first, so that each round has a
 * single path: the verifier of Linux 6.1 follows every combination of branches over all rounds.
 */
static __always_inline int sum_plain(u64 p, u32 n, u32 width, u64 *out)
{
	u32 chunks = n / SUM_CHUNK, rest = n % SUM_CHUNK, i;

	for (i = 0; i <= SUM_PLAIN_MAX / SUM_CHUNK; i++) {
		if (i >= chunks)
			return rest ? sum_chunk(p + (u64)i * SUM_CHUNK * width, rest, width, out) :
				      0;
		if (sum_chunk(p + (u64)i * SUM_CHUNK * width, SUM_CHUNK, width, out))
			return -1;
	}
	return 0;
}

/*
 * Writes the next continuation record of an array, from element more->first on. Returns its number
 * of elements, 0 after the last. Not part of the loop, so that the verifier checks it once rather
 * than in each round, which took half the loading time.
 */
__noinline int more_piece(struct pov_thread *t, u32 idx, u64 p, u64 what, u64 now)
{
	u32 n = what >> 32, width = (what >> 16) & 0xff, first, m;
	u8 type = (what >> 24) & 0xf, arg = (what >> 28) & 0xf;
	struct pov_more *more;
	struct pov_call *c;
	u64 bytes;

	if (!t || idx >= POV_CALL_DEPTH_MAX || !width || width > 64)
		return -1;
	c = frame_call(frame_at(t, idx));
	more = (struct pov_more *)t->more;
	first = more->first;
	if (first >= n)
		return 0;
	m = n - first;
	if (m > POV_MORE_BYTES / width)
		m = POV_MORE_BYTES / width;
	bytes = (u64)m * width;
	barrier_var(bytes);
	if (bytes > POV_MORE_BYTES)
		return -1;
	hdr_init(&more->hdr, POV_KIND_MORE, 0, c->hdr.tid, now);
	more->begin_ns = c->hdr.ts_ns;
	more->size = bytes;
	more->type = type;
	more->arg = arg;
	if (bpf_probe_read_user(t->more + sizeof(*more), bytes, (void *)(p + (u64)first * width))) {
		c->hdr.flags |= POV_CALL_FAULT;
		return -1;
	}
	bytes = (sizeof(*more) + bytes + 7) & ~7ull;
	barrier_var(bytes);
	more->hdr.size = bytes;
	if (bytes > sizeof(t->more))
		return -1;
	c->hdr.flags |= POV_CALL_MORE;
	emit(t->more, bytes, POV_CLASS_MORE);
	more->first = first + m;
	return m;
}

/* Writes all elements after the first `first` ones as continuation records. */
__noinline int more_emit(struct pov_thread *t, u32 idx, u64 p, u64 what, u64 now)
{
	struct pov_more *more;
	u32 i;
	int m;

	if (!t)
		return -1;
	more = (struct pov_more *)t->more;
	more->first = (u32)what & 0xffff;
	for (i = 0; i < ARRAY_CHUNKS_MAX; i++) {
		m = more_piece(t, idx, p, what, now);
		if (m <= 0)
			return m;
	}
	return more->first < what >> 32;
}

/*
 * Copies as much of an array into the frame as fits. Returns the number of elements copied, or -1.
 */
__noinline int fetch_copy(struct pov_thread *t, u32 idx, u64 p, u64 what)
{
	u32 n = what >> 32, width = (what >> 16) & 0xff, fits, room;
	u8 type = (what >> 24) & 0xf, arg = (what >> 28) & 0xf;
	struct pov_frame *f;
	struct pov_call *c;
	u64 bytes;
	u8 *data;

	if (!t || idx >= POV_CALL_DEPTH_MAX || !width)
		return -1;
	f = frame_at(t, idx);
	c = frame_call(f);
	if (f->used > POV_FRAME_FULL - sizeof(struct pov_field))
		return -1;
	room = POV_FRAME_FULL - sizeof(struct pov_field) - f->used;
	room = room > FIELDS_BEHIND ? room - FIELDS_BEHIND : 0;
	if (room > POV_CALL_FIELD_BYTES)
		room = POV_CALL_FIELD_BYTES;
	fits = room / width;
	if (fits > n)
		fits = n;
	bytes = (u64)fits * width;
	barrier_var(bytes);
	if (bytes > POV_CALL_FIELD_BYTES)
		return -1;
	data = field_begin(f, type, arg, n, bytes);
	if (!data)
		return -1;
	if (bpf_probe_read_user(data, bytes, (void *)p)) {
		c->hdr.flags |= POV_CALL_FAULT;
		return -1;
	}
	field_end(f, bytes);
	return fits;
}

/*
 * Copies an array into the frame, and what does not fit into continuation records. Inlined, because
 * the stacks of a call chain are limited to 512 bytes together.
 */
static __always_inline void fetch_whole(struct pov_thread *t, u32 idx, u64 p, u64 what, u64 now)
{
	int fits = fetch_copy(t, idx, p, what);

	if (fits >= 0 && (u32)fits < what >> 32 &&
	    more_emit(t, idx, p, what | ((u32)fits & 0xffff), now))
		frame_call(frame_at(t, idx))->hdr.flags |= POV_CALL_PARTIAL;
}

/* Adds a sum over n elements, or flags that they could not be read. */
static __always_inline void sum_keep(struct pov_frame *f, u8 arg, u32 n, int err, u64 sum)
{
	u8 *data;

	if (err) {
		frame_call(f)->hdr.flags |= POV_CALL_FAULT;
		return;
	}
	data = field_begin(f, POV_FIELD_SUM, arg, n, 8);
	if (!data)
		return;
	*(u64 *)data = sum;
	field_end(f, 8);
}

static __always_inline void fetch_sum(struct pov_frame *f, u8 arg, u64 p, u32 n, u32 width)
{
	bool loops = bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_loop);
	u64 sum = 0;
	int err;

	if (n > (loops ? SUM_MAX : SUM_PLAIN_MAX)) {
		frame_call(f)->hdr.flags |= POV_CALL_PARTIAL;
		return;
	}
	err = loops ? sum_looped(p, n, width, &sum) : sum_plain(p, n, width, &sum);
	sum_keep(f, arg, n, err, sum);
}

/*
 * Adds the length of piece i of a list. A function of its own, so that each round of the loop has a
 * single path.
 */
__noinline int iov_add(u64 p, u32 i, u32 shape_idx, u64 *sum)
{
	static const struct pov_iov_shape shapes[POV_IOV_CNT] = POV_IOV_SHAPES;
	const struct pov_iov_shape *shape = &shapes[index_mask(shape_idx, POV_IOV_CNT)];
	u64 word[8] = {}, bytes = shape->words * 8;

	if (!sum)
		return -1;
	barrier_var(bytes);
	if (bytes > sizeof(word) || bpf_probe_read_user(word, bytes, (void *)(p + i * bytes)))
		return -1;
	bytes = word[index_mask(shape->length, 8)];
	if (shape->repetition != POV_IOV_ONCE)
		bytes *= (u32)word[index_mask(shape->repetition, 8)];
	*sum += bytes;
	return 0;
}

static __always_inline void fetch_iov(struct pov_frame *f, const struct pov_fetch *fe, u64 p, u32 n)
{
	u64 sum = 0;
	int err = 0;
	u32 i;

	if (n > IOV_MAX) {
		frame_call(f)->hdr.flags |= POV_CALL_PARTIAL;
		return;
	}
	for (i = 0; i < IOV_MAX && i < n && !err; i++)
		err = iov_add(p, i, fe->elem, &sum);
	sum_keep(f, fe->arg, n, err, sum);
}

/* Runs fetch k of function func if it is an array, which is copied or summed. */
__noinline int fetch_array(struct pov_thread *t, u32 idx, u32 func, u32 k, u64 now)
{
	const struct pov_fetch *fe;
	const struct pov_fn *fn;
	struct pov_frame *f;
	struct pov_lib *lib;
	u32 lib_id, width;
	u64 p, *list;
	s64 n;
	u8 op;

	fn = fn_find(func);
	if (!t || !fn || idx >= POV_CALL_DEPTH_MAX || k >= POV_FETCH_MAX)
		return -1;
	f = frame_at(t, idx);
	fe = &fn->fetch[index_mask(k, POV_FETCH_MAX)];
	op = fe->op;
	lib_id = frame_call(f)->lib;
	lib = lib_find(lib_id);
	if (!lib)
		return -1;
	p = frame_arg(f, fe->arg) + fe->off;
	n = fetch_len(t, idx, fn, fe);
	if (n < 0)
		return 0;
	if (op == POV_FETCH_IOV_LIST && fetch_exists(POV_FETCH_IOV_LIST)) {
		list = (u64 *)t->more; /* not on the stack: a call chain is limited to 512 bytes */
		if (bpf_probe_read_user(list, 24, (void *)p)) {
			frame_call(f)->hdr.flags |= POV_CALL_FAULT;
			return -1;
		}
		p = list[0];
		n = list[2] > IOV_MAX ? IOV_MAX + 1 : list[2];
	}
	if ((op == POV_FETCH_IOV && fetch_exists(POV_FETCH_IOV)) ||
	    (op == POV_FETCH_IOV_LIST && fetch_exists(POV_FETCH_IOV_LIST))) {
		fetch_iov(f, fe, p, n);
		return 0;
	}
	width = fetch_width(fe, lib);
	if (op == POV_FETCH_SUM)
		fetch_sum(f, fe->arg, p, n, width);
	else if (n > 0)
		fetch_whole(t, idx, p,
			    (u64)n << 32 | (u64)(fe->arg & 0xf) << 28 | (u64)op << 24 |
				    (u64)width << 16,
			    now);
	return 0;
}

/* Runs fetch k of function func if it is a datatype that only the root uses. */
__noinline int fetch_root_type(struct pov_thread *t, u32 idx, u32 func, u32 k)
{
	const struct pov_fn *fn = fn_find(func);
	const struct pov_fetch *fe;
	struct pov_frame *f;
	struct pov_lib *lib;
	u32 lib_id;

	if (!t || !fn || idx >= POV_CALL_DEPTH_MAX || k >= POV_FETCH_MAX)
		return -1;
	f = frame_at(t, idx);
	fe = &fn->fetch[index_mask(k, POV_FETCH_MAX)];
	lib_id = frame_call(f)->lib;
	lib = lib_find(lib_id);
	if (lib && fetch_len(t, idx, fn, fe) >= 0)
		fetch_type_size(t, f, fe, lib);
	return 0;
}

/*
 * Follows an argument to the list of a message's parts, and the list to the message's first bytes.
 */
__noinline int fetch_message(struct pov_thread *t, u32 idx, u32 arg)
{
	struct words list = {}, part = {};
	struct pov_field_message *m;
	struct pov_frame *f;
	struct pov_lib *lib;
	u32 lib_id;
	u64 bytes;

	if (!t || idx >= POV_CALL_DEPTH_MAX)
		return -1;
	f = frame_at(t, idx);
	lib_id = frame_call(f)->lib;
	lib = lib_find(lib_id);
	if (!lib || lib->message_off == POV_OFF_NONE)
		return 0;
	if (read_words(&list, frame_arg(f, lib->message_arg) + lib->message_off, 16) ||
	    read_words(&part, list.w[0], list.w[1] > 1 ? 32 : 16))
		goto fault;
	m = (struct pov_field_message *)field_begin(f, POV_FIELD_MESSAGE, arg, list.w[1],
						    sizeof(*m));
	if (!m)
		return -1;
	m->bytes = part.w[1] + part.w[3];
	__builtin_memset(m->head, 0, sizeof(m->head));
	bytes = part.w[1] < sizeof(m->head) ? part.w[1] : sizeof(m->head);
	barrier_var(bytes);
	if (bytes > sizeof(m->head) || bpf_probe_read_user(m->head, bytes, (void *)part.w[0]))
		goto fault;
	field_end(f, sizeof(*m));
	return 0;
fault:
	frame_call(f)->hdr.flags |= POV_CALL_FAULT;
	return -1;
}

/*
 * Follows a pointer member of what an argument points to. Members may be unset: an unreadable one
 * is left out.
 */
__noinline int fetch_member(struct pov_thread *t, u32 idx, u32 arg, u32 off, u32 bytes)
{
	struct pov_frame *f;
	struct words *data;
	u64 p = 0;

	if (!t || idx >= POV_CALL_DEPTH_MAX || bytes > sizeof(*data))
		return -1;
	f = frame_at(t, idx);
	if (bpf_probe_read_user(&p, sizeof(p), (void *)(frame_arg(f, arg) + off)) || !p)
		return 0;
	/* words written after the bytes lie in room for the next field */
	data = (struct words *)field_begin(f, POV_FIELD_MEMBER, arg, off, bytes);
	if (!data)
		return -1;
	if (!read_words(data, p, bytes))
		field_end(f, bytes);
	return 0;
}

/* Runs fetch k of function func. Not part of the loop, so that the verifier checks it only once. */
__noinline int fetch_nth(struct pov_thread *t, u32 idx, u32 func, u32 k, u64 now)
{
	const struct pov_fn *fn = fn_find(func);
	const struct pov_fetch *fe;
	struct pov_frame *f;
	struct pov_lib *lib;
	u32 lib_id;

	if (!t || !fn || idx >= POV_CALL_DEPTH_MAX)
		return -1;
	f = frame_at(t, idx);
	fe = &fn->fetch[index_mask(k, POV_FETCH_MAX)];
	lib_id = frame_call(f)->lib;
	lib = lib_find(lib_id);
	if (!lib)
		return -1;
	if (fe->op == POV_FETCH_MESSAGE && fetch_exists(POV_FETCH_MESSAGE))
		fetch_message(t, idx, fe->arg);
	else if (fe->op == POV_FETCH_MEMBER && fetch_exists(POV_FETCH_MEMBER))
		fetch_member(t, idx, fe->arg, fe->off, fe->bytes);
	else if (pov_fetch_is_one(fe))
		fetch_one(t, f, fe, lib);
	else if (in_place(f, fe, lib))
		return 0;
	else if (fe->op == POV_FETCH_TYPE_SIZE)
		fetch_root_type(t, idx, func, k);
	else if (is_memory(lib, frame_arg(f, fe->arg)))
		fetch_array(t, idx, func, k, now);
	return 0;
}

__noinline int fetch_all(struct pov_thread *t, u32 idx, u32 func, u32 at_return, u64 now)
{
	const struct pov_fn *fn = fn_find(func);
	u32 k;

	if (!t || !fn)
		return -1;
	for (k = 0; k < POV_FETCH_MAX; k++) {
		if (k >= fn->nfetch)
			break;
		if ((u32)pov_fetch_at_return(&fn->fetch[index_mask(k, POV_FETCH_MAX)]) == at_return)
			fetch_nth(t, idx, func, k, now);
	}
	return 0;
}

char LICENSE[] __weak SEC("license") = "Dual BSD/GPL";
