/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The broadcasts of algorithms.h. Each sends in the order of the paper's drawings, with blocking
 * calls. A task returns as soon as it has passed the message on, so the next broadcast may follow
 * immediately. That is what misleads most methods.
 */
#include "broadcast/algorithms.h"

#define TAG_BCAST 31

/* Sends along the chain of neighbours in direction step, 1 or -1. */
static void run_chain(struct comm *c, const struct comm_msg *m, int root, int step)
{
	int next = (c->rank + step + c->size) % c->size;
	int before = (c->rank - step + c->size) % c->size;

	if (c->rank != root)
		c->ops->recv(c, m, before, TAG_BCAST);
	if (next != root)
		c->ops->send(c, m, next, TAG_BCAST);
}

/*
 * Task v, counted from the root, receives from (v without its lowest bit) and serves the bits
 * below.
 */
static void run_binomial(struct comm *c, const struct comm_msg *m, int root)
{
	int v = (c->rank - root + c->size) % c->size, bit = 1;

	while (bit < c->size && !(v & bit))
		bit <<= 1;
	if (v)
		c->ops->recv(c, m, (v - bit + root) % c->size, TAG_BCAST);
	while ((bit >>= 1)) {
		if (v + bit < c->size)
			c->ops->send(c, m, (v + bit + root) % c->size, TAG_BCAST);
	}
}

void bcast_run(struct comm *c, enum bcast_algorithm algorithm, void *buf, size_t bytes, int root)
{
	struct comm_msg m = {buf, bytes, COMM_CONTIGUOUS};

	switch (algorithm) {
	case BCAST_LIBRARY:
		c->ops->coll(c, COMM_BCAST, buf, buf, bytes, root);
		break;
	case BCAST_LINEAR:
		run_chain(c, &m, root, 1);
		break;
	case BCAST_BACKWARD:
		run_chain(c, &m, root, -1);
		break;
	case BCAST_BINOMIAL:
		run_binomial(c, &m, root);
		break;
	case BCAST_ALGORITHM_CNT:
		break;
	}
}
