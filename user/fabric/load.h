/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What flows of traffic put on the links of a fabric. A flow goes from an adapter's port to a destination LID, in a context (a collective,
 * a phase); along its path (route.h) its bytes are added to each link, in the direction that it takes there (Brown et al.
 * 2014, section 3.4). Sums only: no time, so links are not said to be busy at once.
 */
#ifndef POV_FABRIC_LOAD_H
#define POV_FABRIC_LOAD_H

#include "fabric/fabric.h"

struct fabric_flow {
	uint32_t from, to; /* ports of adapters */
	uint16_t lid;	   /* destination, in from's subnet: to's base LID or one of its 2^lmc */
	uint32_t context;  /* index of load.context */
	uint64_t bytes, messages;
};

/* Of one direction of one link. */
struct fabric_half {
	uint64_t bytes;
	uint32_t flows; /* pairs of port and LID with bytes that pass here */
};

struct fabric_left_out {
	uint64_t bytes;
	uint32_t flows; /* of "outside": rows of the input */
};

struct fabric_load {
	const struct fabric *fabric;
	struct fabric_flow *
		flow; /* each pair of ends once in each context; those of a context, together, by rising port; owned */
	uint32_t nflow, room;
	char **context; /* names; the first, "all", is the sum of the others; owned */
	uint32_t ncontext;
	struct fabric_half *half; /* see fabric_load_half; owned */
	/* Left out, and counted: flows that have no path to their end; within one adapter; with an end that is not of the fabric. */
	struct fabric_left_out unrouted, local, outside;
	uint64_t unknown_messages; /* carried by adapters; how many bytes these had is not known */
};

static inline const struct fabric_half *
fabric_load_half(const struct fabric_load *l, uint32_t context, uint32_t link, int direction)
{
	return &l->half[((uint64_t)context * l->fabric->nlink + link) * 2 + (uint32_t)direction];
}

/* load.c: begin, tell of contexts and flows, finish: routes them all. */
void fabric_load_begin(struct fabric_load *l, const struct fabric *f);
/* The index of the context of this name, which is made if there is none. */
uint32_t fabric_load_context(struct fabric_load *l, const char *name);
void fabric_load_flow(struct fabric_load *l, const struct fabric_flow *flow);
void fabric_load_finish(struct fabric_load *l);
void fabric_load_release(struct fabric_load *l);

#endif
