/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The way of a packet through a fabric: out of an adapter's port, then by each switch's linear forwarding table until the adapter that
 * has the destination LID (InfiniBand 1.4, 14.2.5; as ibtracert walks it).
 */
#ifndef POV_FABRIC_ROUTE_H
#define POV_FABRIC_ROUTE_H

#include "fabric/fabric.h"

#define FABRIC_HOPS_MAX 64 /* InfiniBand's directed routes end here, too */

enum fabric_route_end {
	ROUTE_ARRIVED,
	ROUTE_NO_LINK,	/* a port out that is not linked */
	ROUTE_NO_TABLE, /* a switch whose table was not read */
	ROUTE_NO_ENTRY, /* a table without that LID */
	ROUTE_LOOP,	/* more than FABRIC_HOPS_MAX links */
	ROUTE_ASTRAY,	/* an adapter that does not have the LID */
};

struct fabric_route {
	uint32_t out[FABRIC_HOPS_MAX]; /* the ports out, in order: each with its link and direction */
	uint32_t n;
	enum fabric_route_end end;
	uint32_t at; /* the node where it ended */
};

/* From an adapter's port to a LID of its subnet. */
void fabric_route_find(const struct fabric *f, uint32_t from, uint16_t lid,
		       struct fabric_route *out);
/* "arrived", "the table has no entry" … */
const char *fabric_route_text(enum fabric_route_end end);

#endif
