/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Rank 0 gathers what each rank's communicator calls its node, numbers them and tells everybody. */
#include "core/nodes.h"

#include "lib/log.h"

#include <stdlib.h>

#define TAG_NODES 32005

/* Nodes in the order in which they come up. */
static void number(struct nodes *n, const uint64_t *name)
{
	int i, k;

	for (i = 0; i < n->rank_cnt; i++) {
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
	int rank;

	*n = (struct nodes){.rank_cnt = c->size, .of = xcalloc(cnt, sizeof(*n->of))};
	m = (struct comm_msg){.buf = n->of, .bytes = cnt * sizeof(*n->of)};
	comm_collect(c, (uint64_t)c->ops->node(c), name);
	if (c->rank == 0)
		number(n, name);
	else
		c->ops->recv(c, &m, 0, TAG_NODES);
	for (rank = 1; c->rank == 0 && rank < c->size; rank++)
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
	int i;

	for (i = 0; i < n->rank_cnt; i++) {
		if (n->of[i] != i % n->cnt)
			return false;
	}
	return true;
}
