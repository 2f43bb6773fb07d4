/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Knows which ranks share a node: its cores, its memory and its clock. */
#ifndef POVBENCH_NODES_H
#define POVBENCH_NODES_H

#include "core/bench.h"

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

/*
 * Puts several ranks on a core: the first ranks of a communicator run on a few cores of their node
 * while the others sleep. The degree is the virtualization ratio V of Nigay et al. (2020,
 * section 4). On several nodes, ranks must be placed round-robin (nodes_in_turn). Then the first
 * ranks are spread evenly
 * over the nodes, and a node's ranks over its cores.
 */

enum { RANKS_PER_CORE_MAX = 4 }; /* greatest number of ranks per core that is measured */

/* Numbers of ranks, and of cores and nodes in total. cores is a multiple of nodes. */
struct core_sharing {
	int ranks, cores, nodes;
};

/*
 * Runs fn on the first sharing.ranks ranks with a communicator of their own. Each rank is bound to
 * core (rank modulo sharing.cores), counted over the nodes in turn. The other ranks sleep until fn
 * returns. All ranks of run must call it.
 */
void core_sharing_run(struct bench_run *run, struct core_sharing sharing,
		      void (*fn)(struct bench_run *run, struct core_sharing sharing, void *ctx),
		      void *ctx);

/* Greatest number of a communicator's ranks that share a core, at most RANKS_PER_CORE_MAX. */
int core_sharing_most(const struct comm *c);
/* Runs fn with 1, 2 … core_sharing_most ranks on a single core, and reports progress. */
void core_sharing_each(struct bench_run *run,
		       void (*fn)(struct bench_run *run, struct core_sharing sharing, void *ctx),
		       void *ctx);

/* Number of cores that the ranks of this rank's node may use. */
int core_sharing_core_cnt(struct comm *c);

#endif
