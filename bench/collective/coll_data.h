/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Makes and checks the data of collectives that move blocks or sum doubles. Each rank has its own
 * in and out.
 */
#ifndef POVBENCH_COLLECTIVE_COLL_DATA_H
#define POVBENCH_COLLECTIVE_COLL_DATA_H

#include "overlap/map.h"

struct coll_data {
	enum comm_coll op;
	/* Allocates and fills the buffers for m->bytes, which may be the same; null: no data. */
	void (*make)(struct map *m, void **in, void **out);
	void (*check)(struct map *m, void *out);
};

/* One buffer of m->bytes, with rank 0's data for all. */
void coll_bcast_make(struct map *m, void **in, void **out);
void coll_bcast_check(struct map *m, void *out);

/* Blocks of m->bytes, for all-to-all, all-gather, gather to rank 0 and scatter from rank 0. */
void coll_blocks_make(struct map *m, void **in, void **out);
void coll_blocks_check(struct map *m, void *out);

/* Sums of small integers, exact in any order, for reductions to rank 0 and to all. */
void coll_sums_make(struct map *m, void **in, void **out);
void coll_sums_check(struct map *m, void *out);

#endif
