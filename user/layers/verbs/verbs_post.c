/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * How calls become posts. Each element of a list becomes one; elements that were counted but not
 * kept become posts with little data. Other requests are built by several calls, or are reported by
 * static probes. The tables are those of the library's enums. In a completion with an error, only
 * its id, queue pair and error are valid. Its bytes are valid only if the adapter has written to
 * memory here.
 */
#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "layers/layer.h"
#include "layers/verbs/verbs_call.h"
#include "lib/table.h"

#define CNT(a) (sizeof(a) / sizeof((a)[0]))

#define QPT_UD 4
#define WC_RECV 128 /* opcodes from here on are for received data */
#define WC_RDMA_READ 2

struct opcode {
	const char *name;
	enum post_kind kind;
};

/* enum ibv_wr_opcode */
static const struct opcode requests[] = {
	[0] = {"RDMA_WRITE", POST_WRITE},
	[1] = {"RDMA_WRITE_WITH_IMM", POST_WRITE},
	[2] = {"SEND", POST_SEND},
	[3] = {"SEND_WITH_IMM", POST_SEND},
	[4] = {"RDMA_READ", POST_READ},
	[5] = {"ATOMIC_CMP_AND_SWP", POST_ATOMIC},
	[6] = {"ATOMIC_FETCH_AND_ADD", POST_ATOMIC},
	[7] = {"LOCAL_INV", POST_OTHER},
	[8] = {"BIND_MW", POST_OTHER},
	[9] = {"SEND_WITH_INV", POST_SEND},
	[10] = {"TSO", POST_SEND},
	[11] = {"DRIVER1", POST_OTHER},
	[14] = {"FLUSH", POST_OTHER},
	[15] = {"ATOMIC_WRITE", POST_WRITE},
};

/* enum ibv_wc_opcode */
static const char *const done[] = {
	[0] = "SEND",	      [1] = "RDMA_WRITE", [WC_RDMA_READ] = "RDMA_READ",
	[3] = "COMP_SWAP",    [4] = "FETCH_ADD",  [5] = "BIND_MW",
	[6] = "LOCAL_INV",    [7] = "TSO",	  [8] = "FLUSH",
	[9] = "ATOMIC_WRITE",
};
static const char *const come[] = {
	"RECV",	   "RECV_RDMA_WITH_IMM", "TM_ADD",  "TM_DEL",  "TM_SYNC",
	"TM_RECV", "TM_NO_TAG",		 "DRIVER1", "DRIVER2", "DRIVER3"};

/* enum ibv_wc_status */
static const char *const statuses[] = {
	"SUCCESS",
	"LOC_LEN_ERR",
	"LOC_QP_OP_ERR",
	"LOC_EEC_OP_ERR",
	"LOC_PROT_ERR",
	"WR_FLUSH_ERR",
	"MW_BIND_ERR",
	"BAD_RESP_ERR",
	"LOC_ACCESS_ERR",
	"REM_INV_REQ_ERR",
	"REM_ACCESS_ERR",
	"REM_OP_ERR",
	"RETRY_EXC_ERR",
	"RNR_RETRY_EXC_ERR",
	"LOC_RDD_VIOL_ERR",
	"REM_INV_RD_REQ_ERR",
	"REM_ABORT_ERR",
	"INV_EECN_ERR",
	"INV_EEC_STATE_ERR",
	"FATAL_ERR",
	"RESP_TIMEOUT_ERR",
	"GENERAL_ERR",
	"TM_ERR",
	"TM_RNDV_INCOMPLETE",
};

/* enum ibv_qp_type */
static const struct {
	const char *name, *transport;
} types[] = {
	[2] = {"RC", "rc"},	     [3] = {"UC", "uc"},	[QPT_UD] = {"UD", "ud"},
	[8] = {"RAW_PACKET", "raw"}, [9] = {"XRC_SEND", "xrc"}, [10] = {"XRC_RECV", "xrc"},
};

static const char *name_of(const char *const *names, size_t cnt, uint32_t i)
{
	return i < cnt && names[i] ? names[i] : "unknown";
}

const char *verbs_qp_type_name(uint32_t type)
{
	return type < CNT(types) ? types[type].name : NULL;
}

const char *verbs_qp_state_name(uint32_t state)
{
	static const char *const names[] = {"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"};

	return state < CNT(names) ? names[state] : NULL;
}

/* A datagram's request names its destination itself. */
static void datagram_address(const struct verbs_path *path, const struct pov_work *w,
			     struct arena *arena, struct call_post *out)
{
	char *end = arena_alloc(arena, VERBS_END_TEXT), *local = arena_alloc(arena, VERBS_END_TEXT);

	out->dest = post_text(path->dest);
	verbs_end_text(path->dest, w->remote_qp, end);
	out->remote_end = post_text(end);
	verbs_end_text(path->source, w->qp, local);
	out->local_end = post_text(local);
	if (*path->device)
		out->device = path->device;
}

static void ends_set(const struct verbs_conns *conns, uint32_t pid, uint64_t qp,
		     const struct pov_work *w, bool receives, struct arena *arena,
		     struct call_post *out)
{
	const struct verbs_qp *q = verbs_qp_find(conns, pid, qp);
	const struct verbs_path *path;

	if (q) {
		out->device = post_text(q->path.device);
		out->dest = post_text(q->path.dest);
		out->local_end = post_text(q->local_end);
		out->remote_end = post_text(q->remote_end);
	}
	path = w->qp_type == QPT_UD && !receives ? verbs_ah_find(conns, pid, w->ah) : NULL;
	if (path)
		datagram_address(path, w, arena, out);
}

/*
 * A request that process pid posted to the queue pair at address qp (0: to a shared queue). The
 * texts live as long as the arena's memory.
 */
static void verbs_post_request(const struct verbs_conns *conns, uint32_t pid, uint64_t qp,
			       const struct pov_work *w, bool receives, struct arena *arena,
			       struct call_post *out)
{
	const struct opcode *op = w->opcode < CNT(requests) && requests[w->opcode].name ?
					  &requests[w->opcode] :
					  NULL;

	*out = (struct call_post){
		.kind = receives ? POST_RECV :
			op	 ? op->kind :
				   POST_OTHER,
		.carrier = CARRIER_NIC,
		.op = receives ? "RECV" :
		      op       ? op->name :
				 "unknown",
		.transport = w->qp_type < CNT(types) ? types[w->qp_type].transport : NULL,
		.bytes = w->bytes == POV_WORK_BYTES_UNKNOWN ? BYTES_UNKNOWN : w->bytes,
		.queue = w->qp,
		.id = w->id,
		.has_id = true,
	};
	if (qp)
		ends_set(conns, pid, qp, w, receives, arena, out);
}

/* Compares names: small letters equal capitals, hyphens equal underscores. */
static bool is_same_name(const char *a, const char *b)
{
	while (*a && *b && (*a == '-' ? '_' : toupper((unsigned char)*a)) == *b)
		a++, b++;
	return *a == *b;
}

/* Number of a request's kind by libibverbs' name ("rdma-write"); UINT8_MAX if there is none. */
static uint8_t verbs_post_opcode(const char *name)
{
	for (uint8_t i = 0; i < CNT(requests); i++)
		if (requests[i].name && is_same_name(name, requests[i].name))
			return i;
	return UINT8_MAX;
}

/* Translates a struct ibv_wc. */
static void verbs_post_completion(const uint8_t wc[VERBS_WC_BYTES], struct call_post *out)
{
	struct {
		uint64_t id;
		uint32_t status, opcode, vendor_error, bytes, imm, qp;
	} w;

	memcpy(&w, wc, sizeof(w));
	*out = (struct call_post){
		.kind = POST_COMPLETION,
		.carrier = CARRIER_NIC,
		.bytes = BYTES_UNKNOWN,
		.queue = w.qp,
		.id = w.id,
		.has_id = true,
		.failed = w.status != 0,
	};
	if (w.status) {
		out->op = name_of(statuses, CNT(statuses), w.status);
		return;
	}
	out->op = w.opcode < WC_RECV ? name_of(done, CNT(done), w.opcode) :
				       name_of(come, CNT(come), w.opcode - WC_RECV);
	if (w.opcode >= WC_RECV || w.opcode == WC_RDMA_READ)
		out->bytes = w.bytes;
}

static uint32_t wc_ex_status(const uint8_t wc[VERBS_WC_EX_BYTES])
{
	uint32_t status;

	memcpy(&status, wc, sizeof(status));
	return status;
}

const char *verbs_wc_ex_status(const uint8_t wc[VERBS_WC_EX_BYTES])
{
	return name_of(statuses, CNT(statuses), wc_ex_status(wc));
}

/*
 * The current completion of an extended queue. Its kind and length are unknown, because the program
 * reads them by other calls, if at all. queue: number of the queue pair; 0: unknown.
 */
static void verbs_post_extended(const uint8_t wc[VERBS_WC_EX_BYTES], uint32_t queue,
				struct call_post *out)
{
	*out = (struct call_post){
		.kind = POST_COMPLETION,
		.carrier = CARRIER_NIC,
		.op = wc_ex_status(wc) ? verbs_wc_ex_status(wc) : NULL,
		.bytes = BYTES_UNKNOWN,
		.queue = queue,
		.has_id = true,
		.failed = wc_ex_status(wc) != 0,
	};
	memcpy(&out->id, wc + sizeof(uint32_t), sizeof(out->id));
}

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
		/* of several, those from a reported number on were refused; else it is unknown */
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
