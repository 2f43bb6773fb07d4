/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * An InfiniBand fabric: nodes (switches and adapters), their ports, the links between these, and each switch's linear forwarding
 * table, which says by which port a packet leaves for a destination LID. Built by the readers (read.h); not changed
 * afterwards. Everything refers to everything else by index, so an array may be read alone.
 */
#ifndef POV_FABRIC_FABRIC_H
#define POV_FABRIC_FABRIC_H

#include <stdbool.h>
#include <stdint.h>

#define FABRIC_NONE UINT32_MAX
#define FABRIC_LEVEL_NONE (-1)
#define FABRIC_LIDS 0xc000 /* unicast: LIDs 1 … 0xbfff (InfiniBand 1.4, 4.1.1) */

enum fabric_kind { FABRIC_ADAPTER, FABRIC_SWITCH };

struct fabric_node {
	uint64_t guid;
	char *name; /* its description, "node17 mlx5_0"; owned */
	char *host; /* of an adapter: the first word of name, or what the table of hosts says; owned, or NULL */
	enum fabric_kind kind;
	/* Links to the nearest adapter: 0 for adapters, 1 for switches with adapters, 2 …; FABRIC_LEVEL_NONE: no path to any */
	int level;
	/* A switch's. An adapter may be in several subnets: its ports say which; here that of its first port. */
	uint32_t subnet;
	uint32_t port, nport; /* fabric.port[port … port + nport - 1], by rising number */
	/* A switch's linear forwarding table: lft[lid] is the number of the port out, 0xff: none. Owned, or NULL: not read. */
	uint8_t *lft;
	uint32_t nlft; /* bytes of it */
	uint16_t lid;  /* a switch's own (of its port 0); 0: not known, and for adapters */
};

struct fabric_port {
	uint32_t node;
	uint16_t number; /* on its node, from 1 */
	uint16_t lid;	 /* an adapter's base LID; of a switch's port 0 */
	uint8_t lmc;	 /* 2^lmc LIDs from lid on are this port's */
	uint32_t subnet; /* index of the subnet; subnets have their own LIDs */
	uint32_t link;	 /* or FABRIC_NONE */
	uint32_t far;	 /* the port at the other end of the link, or FABRIC_NONE */
};

/* Direction 0 goes from port[0] to port[1], direction 1 back. */
struct fabric_link {
	uint32_t port[2]; /* port[0] is at the node of lower level; of equal ones, at that of lower index */
	double gbit_per_s; /* data rate of one direction, after coding; 0: not known */
	char speed[16];	   /* "4xEDR", as read; or "" */
};

struct fabric {
	struct fabric_node *node;
	uint32_t nnode;
	struct fabric_port *port;
	uint32_t nport;
	struct fabric_link *link;
	uint32_t nlink;
	uint32_t *by_lid; /* an adapter's port, or FABRIC_NONE: [subnet * FABRIC_LIDS + lid]; owned */
	uint32_t nsubnet;
	char **subnet; /* a name of each: the file that it is from, or "1", "2"; owned */
	int levels;    /* highest level + 1 */
};

static inline const struct fabric_node *fabric_port_node(const struct fabric *f, uint32_t port)
{
	return &f->node[f->port[port].node];
}

/* 0 if the link's traffic that leaves port goes in direction 0, else 1. */
static inline int fabric_direction(const struct fabric *f, uint32_t port)
{
	return f->link[f->port[port].link].port[0] == port ? 0 : 1;
}

/* The adapter port (or, of a switch's own LID, FABRIC_NONE) that a LID of a subnet belongs to. */
uint32_t fabric_port_by_lid(const struct fabric *f, uint32_t subnet, uint16_t lid);
/* FABRIC_NONE if there is none. */
uint32_t fabric_node_by_guid(const struct fabric *f, uint64_t guid);
void fabric_release(struct fabric *f);

#endif
