/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * An InfiniBand fabric: nodes (switches and adapters), their ports, the links between these, and
 * each switch's linear forwarding table, which gives the output port for each destination LID.
 * Built by the readers (read.c) and not changed afterwards. All references are indices, so any
 * array can be read alone.
 */
#ifndef POV_FABRIC_FABRIC_H
#define POV_FABRIC_FABRIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "lib/map.h"

#define FABRIC_NONE UINT32_MAX
#define FABRIC_LEVEL_NONE (-1)
#define FABRIC_LIDS 0xc000 /* unicast: LIDs 1 … 0xbfff (InfiniBand 1.4, 4.1.1) */

enum fabric_kind { FABRIC_ADAPTER, FABRIC_SWITCH };

struct fabric_node {
	uint64_t guid;
	char *name; /* its description, "node17 mlx5_0"; owned */
	/* Adapters: first word of name, or the entry of the table of hosts; owned, or NULL. */
	char *host;
	enum fabric_kind kind;
	/*
	 * Links to the nearest adapter: 0 for adapters, 1 for switches with adapters, 2, …
	 * FABRIC_LEVEL_NONE: no path.
	 */
	int level;
	/*
	 * Subnet of a switch. An adapter may be in several subnets, given by its ports; this is
	 * that of its first port.
	 */
	uint32_t subnet;
	/* fabric.port[port … port + nport - 1], in ascending order of number */
	uint32_t port, nport;
	/*
	 * A switch's linear forwarding table: lft[lid] is the output port, 0xff: none. Owned; NULL:
	 * not read.
	 */
	uint8_t *lft;
	uint32_t nlft; /* bytes in lft */
	uint16_t lid;  /* a switch's own LID (of its port 0); 0: unknown, or an adapter */
};

struct fabric_port {
	uint32_t node;
	uint16_t number; /* on its node, from 1 */
	uint16_t lid;	 /* an adapter's base LID; or that of a switch's port 0 */
	uint8_t lmc;	 /* the port owns 2^lmc LIDs from lid on */
	uint32_t subnet; /* index of the subnet; each subnet has its own LIDs */
	uint32_t link;	 /* or FABRIC_NONE */
	uint32_t far;	 /* port at the other end of the link, or FABRIC_NONE */
};

/* Direction 0 goes from port[0] to port[1], direction 1 back. */
struct fabric_link {
	uint32_t port[2];  /* port[0]: node of lower level; if equal, of lower index */
	double gbit_per_s; /* data rate in one direction, after coding; 0: unknown */
	char speed[16];	   /* "4xEDR", as read; or "" */
};

struct fabric {
	struct fabric_node *node;
	uint32_t nnode;
	struct fabric_port *port;
	uint32_t nport;
	struct fabric_link *link;
	uint32_t nlink;
	/* port of an adapter by [subnet * FABRIC_LIDS + lid], or FABRIC_NONE; owned */
	uint32_t *by_lid;
	uint32_t nsubnet;
	char **subnet; /* names: the source file of each subnet, or "1", "2"; owned */
	int levels;    /* highest level + 1 */
};

static inline const struct fabric_node *fabric_port_node(const struct fabric *f, uint32_t port)
{
	return &f->node[f->port[port].node];
}

/* 0 if traffic leaving through this port goes in direction 0, else 1. */
static inline int fabric_direction(const struct fabric *f, uint32_t port)
{
	return f->link[f->port[port].link].port[0] == port ? 0 : 1;
}

/* The adapter port that owns a LID of a subnet; FABRIC_NONE for a switch's own LID. */
uint32_t fabric_port_by_lid(const struct fabric *f, uint32_t subnet, uint16_t lid);
/* FABRIC_NONE: not found. */
uint32_t fabric_node_by_guid(const struct fabric *f, uint64_t guid);
void fabric_release(struct fabric *f);

/*
 * The path of a packet through a fabric: out of an adapter's port, then along each switch's linear
 * forwarding table, until the adapter that owns the destination LID (InfiniBand 1.4, 14.2.5;
 * ibtracert does the same).
 */

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

/*
 * ---- reading (read.c) ----
 *
 * Files that describe a fabric: ibnetdiscover's output, one file per subnet, and linear forwarding
 * tables as printed by dump_fts, ibroute and opensm (opensm-lfts.dump). Errors are printed with
 * file and line.
 *
 * A fabric is built from what files contain, in any order: nodes, and ports with their links. A
 * port may be described at either end of its link, or at both.
 */

/* One end of a link as a file describes it. */
struct fabric_end {
	uint64_t guid, far_guid; /* of the node and of the node at the other end */
	uint16_t number, far_number;
	uint16_t lid; /* an adapter's; 0: not given here */
	uint8_t lmc;
	bool mirrored; /* not described itself: derived from the other end */
	uint32_t subnet;
	char speed[16];
};

struct fabric_build {
	struct fabric f;
	struct map by_guid; /* GUID -> 1 + index of node */
	struct fabric_end *end;
	uint32_t nend;
};

/* Adds a subnet and copies its name. Returns its index. */
uint32_t fabric_build_subnet(struct fabric_build *b, const char *name);
/*
 * Adds a node and copies its name. An adapter may occur in several subnets. A switch may occur only
 * once, and a GUID must not be both: -EEXIST. *out is valid until the next call.
 */
int fabric_build_node(struct fabric_build *b, enum fabric_kind kind, uint64_t guid,
		      const char *name, size_t len, uint32_t subnet, struct fabric_node **out);
void fabric_build_end(struct fabric_build *b, const struct fabric_end *end);
/*
 * Makes ports, links and levels, and returns the fabric. 0, or -EBADMSG (printed). Releases b in
 * either case.
 */
int fabric_build_finish(struct fabric_build *b, struct fabric *out);
void fabric_build_release(struct fabric_build *b);

/* Adds a subnet called name. 0; -EBADMSG: not ibnetdiscover's output, or damaged; -EIO. */
int fabric_read_topology(struct fabric_build *b, FILE *in, const char *name);
/*
 * Reads the tables of any number of switches of f. If a switch occurs again, the last table counts.
 * The same errors.
 */
int fabric_read_tables(struct fabric *f, FILE *in, const char *name);

/*
 * Reads a file by lines. Both functions return NULL, or what is wrong, which is printed with file
 * and line.
 */
struct fabric_lines {
	const char *(*line)(void *ctx, char *line);
	const char *(*end)(void *ctx); /* after the last line; NULL: nothing to check */
	/* what kind of file is expected, for messages; NULL: they contain it */
	const char *wanted;
};
/* Returns 0, -EBADMSG or -EIO (printed). */
int fabric_lines_read(const struct fabric_lines *l, void *ctx, FILE *in, const char *name);

#endif
