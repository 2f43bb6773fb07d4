/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * How calls become posts. The elements of a list become one each; those that were counted but not
 * kept become posts with little data. Other requests are built by several calls, or are reported by
 * static probes.
 */
#include <stdlib.h>
#include <string.h>

#include "layers/verbs/verbs_call.h"
#include "lib/table.h"

static uint64_t queue_of(const struct verbs_call *c)
{
	return signature_find(&c->fn->sig, "qp") == 0 ? call_parts_word(&c->parts, 0) : 0;
}

static void requests_post(const struct verbs_call *c, const struct call_field *f,
			  struct call_view *out)
{
	bool receives = c->fn->attrs.flags & RECEIVES, failed = verbs_call_is_failed(c);
	uint32_t kept = f->bytes / sizeof(struct pov_work), n;
	struct call_post *post;
	struct pov_work w = {0};

	n = f->cnt > kept && kept ? f->cnt : kept;
	n = n < VERBS_POSTS_MAX ? n : VERBS_POSTS_MAX;
	post = arena_alloc(&c->d->base.arena, n * sizeof(*post));
	for (uint32_t i = 0; i < n; i++) {
		if (i < kept)
			memcpy(&w, f->data + i * sizeof(w), sizeof(w));
		else /* counted but not kept */
			w = (struct pov_work){.qp = w.qp,
					      .qp_type = w.qp_type,
					      .bytes = POV_WORK_BYTES_UNKNOWN,
					      .opcode = UINT8_MAX};
		verbs_post_request(&c->d->conns, c->parts.rec->tgid, queue_of(c), &w, receives,
				   &c->d->base.arena, &post[i]);
		post[i].has_id = i < kept;
		/* the call reports which of several were refused, or it is unknown */
		post[i].failed = failed && (c->fields.sum.data ? i >= c->fields.sum.cnt : n == 1);
	}
	out->posts = post;
	out->nposts = n;
}

static void completions_post(const struct verbs_call *c, const struct call_field *f,
			     struct call_view *out)
{
	uint32_t n = f->bytes / VERBS_WC_BYTES;
	struct call_post *post = arena_alloc(&c->d->base.arena, n * sizeof(*post));

	for (uint32_t i = 0; i < n; i++)
		verbs_post_completion(f->data + i * VERBS_WC_BYTES, &post[i]);
	out->posts = post;
	out->nposts = n;
}

static void extended_post(const struct verbs_call *c, const uint8_t *wc, struct call_view *out)
{
	struct call_post *post = arena_alloc(&c->d->base.arena, sizeof(*post));

	verbs_post_extended(
		wc, verbs_cq_queue(&c->d->conns, c->parts.rec->tgid, call_parts_word(&c->parts, 0)),
		post);
	out->posts = post;
	out->nposts = 1;
}

void verbs_list_posts(const struct verbs_call *c, struct call_view *out)
{
	const uint8_t *extended = verbs_call_extended(c);
	int arg = signature_find(&c->fn->sig, "wr");

	if (arg >= 0 && c->fields.arg[arg].data) {
		requests_post(c, &c->fields.arg[arg], out);
		return;
	}
	arg = signature_find(&c->fn->sig, "wc");
	if (arg >= 0 && c->fields.arg[arg].data && c->parts.returned)
		completions_post(c, &c->fields.arg[arg], out);
	if (extended)
		extended_post(c, extended, out);
}

/* ---- built by calls ---- */

/*
 * Requests that are built by calls (ibv_wr_start … ibv_wr_complete). One call gives the operation,
 * others give its memory and destination, and the last one posts all requests. Normally, a thread
 * builds at one queue pair at a time; what it began at another one is given up.
 */

/* The bytes read of a struct ibv_qp_ex begin with the handle of its queue pair. */
#define QP_NUM 4
#define QP_TYPE 12
#define WR_ID 120
#define WR_FLAGS 128
#define QP_EX_BYTES 132

struct build {
	uint64_t qp;
	uint32_t cnt, cap;
	struct pov_work *work;
};

void verbs_build_free(void *build)
{
	struct build *b = build;

	free(b->work);
	free(b);
}

/* enum ibv_wr_opcode */
uint8_t verbs_build_opcode(const char *func)
{
	static const struct {
		const char *func;
		uint8_t opcode;
	} all[] = {
		{"wr_rdma_write", 0},	    {"wr_rdma_write_imm", 1}, {"wr_send", 2},
		{"wr_send_imm", 3},	    {"wr_rdma_read", 4},      {"wr_atomic_cmp_swp", 5},
		{"wr_atomic_fetch_add", 6}, {"wr_send_inv", 9},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (!strcmp(all[i].func, func))
			return all[i].opcode;
	return UINT8_MAX;
}

static void request_begin(const struct verbs_call *c, struct build *b)
{
	const uint8_t *qp = verbs_call_data(c, "qp", QP_EX_BYTES);
	struct pov_work *w;

	if (b->cnt >= VERBS_POSTS_MAX)
		return;
	w = table_add(b->work, b->cnt, b->cap);
	*w = (struct pov_work){.opcode = c->fn->opcode};
	if (!qp)
		return;
	memcpy(&w->id, qp + WR_ID, sizeof(w->id));
	memcpy(&w->qp, qp + QP_NUM, sizeof(w->qp));
	w->qp_type = qp[QP_TYPE];
	w->flags = qp[WR_FLAGS];
}

/* Bytes in a list of struct ibv_sge or ibv_data_buf, whose lengths have 4 or 8 bytes. */
static uint64_t list_bytes(const struct verbs_call *c, int arg, uint32_t length_bytes)
{
	const struct call_field *f = &c->fields.arg[arg];
	uint64_t sum = 0, length = 0;

	if (f->bytes / 16 < f->cnt || !f->data)
		return POV_WORK_BYTES_UNKNOWN;
	for (uint32_t i = 0; i < f->cnt; i++) {
		memcpy(&length, f->data + 16 * (size_t)i + 8, length_bytes);
		sum += length;
	}
	return sum;
}

static void data_add(const struct verbs_call *c, struct pov_work *w)
{
	const struct signature *sig = &c->fn->sig;
	int pieces = signature_find(sig, "sg_list"), bufs = signature_find(sig, "buf_list");
	uint64_t bytes = call_parts_word(&c->parts, sig->nargs - 1);

	if (pieces >= 0)
		bytes = list_bytes(c, pieces, 4);
	else if (bufs >= 0)
		bytes = list_bytes(c, bufs, 8);
	else if (sig->arg[sig->nargs - 1].type == SIG_INT)
		bytes = (uint32_t)bytes;
	w->bytes = bytes < POV_WORK_BYTES_UNKNOWN ? (uint32_t)bytes : POV_WORK_BYTES_UNKNOWN;
}

static void post_all(const struct verbs_call *c, const struct build *b, struct call_view *out)
{
	struct call_post *post = arena_alloc(&c->d->base.arena, b->cnt * sizeof(*post));

	for (uint32_t i = 0; i < b->cnt; i++) {
		verbs_post_request(&c->d->conns, c->parts.rec->tgid, b->qp, &b->work[i], false,
				   &c->d->base.arena, &post[i]);
		post[i].failed = verbs_call_is_failed(c); /* an error concerns all of them */
	}
	out->posts = post;
	out->nposts = b->cnt;
}

void verbs_build_posts(const struct verbs_call *c, struct call_view *out)
{
	uint32_t part = c->fn->attrs.flags & TEACHES;
	uint64_t qp = call_parts_word(&c->parts, 0);
	struct pov_work *last;
	struct build *b;

	if (part < TEACHES_START)
		return;
	b = map_make(&c->d->builds, c->parts.rec->hdr.tid, sizeof(*b));
	if (part == TEACHES_START || b->qp != qp)
		b->cnt = 0;
	b->qp = qp;
	last = b->cnt ? &b->work[b->cnt - 1] : NULL;
	if (part == TEACHES_REQUEST) {
		request_begin(c, b);
	} else if (part == TEACHES_DATA && last) {
		data_add(c, last);
	} else if (part == TEACHES_ADDRESS && last) {
		last->ah = call_parts_word(&c->parts, 1);
		last->remote_qp = (uint32_t)call_parts_word(&c->parts, 2);
	} else if (part == TEACHES_COMPLETE || part == TEACHES_ABORT) {
		if (part == TEACHES_COMPLETE && c->parts.returned)
			post_all(c, b, out);
		b->cnt = 0;
	}
}

/* ---- static probes ---- */

/*
 * Static probes of providers (rows with NOTE). Each reports one request that is being posted: its
 * queue pair, the name of its kind, and either its bytes or its number of pieces of memory. Its id
 * and its destination are unknown.
 */

/* The text that an argument points to, or NULL. */
static const char *text_of(const struct verbs_call *c, const char *role)
{
	const uint8_t *data = verbs_call_data(c, role, POV_BLOCK_BYTES);
	char *text;

	if (!data)
		return NULL;
	text = arena_alloc(&c->d->base.arena, POV_BLOCK_BYTES + 1);
	memcpy(text, data, POV_BLOCK_BYTES);
	text[POV_BLOCK_BYTES] = '\0';
	return text;
}

/* Bytes as reported; 0 if there is no piece at all; else unknown. */
static uint32_t bytes_of(const struct verbs_call *c)
{
	uint64_t v;

	if (call_parts_value(&c->parts, "num", &v))
		return v ? POV_WORK_BYTES_UNKNOWN : 0;
	return call_parts_value(&c->parts, "length", &v) && v < POV_WORK_BYTES_UNKNOWN ?
		       (uint32_t)v :
		       POV_WORK_BYTES_UNKNOWN;
}

void verbs_note_posts(const struct verbs_call *c, struct call_view *out)
{
	const char *opcode, *device;
	struct call_post *post;
	struct pov_work w = {0};
	uint64_t qp;

	/* arguments that could not be read in full mean nothing */
	if (!(c->fn->attrs.flags & IS_NOTE) || c->parts.rec->hdr.flags & POV_CALL_FAULT)
		return;
	opcode = text_of(c, "opcode");
	device = text_of(c, "device");
	w.qp = call_parts_value(&c->parts, "qp_num", &qp) ? (uint32_t)qp : 0;
	w.opcode = opcode ? verbs_post_opcode(opcode) : UINT8_MAX;
	w.bytes = bytes_of(c);
	post = arena_alloc(&c->d->base.arena, sizeof(*post));
	verbs_post_request(&c->d->conns, c->parts.rec->tgid, 0, &w, false, &c->d->base.arena, post);
	post->has_id = false;
	post->device = device && *device ? device : NULL;
	out->posts = post;
	out->nposts = 1;
}
