/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Several ranks on a core (core_sharing.h). Ranks are dealt out to the cores one by one, so that ranks whose numbers differ by
 * no multiple of the number of cores are on different cores: neighbours can be chosen to be elsewhere. Which of a node's
 * cores is which, is the communicator's business.
 */
#include "core/core_sharing.h"

#include "core/rest.h"

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
