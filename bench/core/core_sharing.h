/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Several ranks on a core: puts the first ranks of a communicator on a few cores of their node while the others sleep
 * (an MPI barrier would have them busy-wait on the very cores that are measured). The degree is Nigay et al.'s
 * virtualization ratio V (2020, section 4). On several nodes ranks must be dealt out to them in turn (nodes_in_turn): then the
 * first ranks are spread over the nodes evenly, and a node's ranks over its cores.
 */
#ifndef POVBENCH_CORE_SHARING_H
#define POVBENCH_CORE_SHARING_H

#include "core/bench.h"

enum { RANKS_PER_CORE_MAX = 4 }; /* ranks per core that are looked at */

/* How many ranks, on how many cores of how many nodes together; cores are a multiple of nodes. */
struct core_sharing {
	int ranks, cores, nodes;
};

/*
 * Runs fn on the first sharing.ranks ranks, with a communicator of their own, each bound to core rank modulo
 * sharing.cores, counted over the nodes in turn; the other ranks sleep until it is done. All ranks of run call it.
 */
void core_sharing_run(struct bench_run *run, struct core_sharing sharing,
		      void (*fn)(struct bench_run *run, struct core_sharing sharing, void *ctx),
		      void *ctx);

/* How many cores the ranks of this rank's node may use. */
int core_sharing_core_cnt(struct comm *c);

#endif
