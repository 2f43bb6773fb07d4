// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * Lists of work requests (struct ibv_send_wr, ibv_recv_wr) that a call posts to a queue; each
 * becomes a struct pov_work. The first ones lie in the call's own record, the next in continuation
 * records; the others are only counted. Nearly all lists have one request with one piece of memory.
 * Programs mostly keep the two side by side, on the stack or in an object of their own. Then one
 * read gets both; else it takes two.
 */
#include "core.bpf.h"
#include "fetch.bpf.h"

#define WORK_IN_CALL (POV_CALL_FIELD_BYTES / sizeof(struct pov_work))
#define WORK_IN_MORE (POV_MORE_BYTES / sizeof(struct pov_work))
#define WORK_MORES_MAX 15 /* continuation records of one list */
#define WORK_COUNTED 4096 /* most requests that are counted after those that are kept */
#define PIECES_MAX 32	  /* pieces of memory in one request; the length of more is unknown */

/*
 * Start of a work request in the ABI of libibverbs, up to the last member used here. For a receive,
 * only the members up to npieces (num_sge) are valid.
 */
struct work_wr {
	u64 id, next, pieces;
	u32 npieces, opcode;
	u32 flags, imm;
	u64 ah;
	u32 remote_qp, pad;
};

struct work_sge {
	u64 addr;
	u32 length, key;
};

/*
 * Bytes read around a request. Its pieces may lie after a whole struct ibv_send_wr of 128 bytes, or
 * shortly before it.
 */
#define WINDOW_BEFORE 32
#define WINDOW_WORDS 24
#define PIECE_WORDS (sizeof(struct work_sge) / 8)
#define PAGE_BYTES_MIN 4096

/* Offsets of qp_num and qp_type in struct ibv_qp. */
#define QUEUE_NUM_OFF 52
#define QUEUE_TYPE_OFF 60

/* Returned instead of a request's address: the request could not be read. */
#define NEXT_FAULT 1

/* Total length of n pieces of memory, or POV_WORK_BYTES_UNKNOWN. */
static __always_inline u64 pieces_sum(u64 from, u32 n)
{
	u32 length, i;
	u64 sum = 0;

	for (i = 0; i < PIECES_MAX; i++) {
		if (i >= n)
			return sum < POV_WORK_BYTES_UNKNOWN ? sum : POV_WORK_BYTES_UNKNOWN;
		if (bpf_probe_read_user(&length, sizeof(length),
					(void *)(from + i * sizeof(struct work_sge) +
						 offsetof(struct work_sge, length))))
			return POV_WORK_BYTES_UNKNOWN;
		sum += length;
	}
	return n == PIECES_MAX ? sum : POV_WORK_BYTES_UNKNOWN;
}

/*
 * Fills *to from a request of which `bytes` were read, except the length of its pieces. Returns the
 * next request's address.
 */
static __always_inline u64 work_keep(struct pov_work *to, const struct work_wr *r, u32 bytes,
				     u64 queue)
{
	bool send = bytes == sizeof(*r);

	to->id = r->id;
	to->ah = send ? r->ah : 0;
	to->remote_qp = send ? r->remote_qp : 0;
	to->qp = queue;
	to->qp_type = queue >> 32;
	to->opcode = send ? r->opcode : 0;
	to->flags = send ? r->flags : 0;
	to->npieces = r->npieces < 0xff ? r->npieces : 0xff;
	return r->next;
}

/*
 * Reads the request at `from`, of `bytes` bytes. Returns the next request's address, or NEXT_FAULT.
 */
__noinline u64 work_read(struct pov_work *to, u64 from, u32 bytes, u64 queue)
{
	struct work_wr r = {};

	if (!to || bytes > sizeof(r) || bpf_probe_read_user(&r, bytes, (void *)from))
		return NEXT_FAULT;
	to->bytes = pieces_sum(r.pieces, r.npieces);
	return work_keep(to, &r, bytes, queue);
}

/*
 * Reads the first request of a list, together with its piece of memory if that lies beside it. The
 * bytes read in vain cost less than a second read. All lie within one page, which is readable if
 * the request is.
 */
static __always_inline u64 work_first(struct pov_work *to, u64 from, u32 bytes, u64 queue)
{
	u64 window[WINDOW_WORDS], begin = from - WINDOW_BEFORE, off, word;
	struct work_wr *r = (struct work_wr *)((u8 *)window + WINDOW_BEFORE);

	if (begin % PAGE_BYTES_MIN > PAGE_BYTES_MIN - sizeof(window) ||
	    bpf_probe_read_user(window, sizeof(window), (void *)begin))
		return work_read(to, from, bytes, queue);
	off = r->pieces - begin;
	word = off / 8;
	/*
	 * without it, clang 19 adds off to the address, and the verifier does not know that it is a
	 * multiple of 8
	 */
	barrier_var(word);
	if (r->npieces == 1 && off % 8 == 0 && word <= WINDOW_WORDS - PIECE_WORDS)
		to->bytes = window[word + 1];
	else
		to->bytes = pieces_sum(r->pieces, r->npieces);
	return work_keep(to, r, bytes, queue);
}

/*
 * Number and, from bit 32 on, type of the queue pair that a call's list goes to; 0: there is none,
 * or it cannot be read. Cached among the sizes of datatypes.
 */
static __always_inline u64 queue_look(struct pov_thread *t, struct pov_frame *f, u32 what)
{
	u64 qp = frame_arg(f, what >> 8 & 0xff), generation = type_generation;
	struct pov_type *kept = &t->type[(qp >> 4 ^ qp >> 9) % POV_TYPES_KEPT];
	/* read one by one: with its callers, this function just fits a stack of 512 bytes */
	u32 num, type;

	if (!qp)
		return 0;
	if (kept->handle == qp && kept->generation == generation)
		return kept->bytes;
	if (bpf_probe_read_user(&num, sizeof(num), (void *)(qp + QUEUE_NUM_OFF)) ||
	    bpf_probe_read_user(&type, sizeof(type), (void *)(qp + QUEUE_TYPE_OFF)))
		return 0;
	kept->handle = qp;
	kept->bytes = (u64)(type & 0xff) << 32 | num;
	kept->generation = generation;
	return kept->bytes;
}

/*
 * Writes a continuation record from request p on. Returns the first request after it, 0 or
 * NEXT_FAULT.
 */
__noinline u64 work_more(struct pov_thread *t, u32 what, u64 p, u64 queue, u64 now)
{
	u32 idx = what & 0xff, bytes = what >> 8 & 0xff, n;
	struct pov_more *more;
	struct pov_work *to;
	struct pov_call *c;

	if (!t || idx >= POV_CALL_DEPTH_MAX)
		return NEXT_FAULT;
	c = frame_call(frame_at(t, idx));
	more = (struct pov_more *)t->more;
	to = (struct pov_work *)(t->more + sizeof(*more));
	for (n = 0; n < WORK_IN_MORE && p > NEXT_FAULT; n++)
		p = work_read(&to[n], p, bytes, queue);
	if (p == NEXT_FAULT && n) /* the last one could not be read */
		n--;
	hdr_init(&more->hdr, POV_KIND_MORE, sizeof(*more) + n * sizeof(*to), c->hdr.tid, now);
	more->begin_ns = c->hdr.ts_ns;
	more->size = n * sizeof(*to);
	more->type = POV_FIELD_WORK;
	more->arg = what >> 16;
	c->hdr.flags |= POV_CALL_MORE;
	emit(t->more, sizeof(*more) + (n & (2 * WORK_IN_MORE - 1)) * sizeof(*to), POV_CLASS_MORE);
	more->first += n;
	return p;
}

/* A walk along a list, up to a given request or to the end. */
struct search {
	u64 p, wanted;
	u32 n;
};

static long search_step(u32 i, struct search *s)
{
	u64 next = 0;

	(void)i;
	if (s->p == s->wanted)
		return 1;
	s->n++;
	bpf_probe_read_user(&next, sizeof(next),
			    (void *)(s->p + __builtin_offsetof(struct work_wr, next)));
	s->p = next;
	return !next;
}

/* Number of requests from p on if the kernel has bpf_loop (5.17, commit e6f2dd0f8067), else 1. */
__noinline u32 work_count(u64 p)
{
	struct search s = {.p = p};

	if (!bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_loop))
		return 1;
	bpf_loop(WORK_COUNTED, search_step, &s, 0);
	return s.n;
}

/*
 * Handles the requests after those in the call's record. Returns the list's total number of
 * requests.
 */
static __always_inline u32 work_rest(struct pov_thread *t, u32 what, u64 p, u64 queue, u64 now)
{
	struct pov_more *more;
	struct pov_call *c;
	u32 i, idx = what & 0xff;

	if (!t || idx >= POV_CALL_DEPTH_MAX)
		return 0;
	c = frame_call(frame_at(t, idx));
	more = (struct pov_more *)t->more;
	more->first = WORK_IN_CALL;
	for (i = 0; i < WORK_MORES_MAX && p > NEXT_FAULT; i++)
		p = work_more(t, what, p, queue, now);
	if (p == NEXT_FAULT)
		c->hdr.flags |= POV_CALL_FAULT;
	if (p <= NEXT_FAULT)
		return more->first;
	c->hdr.flags |= POV_CALL_PARTIAL;
	return more->first + work_count(p);
}

__noinline u64 work_fetch(struct pov_thread *t, u32 idx, u32 what)
{
	u32 arg = what & 0xff, bytes = what >> 16 & 0xff;
	struct pov_frame *f;
	u64 next;
	u8 *data;

	if (!fetch_exists(POV_FETCH_WORK) || !t || idx >= POV_CALL_DEPTH_MAX)
		return 0;
	f = frame_at(t, idx);
	data = field_begin(f, POV_FIELD_WORK, arg, 1, sizeof(struct pov_work));
	if (!data)
		return 0;
	next = work_first((struct pov_work *)data, frame_arg(f, arg), bytes,
			  queue_look(t, f, what));
	if (next != NEXT_FAULT) {
		field_end(f, sizeof(struct pov_work));
		return next;
	}
	frame_call(f)->hdr.flags |= POV_CALL_FAULT;
	field_begin(f, POV_FIELD_WORK, arg, 0, 0);
	field_end(f, 0);
	return 0;
}

__noinline int work_list(struct pov_thread *t, u32 idx, u32 what, u64 p, u64 now)
{
	u32 bytes = what >> 16 & 0xff, n;
	struct pov_field *head;
	struct pov_work *to;
	struct pov_frame *f;
	u64 queue;
	u8 *data;

	if (!fetch_exists(POV_FETCH_WORK) || !t || idx >= POV_CALL_DEPTH_MAX)
		return -1;
	f = frame_at(t, idx);
	/* removes the first request's field, the only one, which is written again with more */
	f->used -= sizeof(*head) + sizeof(*to);
	queue = queue_look(t, f, what);
	data = field_begin(f, POV_FIELD_WORK, what, 0, POV_CALL_FIELD_BYTES);
	if (!data)
		return -1;
	to = (struct pov_work *)data;
	for (n = 1; n < WORK_IN_CALL && p > NEXT_FAULT; n++)
		p = work_read(&to[n], p, bytes, queue);
	if (p == NEXT_FAULT) { /* the last one could not be read */
		frame_call(f)->hdr.flags |= POV_CALL_FAULT;
		n--;
	}
	head = (struct pov_field *)data - 1;
	head->cnt = n;
	head->size = n * sizeof(*to);
	if (p > NEXT_FAULT)
		head->cnt = work_rest(t, idx | bytes << 8 | what << 16, p, queue, now);
	field_end(f, n * sizeof(*to));
	return 0;
}

__noinline int work_accepted(struct pov_thread *t, u32 idx, u32 what)
{
	struct search s = {};
	struct pov_frame *f;
	u8 *data;

	if (!fetch_exists(POV_FETCH_ACCEPTED) || !t || idx >= POV_CALL_DEPTH_MAX)
		return -1;
	f = frame_at(t, idx);
	if (!(u32)frame_call(f)->ret ||
	    !bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_loop))
		return 0;
	if (bpf_probe_read_user(&s.wanted, sizeof(s.wanted), (void *)frame_arg(f, what & 0xff))) {
		frame_call(f)->hdr.flags |= POV_CALL_FAULT;
		return -1;
	}
	s.p = frame_arg(f, what >> 8 & 0xff);
	bpf_loop(WORK_COUNTED, search_step, &s, 0);
	if (!s.p || s.p != s.wanted)
		return 0;
	data = field_begin(f, POV_FIELD_SUM, what, s.n, 8);
	if (!data)
		return -1;
	*(u64 *)data = s.n;
	field_end(f, 8);
	return 0;
}

char LICENSE[] __weak SEC("license") = "Dual BSD/GPL";
