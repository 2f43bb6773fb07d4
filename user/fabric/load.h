/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Load of the links of a fabric caused by flows of traffic. A flow goes from an adapter's port to a
 * destination LID, in a context (a collective, a phase). Its bytes are added to each link along its
 * path (route.h), in the direction it takes there (Brown et al. 2014, section 3.4). Loads are sums
 * without time, so they do not show which links are busy simultaneously.
 */
#ifndef POV_FABRIC_LOAD_H
#define POV_FABRIC_LOAD_H

#include "fabric/fabric.h"

struct fabric_flow {
	uint32_t from, to; /* ports of adapters */
	uint16_t lid;	   /* destination in from's subnet: to's base LID or one of its 2^lmc */
	uint32_t context;  /* index of load.context */
	uint64_t bytes, messages;
};

/* One direction of one link. */
struct fabric_half {
	uint64_t bytes;
	uint32_t flows; /* pairs of port and LID with bytes that pass here */
};

struct fabric_left_out {
	uint64_t bytes;
	uint32_t flows; /* for `outside`: rows of the input */
};

struct fabric_load {
	const struct fabric *fabric;
	/* Each pair of ends once per context; grouped by context, sorted by port; owned. */
	struct fabric_flow *flow;
	uint32_t nflow, room;
	char **context; /* names; the first, "all", is the sum of the others; owned */
	uint32_t ncontext;
	struct fabric_half *half; /* see fabric_load_half(); owned */
	/*
	 * Left out, but counted: flows without a path to their end, flows within one adapter, flows
	 * with an end outside the fabric.
	 */
	struct fabric_left_out unrouted, local, outside;
	uint64_t unknown_messages; /* messages carried by adapters whose size is unknown */
};

static inline const struct fabric_half *
fabric_load_half(const struct fabric_load *l, uint32_t context, uint32_t link, int direction)
{
	return &l->half[((uint64_t)context * l->fabric->nlink + link) * 2 + (uint32_t)direction];
}

/* Call begin, add contexts and flows, then finish, which routes all flows. */
void fabric_load_begin(struct fabric_load *l, const struct fabric *f);
/* Index of the context with this name; made if there is none. */
uint32_t fabric_load_context(struct fabric_load *l, const char *name);
void fabric_load_flow(struct fabric_load *l, const struct fabric_flow *flow);
void fabric_load_finish(struct fabric_load *l);
void fabric_load_release(struct fabric_load *l);

#endif
