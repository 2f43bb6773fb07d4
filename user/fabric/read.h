/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Reads files that describe a fabric: ibnetdiscover's output, one file per subnet, and linear
 * forwarding tables as printed by dump_fts, ibroute and opensm (opensm-lfts.dump). Errors are
 * printed with file and line.
 *
 * A fabric is built from what files contain, in any order: nodes, and ports with their links. A
 * port may be described at either end of its link, or at both.
 */
#ifndef POV_FABRIC_READ_H
#define POV_FABRIC_READ_H

#include "lib/map.h"
#include "fabric/fabric.h"

#include <stddef.h>
#include <stdio.h>

/* One end of a link as a file describes it. */
struct fabric_end {
	uint64_t guid, far_guid; /* of nodes */
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
	const char *wanted;	       /* what the file should be; NULL: messages say it */
};
/* 0, -EBADMSG or -EIO (printed). */
int fabric_lines_read(const struct fabric_lines *l, void *ctx, FILE *in, const char *name);

#endif
