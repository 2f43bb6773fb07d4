/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A call of verbs while it is decoded, and what its decoder keeps for the next ones. Private to user/layers/verbs/verbs*.c, each of
 * which makes one thing of it.
 */
#ifndef POV_LAYERS_VERBS_VERBS_CALL_H
#define POV_LAYERS_VERBS_VERBS_CALL_H

#include "abi/event.h"
#include "lib/map.h"
#include "layers/arena.h"
#include "layers/call_fields.h"
#include "layers/layer.h"
#include "layers/verbs/verbs_conn.h"

/* What a function returns; FUNC_OWN and up. */
#define RETURNS_VOID 0x100
#define RETURNS_ERRNO 0x200
#define RETURNS_COUNT 0x400
#define RETURNS_POINTER 0x800
/* What it posts receives. */
#define RECEIVES 0x1000
/* A static probe, and no call. */
#define IS_NOTE 0x2000
/* What a call teaches for others. */
#define TEACHES 0xf0000
#define TEACHES_CONTEXT 0x10000
#define TEACHES_QP 0x20000
#define TEACHES_QP_ATTR 0x30000
#define TEACHES_QP_FREE 0x40000
#define TEACHES_AH 0x50000
#define TEACHES_AH_FREE 0x60000
#define TEACHES_CQ_FREE 0x70000
/* … of a request that is built by calls: these are the last ones */
#define TEACHES_START 0x80000
#define TEACHES_REQUEST 0x90000
#define TEACHES_DATA 0xa0000
#define TEACHES_ADDRESS 0xb0000
#define TEACHES_COMPLETE 0xc0000
#define TEACHES_ABORT 0xd0000

#define VERBS_POSTS_MAX 8192 /* of one call: no list is longer, but a damaged file may say so */

struct verbs_func {
	struct signature sig;
	struct func_attrs attrs;
	uint8_t opcode; /* of wr_send and its like (verbs_build.c) */
};

struct layer_decoder {
	struct arena arena; /* what the current view points to */
	struct continuations more;
	struct verbs_conns conns;
	struct map builds; /* thread → struct build (verbs_build.c) */
};

/* A call while it is decoded. */
struct verbs_call {
	const struct verbs_func *fn;
	struct call_parts parts;
	struct layer_decoder *d;
	struct call_fields fields; /* sum.cnt: requests before the first one that was refused */
	uint64_t begin_ns;
};

/* Takes the record apart, joining continuation records. False if it is no call at all. */
bool verbs_call_open(struct verbs_call *c, const struct func_info *info, const struct pov_call *rec,
		     struct layer_decoder *d);
/* What was read of the argument with a role, if it is so long; or NULL. */
const uint8_t *verbs_call_data(const struct verbs_call *c, const char *role, uint32_t bytes);
/* What was read of a struct ibv_cq_ex that has a completion for the caller, VERBS_WC_EX_BYTES; or NULL. */
const uint8_t *verbs_call_extended(const struct verbs_call *c);
/* It returned, and that with an error. */
bool verbs_call_is_failed(const struct verbs_call *c);

/* verbs_learn.c: what it says of adapters, queue pairs and addresses. */
void verbs_learn(const struct verbs_call *c);
/* verbs_list.c: the list of requests, or of completions, that it was given or gave. */
void verbs_list_posts(const struct verbs_call *c, struct call_view *out);
/* verbs_build.c: of a request that is built by calls, its part; the last one posts. */
void verbs_build_posts(const struct verbs_call *c, struct call_view *out);
/* verbs_note.c: of a static probe, the request that it tells of. */
void verbs_note_posts(const struct verbs_call *c, struct call_view *out);
uint8_t verbs_build_opcode(const char *func);
void verbs_build_free(void *build); /* a value of the decoder's map */

#endif
