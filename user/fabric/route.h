/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The path of a packet through a fabric: out of an adapter's port, then along each switch's linear
 * forwarding table, until the adapter that owns the destination LID (InfiniBand 1.4, 14.2.5;
 * ibtracert does the same).
 */
#ifndef POV_FABRIC_ROUTE_H
#define POV_FABRIC_ROUTE_H

#include "fabric/fabric.h"

#define FABRIC_HOPS_MAX 64 /* also the limit of InfiniBand's directed routes */

enum fabric_route_end {
	ROUTE_ARRIVED,
	ROUTE_NO_LINK,	/* the output port has no link */
	ROUTE_NO_TABLE, /* the table of a switch was not read */
	ROUTE_NO_ENTRY, /* a table has no entry for the LID */
	ROUTE_LOOP,	/* more than FABRIC_HOPS_MAX links */
	ROUTE_ASTRAY,	/* reached an adapter that does not own the LID */
};

struct fabric_route {
	uint32_t out[FABRIC_HOPS_MAX]; /* output ports in order; each gives a link and direction */
	uint32_t n;
	enum fabric_route_end end;
	uint32_t at; /* node where it ended */
};

/* Finds the path from an adapter's port to a LID of its subnet. */
void fabric_route_find(const struct fabric *f, uint32_t from, uint16_t lid,
		       struct fabric_route *out);
/* "arrived", "the table has no entry", … */
const char *fabric_route_text(enum fabric_route_end end);

#endif
