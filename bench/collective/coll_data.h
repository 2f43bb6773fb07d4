/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* The data of collectives that move blocks or sum doubles, to be made and checked: for struct coll_data. */
#ifndef POVBENCH_COLLECTIVE_COLL_DATA_H
#define POVBENCH_COLLECTIVE_COLL_DATA_H

#include "collective/coll_map.h"

/* One buffer of m->bytes, rank 0's for all. */
void coll_bcast_make(struct map *m, void **in, void **out);
void coll_bcast_check(struct map *m, void *out);

/* Blocks of m->bytes. All-to-all and all-gather, gather to rank 0 and scatter from it. */
void coll_blocks_make(struct map *m, void **in, void **out);
void coll_blocks_check(struct map *m, void *out);
/* Of struct map_pattern: so many blocks a rank may have. */
int coll_blocks_cnt(const struct bench_run *run);

/* Small integers, so that their sum is exact in any order. Reductions to rank 0 and to all. */
void coll_sums_make(struct map *m, void **in, void **out);
void coll_sums_check(struct map *m, void *out);

#endif
