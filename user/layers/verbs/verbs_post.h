/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Translates work requests and completions into layers/post.h's terms. Numbers are those of
 * libibverbs' ABI.
 */
#ifndef POV_LAYERS_VERBS_VERBS_POST_H
#define POV_LAYERS_VERBS_VERBS_POST_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/event.h"
#include "layers/arena.h"
#include "layers/post.h"
#include "layers/verbs/verbs_conn.h"

#define VERBS_WC_BYTES 48    /* struct ibv_wc */
#define VERBS_WC_EX_BYTES 12 /* status and wr_id of struct ibv_cq_ex */

/*
 * A request that process pid posted to the queue pair at address qp (0: to a shared queue). The
 * texts live as long as the arena's memory.
 */
void verbs_post_request(const struct verbs_conns *conns, uint32_t pid, uint64_t qp,
			const struct pov_work *w, bool receives, struct arena *arena,
			struct call_post *out);
/* Number of a request's kind by libibverbs' name ("rdma-write"); UINT8_MAX if there is none. */
uint8_t verbs_post_opcode(const char *name);
/* Translates a struct ibv_wc. */
void verbs_post_completion(const uint8_t wc[VERBS_WC_BYTES], struct call_post *out);

/*
 * The completion at which an extended queue stands. Its kind and length are unknown here: the
 * program asks for them by other calls, or knows them. queue: number of the queue pair; 0: unknown.
 */
void verbs_post_extended(const uint8_t wc[VERBS_WC_EX_BYTES], uint32_t queue,
			 struct call_post *out);
const char *verbs_wc_ex_status(const uint8_t wc[VERBS_WC_EX_BYTES]);

/* The library's names without their prefixes: "RTS", "UD"; NULL for unknown numbers. */
const char *verbs_qp_type_name(uint32_t type);
const char *verbs_qp_state_name(uint32_t state);

#endif
