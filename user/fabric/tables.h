/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Tables about a load: the hottest half links, how evenly the links of a level are used, and where
 * flows of one context meet. A half link is a link in one direction.
 */
#ifndef POV_FABRIC_TABLES_H
#define POV_FABRIC_TABLES_H

#include "fabric/load.h"

#include <stdio.h>

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
	uint64_t bytes;		       /* of all of them */
	uint64_t max_bytes, min_bytes; /* most and least loaded one, including unused ones */
};

/* Half links between switches in one context. At adapters, all flows of a port meet anyway. */
struct fabric_conflicts {
	uint32_t used, shared; /* with any flow; with more than one */
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
