/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What is read of the arguments of UCT's calls in order to learn about interfaces and endpoints,
 * and its meaning.
 */
#ifndef POV_LAYERS_UCT_UCT_LEARN_H
#define POV_LAYERS_UCT_UCT_LEARN_H

#include "layers/call_parts.h"
#include "layers/signature.h"
#include "layers/uct/uct_conn.h"

/* Attributes of functions. */
#define TEACHES 0xf00000
#define TEACHES_IFACE 0x100000
#define TEACHES_IFACE_FREE 0x200000
#define TEACHES_IFACE_ADDRESS 0x300000
#define TEACHES_DEVICE_ADDRESS 0x400000
#define TEACHES_EP 0x500000
#define TEACHES_EP_FREE 0x600000
#define TEACHES_EP_ADDRESS 0x700000
#define TEACHES_EP_PEER 0x800000

/* Adds fetches that no signature can express. teaches: one of the above, or 0. 0, -E2BIG. */
int uct_learn_recipe(uint32_t teaches, const struct signature *sig, struct pov_fn *fn);
/* Learns from a call that succeeded. */
void uct_learn(struct uct_conns *s, uint32_t teaches, const struct signature *sig,
	       const struct call_parts *parts);

#endif
