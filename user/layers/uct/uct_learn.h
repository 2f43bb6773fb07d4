/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* What calls of UCT say of interfaces and endpoints: what is read of their arguments, and what it means. */
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

/* Adds what no signature can say. teaches: one of the above, or 0. 0, -E2BIG. */
int uct_learn_recipe(uint32_t teaches, const struct signature *sig, struct pov_fn *fn);
/* Of a call that succeeded. */
void uct_learn(struct uct_conns *s, uint32_t teaches, const struct signature *sig,
	       const struct call_parts *parts);

#endif
