/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Puts several ranks on a core (core_sharing.h). Ranks are dealt out to the cores in turn. Ranks
 * are on different cores unless their numbers differ by a multiple of the number of cores, so
 * neighbours can be chosen on other cores. The communicator decides the order of a node's cores.
 */
#include "core/core_sharing.h"

#include "core/comm.h"

void core_sharing_run(struct bench_run *run, struct core_sharing sharing,
		      void (*fn)(struct bench_run *run, struct core_sharing sharing, void *ctx),
		      void *ctx)
{
	struct comm *c = run->comm, *few = c->ops->first(c, sharing.ranks);
	struct bench_run sub = *run;
	int rank;

	if (!few) {
		rest_until_woken(c);
		return;
	}
	sub.comm = few;
	few->ops->pin(few, few->rank % sharing.cores / sharing.nodes);
	fn(&sub, sharing, ctx);
	few->ops->pin(few, -1);
	few->ops->free(few);
	for (rank = sharing.ranks; c->rank == 0 && rank < c->size; rank++)
		rest_wake(c, rank);
}

int core_sharing_core_cnt(struct comm *c)
{
	return c->ops->pin(c, -1);
}
