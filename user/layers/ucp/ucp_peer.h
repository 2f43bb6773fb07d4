/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The process at the other end of UCP's endpoints. The address to which an endpoint connects
 * identifies a worker; the worker gets the same address for itself. Objects are identified by their
 * addresses in the process's memory. Connections made before the recording began, or by a listener,
 * are unknown, and never guessed.
 */
#ifndef POV_LAYERS_UCP_UCP_PEER_H
#define POV_LAYERS_UCP_UCP_PEER_H

#include "lib/map.h"
#include "layers/call_parts.h"
#include "layers/signature.h"

/* Attributes of functions: makes an endpoint; reveals a worker's own address. */
#define LEARNS_EP 0x200000
#define LEARNS_ADDRESS 0x400000

#define UCP_WORKER_TEXT 32

struct ucp_worker {
	char end[UCP_WORKER_TEXT]; /* "worker 0x1f00…" */
};

struct ucp_ep {
	uint64_t worker;
	char remote_end[UCP_WORKER_TEXT]; /* "": unknown */
};

struct ucp_peers {
	struct map processes; /* pid → struct process */
};

void ucp_peers_release(struct ucp_peers *s);

/* Adds fetches that no signature can express. flags: the function's attributes. 0, -E2BIG. */
int ucp_learn_recipe(uint32_t flags, const struct signature *sig, struct pov_fn *fn);
/* Learns from a call that succeeded. */
void ucp_learn(struct ucp_peers *s, uint32_t flags, const struct call_parts *parts);

/* NULL if unknown. */
const struct ucp_worker *ucp_worker_find(const struct ucp_peers *s, uint32_t pid, uint64_t worker);
const struct ucp_ep *ucp_ep_find(const struct ucp_peers *s, uint32_t pid, uint64_t ep);

#endif
