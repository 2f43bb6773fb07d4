/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Several ranks on a core: puts the first ranks of a communicator on a few cores of their node while the others sleep
 * (an MPI barrier would have them busy-wait on the very cores that are measured). The degree is Nigay et al.'s
 * virtualization ratio V (2020, section 4). On several nodes ranks must be dealt out to them in turn (nodes_in_turn): then the
 * first ranks are spread over the nodes evenly, and a node's ranks over its cores.
 */
#ifndef POVBENCH_PLACE_H
#define POVBENCH_PLACE_H

#include "core/bench.h"
#include "core/node_clock.h"

enum { PLACE_RATIO_MAX = 4 }; /* ranks per core that are looked at */

/* How many ranks, on how many cores of how many nodes together; cores are a multiple of nodes. */
struct place {
	int ranks, cores, nodes;
};

/*
 * Runs fn on the first place.ranks ranks, with a communicator of their own, each bound to core rank modulo
 * place.cores, counted over the nodes in turn; the other ranks sleep until it is done. All ranks of run call it.
 */
void place_run(struct bench_run *run, struct place place,
	       void (*fn)(struct bench_run *run, struct place place, void *ctx), void *ctx);

/* Sleeps until rank 0 wakes this one. */
void place_rest(struct comm *c);
void place_wake(struct comm *c, int rank);

/* How many cores the ranks of this rank's node may use. */
int place_core_cnt(struct comm *c);

/* From the first rank's start to the last one's end, by rank 0's clock; on rank 0. All of c call it. */
double place_span_ns(struct comm *c, const struct node_clock *clock, uint64_t start_ns,
		     uint64_t end_ns);
/* The sum over all ranks, on rank 0. All of c call it. */
double place_sum(struct comm *c, uint64_t value);

/*
 * Every rank's samples, one rank after the other, on rank 0; out is cleared on it first. All of run call it; ranks
 * may have different numbers of samples.
 */
void place_gather(struct comm *c, const struct samples *own, struct samples *out);
/* Those of one rank only. */
void place_fetch(struct comm *c, const struct samples *own, int rank, struct samples *out);

#endif
