/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Load of the links of a fabric caused by flows of traffic. A flow goes from an adapter's port to a
 * destination LID, in a context (a collective, a phase). Its bytes are added to each link along its
 * path, in the direction it takes there (Brown et al. 2014, section 3.4). Loads are sums
 * without time, so they do not show which links are busy simultaneously.
 */
#ifndef POV_FABRIC_LOAD_H
#define POV_FABRIC_LOAD_H

#include "fabric/fabric.h"

#include <stdio.h>

struct fabric_flow {
	uint32_t from, to; /* ports of adapters */
	uint16_t lid;	   /* destination in from's subnet: to's base LID or one of its 2^lmc */
	uint32_t context;  /* index of load.context */
	uint64_t bytes, messages;
};

/* One direction of one link. */
struct fabric_half {
	uint64_t bytes;
	uint32_t flows; /* flows (pairs of a port and a LID) that pass here with bytes */
};

struct fabric_left_out {
	uint64_t bytes;
	uint32_t flows; /* for `outside`: rows of the input */
};

struct fabric_load {
	const struct fabric *fabric;
	/* Each pair of ends once per context; grouped by context, sorted by port; owned. */
	struct fabric_flow *flow;
	uint32_t nflow;
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

/*
 * Tables about a load: the hottest half links, how evenly the links of a level are used, and where
 * flows of one context meet. A half link is a link in one direction.
 */

struct fabric_hot {
	uint32_t link;
	int direction;
	struct fabric_half sum;
};

/* All half links between the same two levels of a subnet, in one direction. */
struct fabric_level {
	uint32_t subnet;
	int from, to; /* levels */
	uint32_t links, used;
	uint64_t bytes;		       /* sum over all links */
	uint64_t max_bytes, min_bytes; /* most and least loaded one, including unused ones */
};

/* Half links between switches in one context. At adapters, all flows of a port meet anyway. */
struct fabric_conflicts {
	uint32_t used, shared; /* number of half links with a flow; with more than one */
	uint32_t most;	       /* most flows on one half link */
};

/*
 * Half links with bytes, the most loaded first. by_flows: those between switches with flows, by
 * number of flows. The caller frees it.
 */
struct fabric_hot *fabric_hottest(const struct fabric_load *l, uint32_t context, bool by_flows,
				  uint32_t *n);
/* Sorted by subnet, from and to. The caller frees it. */
struct fabric_level *fabric_levels(const struct fabric_load *l, uint32_t context, uint32_t *n);
/* Bytes and number of a context's flows that have a path. */
uint64_t fabric_flows_sum(const struct fabric_load *l, uint32_t context, uint32_t *flows);
struct fabric_conflicts fabric_conflicts_of(const struct fabric_load *l, uint32_t context);

/*
 * Options of the printers. top: number of rows of long tables, 0: all. only: a context, or
 * FABRIC_NONE: all. The printers return 0, or -EIO (not printed).
 */
struct fabric_shown {
	uint32_t top, only;
};
int fabric_print_text(const struct fabric_load *l, const struct fabric_shown *how, FILE *out);
int fabric_print_json(const struct fabric_load *l, const struct fabric_shown *how, FILE *out);
int fabric_print_csv(const struct fabric_load *l, const struct fabric_shown *how, FILE *out);

#endif
