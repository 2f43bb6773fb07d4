/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Knows which ranks share a node: its cores, its memory and its clock. */
#ifndef POVBENCH_NODES_H
#define POVBENCH_NODES_H

#include "core/comm.h"

struct nodes {
	int cnt; /* number of nodes */
	int rank_cnt;
	int *of; /* node of each rank, 0 … cnt - 1 in the order of their first ranks; owned */
};

/* All ranks of c call it, and all get the result. */
void nodes_init(struct comm *c, struct nodes *n);
void nodes_release(struct nodes *n);

/* Number of first ranks that are all on rank 0's node. */
int nodes_leading(const struct nodes *n);
/* True if rank r is on node (r modulo the number of nodes). */
bool nodes_in_turn(const struct nodes *n);

#endif
