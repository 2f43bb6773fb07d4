/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Putting a fabric together from what files say of it, in any order: nodes, and ports with whom they are linked to. A port may be told by
 * either end of its link, or by both.
 */
#ifndef POV_FABRIC_BUILD_H
#define POV_FABRIC_BUILD_H

#include "lib/map.h"
#include "fabric/fabric.h"

#include <stddef.h>

/* One end of a link, as a file tells it. */
struct fabric_end {
	uint64_t guid, far_guid; /* of nodes */
	uint16_t number, far_number;
	uint16_t lid; /* an adapter's; 0: not told here */
	uint8_t lmc;
	bool mirrored; /* not told itself: the other end told of it */
	uint32_t subnet;
	char speed[16];
};

struct fabric_build {
	struct fabric f;
	struct map by_guid; /* GUID -> 1 + index of node */
	struct fabric_end *end;
	size_t nend, room;
};

/* The name of a new subnet, copied; returns its index. */
uint32_t fabric_build_subnet(struct fabric_build *b, const char *name);
/*
 * A node; its name is copied. An adapter may be told of in several subnets; a switch, or one GUID of both kinds, only once: -EEXIST.
 * out: valid until the next call.
 */
int fabric_build_node(struct fabric_build *b, enum fabric_kind kind, uint64_t guid,
		      const char *name, size_t len, uint32_t subnet, struct fabric_node **out);
void fabric_build_end(struct fabric_build *b, const struct fabric_end *end);
/* Makes ports, links and levels, and hands the fabric out. 0, or -EBADMSG (printed). In either case b is released. */
int fabric_build_finish(struct fabric_build *b, struct fabric *out);
void fabric_build_release(struct fabric_build *b);

#endif
