/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Requests that are built by calls (ibv_wr_start … ibv_wr_complete): one call says what is to be done, others with which memory
 * and where to, and the last one posts all of them. Each thread builds at one queue pair at a time, as a rule; what it
 * began at another one is given up.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "layers/verbs/verbs_call.h"
#include "layers/verbs/verbs_post.h"

/* What is read of a struct ibv_qp_ex begins with the handle of its queue pair. */
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
	if (b->cnt == b->cap) {
		b->cap = b->cap ? 2 * b->cap : 4;
		b->work = xrealloc(b->work, b->cap * sizeof(*b->work));
	}
	w = &b->work[b->cnt++];
	*w = (struct pov_work){.opcode = c->fn->opcode};
	if (!qp)
		return;
	memcpy(&w->id, qp + WR_ID, sizeof(w->id));
	memcpy(&w->qp, qp + QP_NUM, sizeof(w->qp));
	w->qp_type = qp[QP_TYPE];
	w->flags = qp[WR_FLAGS];
}

/* Bytes in a list of struct ibv_sge or ibv_data_buf, whose lengths are of 4 or 8 bytes. */
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
	struct call_post *post = arena_alloc(&c->d->arena, b->cnt * sizeof(*post));

	for (uint32_t i = 0; i < b->cnt; i++) {
		verbs_post_request(&c->d->conns, c->parts.rec->tgid, b->qp, &b->work[i], false,
				   &c->d->arena, &post[i]);
		post[i].failed = verbs_call_is_failed(c); /* all of them, then */
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
