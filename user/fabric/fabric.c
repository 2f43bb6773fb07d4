/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Looks up ports by LID and nodes by GUID. Only look-ups by LID are frequent. Finds paths by
 * following forwarding tables from switch to switch.
 */
#include "fabric/fabric.h"

#include <stdlib.h>
#include <string.h>

uint32_t fabric_port_by_lid(const struct fabric *f, uint32_t subnet, uint16_t lid)
{
	return lid < FABRIC_LIDS ? f->by_lid[(size_t)subnet * FABRIC_LIDS + lid] : FABRIC_NONE;
}

uint32_t fabric_node_by_guid(const struct fabric *f, uint64_t guid)
{
	uint32_t i;

	for (i = 0; i < f->nnode; i++) {
		if (f->node[i].guid == guid)
			return i;
	}
	return FABRIC_NONE;
}

void fabric_release(struct fabric *f)
{
	uint32_t i;

	for (i = 0; i < f->nnode; i++) {
		free(f->node[i].name);
		free(f->node[i].host);
		free(f->node[i].lft);
	}
	for (i = 0; i < f->nsubnet; i++)
		free(f->subnet[i]);
	free(f->node);
	free(f->port);
	free(f->link);
	free(f->by_lid);
	free(f->subnet);
	*f = (struct fabric){0};
}

/* ---- paths ---- */

static bool lid_is_of(const struct fabric_port *p, uint16_t lid)
{
	return p->lid && lid >= p->lid && lid - p->lid < 1 << p->lmc;
}

/* The port with this number. A node's ports are sorted by number. */
static uint32_t port_numbered(const struct fabric *f, const struct fabric_node *n, uint8_t number)
{
	uint32_t low = n->port, high = n->port + n->nport;

	while (low < high) {
		uint32_t mid = (low + high) / 2;

		if (f->port[mid].number == number)
			return mid;
		if (f->port[mid].number < number)
			low = mid + 1;
		else
			high = mid;
	}
	return FABRIC_NONE;
}

/* The port through which a switch forwards this LID. */
static enum fabric_route_end switch_out(const struct fabric *f, const struct fabric_node *n,
					uint16_t lid, uint32_t *out)
{
	uint8_t number;

	if (!n->lft)
		return ROUTE_NO_TABLE;
	number = lid < n->nlft ? n->lft[lid] : 0xff;
	if (number == 0xff)
		return ROUTE_NO_ENTRY;
	if (number == 0)
		return n->lid == lid ? ROUTE_ARRIVED : ROUTE_ASTRAY;
	*out = port_numbered(f, n, number);
	return *out == FABRIC_NONE ? ROUTE_NO_LINK : ROUTE_ARRIVED;
}

void fabric_route_find(const struct fabric *f, uint32_t from, uint16_t lid,
		       struct fabric_route *out)
{
	uint32_t port = from;

	out->n = 0;
	out->at = f->port[from].node;
	if (lid_is_of(&f->port[from], lid)) {
		out->end = ROUTE_ARRIVED;
		return;
	}
	for (;;) {
		uint32_t in = f->port[port].far;
		const struct fabric_node *n;

		out->end = ROUTE_NO_LINK;
		if (f->port[port].link == FABRIC_NONE)
			return;
		out->end = ROUTE_LOOP;
		if (out->n == FABRIC_HOPS_MAX)
			return;
		out->out[out->n++] = port;
		out->at = f->port[in].node;
		n = &f->node[out->at];
		if (n->kind == FABRIC_ADAPTER) {
			out->end = lid_is_of(&f->port[in], lid) ? ROUTE_ARRIVED : ROUTE_ASTRAY;
			return;
		}
		port = FABRIC_NONE;
		out->end = switch_out(f, n, lid, &port);
		if (port == FABRIC_NONE)
			return;
	}
}

const char *fabric_route_text(enum fabric_route_end end)
{
	static const char *const text[] = {
		[ROUTE_ARRIVED] = "arrived",
		[ROUTE_NO_LINK] = "the output port has no link",
		[ROUTE_NO_TABLE] = "this switch's forwarding table was not read",
		[ROUTE_NO_ENTRY] = "its forwarding table has no entry for this LID",
		[ROUTE_LOOP] = "a loop: more than 64 links",
		[ROUTE_ASTRAY] = "this node does not have the LID",
	};

	return text[end];
}
