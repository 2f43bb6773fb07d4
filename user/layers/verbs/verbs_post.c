/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Tables of the library's enums, and offsets in a struct ibv_wc. In a completion with an error,
 * only its id, queue pair and error are valid. Its bytes are valid only if the adapter has written
 * to memory here.
 */
#include "layers/verbs/verbs_call.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

#include "layers/layer.h"

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

void verbs_post_request(const struct verbs_conns *conns, uint32_t pid, uint64_t qp,
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

uint8_t verbs_post_opcode(const char *name)
{
	for (uint8_t i = 0; i < CNT(requests); i++)
		if (requests[i].name && is_same_name(name, requests[i].name))
			return i;
	return UINT8_MAX;
}

void verbs_post_completion(const uint8_t wc[VERBS_WC_BYTES], struct call_post *out)
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

void verbs_post_extended(const uint8_t wc[VERBS_WC_EX_BYTES], uint32_t queue, struct call_post *out)
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
