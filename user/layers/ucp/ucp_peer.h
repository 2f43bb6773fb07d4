/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Which process UCP's endpoints lead to: the address by which a worker is connected to names the worker, the same as the one that the
 * worker itself was told. All is known by the addresses of a process's objects; what was connected before the recording began, or by a
 * listener, is not known, and never guessed.
 */
#ifndef POV_LAYERS_UCP_UCP_PEER_H
#define POV_LAYERS_UCP_UCP_PEER_H

#include "lib/map.h"
#include "layers/call_parts.h"
#include "layers/signature.h"

/* Attributes of functions: it makes an endpoint; it tells a worker's own address. */
#define LEARNS_EP 0x200000
#define LEARNS_ADDRESS 0x400000

#define UCP_WORKER_TEXT 32

struct ucp_worker {
	char end[UCP_WORKER_TEXT]; /* "worker 0x1f00…" */
};

struct ucp_ep {
	uint64_t worker;
	char remote_end[UCP_WORKER_TEXT]; /* "": not known */
};

struct ucp_peers {
	struct map processes; /* pid → struct process */
};

void ucp_peers_release(struct ucp_peers *s);

/* Adds what no signature can say. flags: the function's attributes. 0, -E2BIG. */
int ucp_learn_recipe(uint32_t flags, const struct signature *sig, struct pov_fn *fn);
/* Of a call that succeeded. */
void ucp_learn(struct ucp_peers *s, uint32_t flags, const struct signature *sig,
	       const struct call_parts *parts);

/* NULL if it is not known. */
const struct ucp_worker *ucp_worker_find(const struct ucp_peers *s, uint32_t pid, uint64_t worker);
const struct ucp_ep *ucp_ep_find(const struct ucp_peers *s, uint32_t pid, uint64_t ep);

#endif
