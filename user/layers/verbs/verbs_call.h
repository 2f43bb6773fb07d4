/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A call of verbs while it is decoded, and what its decoder remembers for later calls. Private to
 * user/layers/verbs/verbs*.c; each of these files handles one aspect.
 */
#ifndef POV_LAYERS_VERBS_VERBS_CALL_H
#define POV_LAYERS_VERBS_VERBS_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/event.h"
#include "layers/call_parts.h"
#include "layers/layer.h"
#include "layers/post.h"
#include "layers/verbs/verbs_conn.h"
#include "lib/map.h"

/* Attributes, from FUNC_OWN on: kind of the return value. */
#define RETURNS_VOID 0x100
#define RETURNS_ERRNO 0x200
#define RETURNS_COUNT 0x400
#define RETURNS_POINTER 0x800
/* Attribute: its requests receive data. */
#define RECEIVES 0x1000
/* Attribute: a static probe, not a call. */
#define IS_NOTE 0x2000
/* Attributes: what later calls can learn from it. */
#define TEACHES 0xf0000
#define TEACHES_CONTEXT 0x10000
#define TEACHES_QP 0x20000
#define TEACHES_QP_ATTR 0x30000
#define TEACHES_QP_FREE 0x40000
#define TEACHES_AH 0x50000
#define TEACHES_AH_FREE 0x60000
#define TEACHES_CQ_FREE 0x70000
/* Attributes: its part in a request that is built by calls. These must be the last ones. */
#define TEACHES_START 0x80000
#define TEACHES_REQUEST 0x90000
#define TEACHES_DATA 0xa0000
#define TEACHES_ADDRESS 0xb0000
#define TEACHES_COMPLETE 0xc0000
#define TEACHES_ABORT 0xd0000

#define VERBS_POSTS_MAX 8192 /* posts of one call: only in a damaged file may a list be longer */

struct verbs_func {
	struct signature sig;
	struct func_attrs attrs;
	uint8_t opcode; /* of wr_send and similar functions (verbs_post.c) */
};

struct verbs_decoder {
	struct layer_decoder base;
	struct verbs_conns conns;
	struct map builds; /* tid → struct build (verbs_post.c) */
};

/* A call being decoded. */
struct verbs_call {
	const struct verbs_func *fn;
	struct call_parts parts;
	struct verbs_decoder *d;
	struct call_fields fields; /* sum.cnt: number of requests before the first refused one */
};

/* Data read for the argument with a role, if it has at least `bytes` bytes; or NULL. */
const uint8_t *verbs_call_data(const struct verbs_call *c, const char *role, uint32_t bytes);
/* VERBS_WC_EX_BYTES read of a struct ibv_cq_ex that has a completion for the caller; or NULL. */
const uint8_t *verbs_call_extended(const struct verbs_call *c);
/* True if it returned an error. */
bool verbs_call_is_failed(const struct verbs_call *c);

/* verbs_conn.c: learns about adapters, queue pairs and addresses. */
void verbs_learn(const struct verbs_call *c);
/*
 * verbs_post.c: adds the list of requests passed to the call, or of completions that it
 * returned.
 */
void verbs_list_posts(const struct verbs_call *c, struct call_view *out);
/*
 * Adds the call's part to a request that is built by calls; the last one posts it.
 */
void verbs_build_posts(const struct verbs_call *c, struct call_view *out);
/* Adds the request that a static probe reports. */
void verbs_note_posts(const struct verbs_call *c, struct call_view *out);
uint8_t verbs_build_opcode(const char *func);
void verbs_build_free(void *build); /* a value of the decoder's map */

/*
 * Translates work requests and completions into layers/post.h's terms. Numbers are those of
 * libibverbs' ABI.
 */
#define VERBS_WC_BYTES 48    /* struct ibv_wc */
#define VERBS_WC_EX_BYTES 12 /* status and wr_id of struct ibv_cq_ex */

const char *verbs_wc_ex_status(const uint8_t wc[VERBS_WC_EX_BYTES]);

/* The library's names without their prefixes: "RTS", "UD"; NULL for unknown numbers. */
const char *verbs_qp_type_name(uint32_t type);
const char *verbs_qp_state_name(uint32_t state);

#endif
