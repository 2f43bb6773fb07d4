/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Rank 0 gathers the node identifier of each rank, numbers the nodes and sends all of it to all. */
#include "core/nodes.h"

#include "lib/log.h"
#include "lib/table.h"
#include "core/comm.h"

#include <stdlib.h>

#define TAG_NODES 32005

/* Numbers the nodes in the order of their first ranks. */
static void nodes_number(struct nodes *n, const uint64_t *name)
{
	int k;

	for (int i = 0; i < n->rank_cnt; i++) {
		for (k = 0; k < i && name[k] != name[i]; k++)
			;
		n->of[i] = k < i ? n->of[k] : n->cnt++;
	}
}

void nodes_init(struct comm *c, struct nodes *n)
{
	size_t cnt = (size_t)c->size;
	uint64_t *name = xcalloc(cnt, sizeof(*name));
	struct comm_msg m;

	*n = (struct nodes){.rank_cnt = c->size, .of = xcalloc(cnt, sizeof(*n->of))};
	m = (struct comm_msg){.buf = n->of, .bytes = cnt * sizeof(*n->of)};
	comm_collect(c, (uint64_t)c->ops->node(c), name);
	if (c->rank == 0)
		nodes_number(n, name);
	else
		c->ops->recv(c, &m, 0, TAG_NODES);
	for (int rank = 1; c->rank == 0 && rank < c->size; rank++)
		c->ops->send(c, &m, rank, TAG_NODES);
	n->cnt = (int)comm_tell(c, (uint64_t)n->cnt);
	free(name);
}

void nodes_release(struct nodes *n)
{
	free(n->of);
	n->of = NULL;
}

int nodes_leading(const struct nodes *n)
{
	int cnt = 0;

	while (cnt < n->rank_cnt && n->of[cnt] == 0)
		cnt++;
	return cnt;
}

bool nodes_in_turn(const struct nodes *n)
{
	return !table_any(n->rank_cnt, i, n->of[i] != i % n->cnt);
}

/* ---- several ranks on a core ---- */

/*
 * Ranks are dealt out to the cores in turn. Ranks
 * are on different cores unless their numbers differ by a multiple of the number of cores, so
 * neighbours can be chosen on other cores. The communicator decides the order of a node's cores.
 */

void core_sharing_run(struct bench_run *run, struct core_sharing sharing,
		      void (*fn)(struct bench_run *run, struct core_sharing sharing, void *ctx),
		      void *ctx)
{
	struct comm *few = comm_few_begin(run->comm, sharing.ranks);
	struct bench_run sub = *run;

	if (!few)
		return;
	sub.comm = few;
	few->ops->pin(few, few->rank % sharing.cores / sharing.nodes);
	fn(&sub, sharing, ctx);
	few->ops->pin(few, -1);
	comm_few_end(run->comm, few);
}

int core_sharing_most(const struct comm *c)
{
	return c->size < RANKS_PER_CORE_MAX ? c->size : RANKS_PER_CORE_MAX;
}

void core_sharing_each(struct bench_run *run,
		       void (*fn)(struct bench_run *run, struct core_sharing sharing, void *ctx),
		       void *ctx)
{
	int most = core_sharing_most(run->comm);

	for (int v = 1; v <= most; v++) {
		core_sharing_run(run, (struct core_sharing){.ranks = v, .cores = 1, .nodes = 1}, fn,
				 ctx);
		bench_progress(run, (size_t)v, (size_t)most);
	}
}

int core_sharing_core_cnt(struct comm *c)
{
	return c->ops->pin(c, -1);
}
