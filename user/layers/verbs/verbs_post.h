/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Work requests and completions in the terms of layers/post.h. What the numbers mean is the ABI of libibverbs. */
#ifndef POV_LAYERS_VERBS_VERBS_POST_H
#define POV_LAYERS_VERBS_VERBS_POST_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/event.h"
#include "layers/arena.h"
#include "layers/post.h"
#include "layers/verbs/verbs_conn.h"

#define VERBS_WC_BYTES 48    /* struct ibv_wc */
#define VERBS_WC_EX_BYTES 12 /* of struct ibv_cq_ex, status and wr_id */

/* A request that process pid posted to the queue pair at address qp (0: to a shared queue). The texts live as long as the arena's. */
void verbs_post_request(const struct verbs_conns *conns, uint32_t pid, uint64_t qp,
			const struct pov_work *w, bool receives, struct arena *arena,
			struct call_post *out);
/* The number of a kind of request by its name, as libibverbs writes it ("rdma-write"); UINT8_MAX if it has none. */
uint8_t verbs_post_opcode(const char *name);
/* A struct ibv_wc. */
void verbs_post_completion(const uint8_t wc[VERBS_WC_BYTES], struct call_post *out);

/*
 * The completion that an extended queue is at. Of what kind it is and how long, the program may ask for by other calls, or know itself.
 * queue: number of the queue pair; 0: not known.
 */
void verbs_post_extended(const uint8_t wc[VERBS_WC_EX_BYTES], uint32_t queue,
			 struct call_post *out);
const char *verbs_wc_ex_status(const uint8_t wc[VERBS_WC_EX_BYTES]);

/* Names of the library without its prefixes: "RTS", "UD"; NULL for numbers that it does not have. */
const char *verbs_qp_type_name(uint32_t type);
const char *verbs_qp_state_name(uint32_t state);

#endif
