// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * Lists of work requests (struct ibv_send_wr, ibv_recv_wr) that a call posts to a queue: of each what struct pov_work has. The
 * first ones lie in the call's own record, the next in continuation records, and those behind are only counted. Nearly all
 * lists have one request with one piece of memory. Programs mostly have the two side by side, on the stack or in an object of their
 * own: then one read takes both, else there are two.
 */
#include "core.bpf.h"
#include "fetch.bpf.h"

#define WORK_IN_CALL (POV_CALL_FIELD_BYTES / sizeof(struct pov_work))
#define WORK_IN_MORE (POV_MORE_BYTES / sizeof(struct pov_work))
#define WORK_MORES_MAX 15 /* continuation records of one list */
#define WORK_COUNTED 4096 /* requests behind those that are kept */
#define PIECES_MAX 32	  /* of memory in one request: more have no known length */

/* As the ABI of libibverbs has it, to behind the last thing that is wanted; of a receive to behind num_sge. */
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

/* What is read around a request: its pieces lie behind a whole struct ibv_send_wr of 128 bytes, or a little before it. */
#define WINDOW_BEFORE 32
#define WINDOW_WORDS 24
#define PIECE_WORDS (sizeof(struct work_sge) / 8)
#define PAGE_BYTES_MIN 4096

/* Where in a struct ibv_qp qp_num and qp_type lie. */
#define QUEUE_NUM_OFF 52
#define QUEUE_TYPE_OFF 60

/* No address of a request: it could not be read. */
#define NEXT_FAULT 1

/* Length of all pieces of memory, or POV_WORK_BYTES_UNKNOWN. */
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

/* What is kept of a request of which that many bytes were read, but for the length of its pieces. Its successor's address. */
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

/* The request at `from`, of which that many bytes are there. Its successor's address, or NEXT_FAULT. */
__noinline u64 work_read(struct pov_work *to, u64 from, u32 bytes, u64 queue)
{
	struct work_wr r = {};

	if (!to || bytes > sizeof(r) || bpf_probe_read_user(&r, bytes, (void *)from))
		return NEXT_FAULT;
	to->bytes = pieces_sum(r.pieces, r.npieces);
	return work_keep(to, &r, bytes, queue);
}

/*
 * The first request of a list, with one read where its piece of memory lies beside it: what is read too much costs less than a
 * second read. It stays within one page, which can be read if the request can.
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
	/* else clang 19 adds off to the address: a multiple of 8, which the verifier does not know */
	barrier_var(word);
	if (r->npieces == 1 && off % 8 == 0 && word <= WINDOW_WORDS - PIECE_WORDS)
		to->bytes = window[word + 1];
	else
		to->bytes = pieces_sum(r->pieces, r->npieces);
	return work_keep(to, r, bytes, queue);
}

/*
 * Number and, from bit 32 on, type of the queue pair that a call's list goes to; 0 if there is none, or it cannot be read. Kept
 * beside the sizes of datatypes.
 */
static __always_inline u64 queue_look(struct pov_thread *t, struct pov_frame *f, u32 what)
{
	u64 qp = frame_arg(f, what >> 8 & 0xff), generation = type_generation;
	struct pov_type *kept = &t->type[(qp >> 4 ^ qp >> 9) % POV_TYPES_KEPT];
	u32 num,
		type; /* by themselves: with all that calls this, the stack has the 512 bytes that it may have */

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

/* Fills a continuation record from request p on and writes it; the first one that is not in it, 0 or NEXT_FAULT. */
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
	if (p == NEXT_FAULT && n) /* the last one is none */
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

/* Along a list, up to a request or to the end. */
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

/* Requests from p on, where the kernel has bpf_loop (5.17, commit e6f2dd0f8067); else at least 1. */
__noinline u32 work_count(u64 p)
{
	struct search s = {.p = p};

	if (!bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_loop))
		return 1;
	bpf_loop(WORK_COUNTED, search_step, &s, 0);
	return s.n;
}

/* The list's requests behind those in the call's record: where they end. */
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

	if (!t || idx >= POV_CALL_DEPTH_MAX)
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

	if (!t || idx >= POV_CALL_DEPTH_MAX)
		return -1;
	f = frame_at(t, idx);
	f->used -= sizeof(*head) +
		   sizeof(*to); /* the first request's field is all there is: it grows */
	queue = queue_look(t, f, what);
	data = field_begin(f, POV_FIELD_WORK, what, 0, POV_CALL_FIELD_BYTES);
	if (!data)
		return -1;
	to = (struct pov_work *)data;
	for (n = 1; n < WORK_IN_CALL && p > NEXT_FAULT; n++)
		p = work_read(&to[n], p, bytes, queue);
	if (p == NEXT_FAULT) { /* the last one is none */
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

	if (!t || idx >= POV_CALL_DEPTH_MAX)
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
