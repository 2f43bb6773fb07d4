/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Operations built from plain messages, the same on MPI and on the model. Benchmarks use other
 * tags.
 */
#include "core/comm.h"

enum { TAG_SYNC = 32001, TAG_TELL = 32002, TAG_COLLECT = 32003 };

static struct comm_msg word_msg(uint64_t *word)
{
	return (struct comm_msg){.buf = word, .bytes = sizeof(*word)};
}

uint64_t comm_sync(struct comm *c, uint64_t word)
{
	struct comm_msg m = word_msg(&word), ready = {0};
	int peer;

	if (c->rank) {
		c->ops->recv(c, &m, 0, TAG_SYNC);
		c->ops->send(c, &ready, 0, TAG_SYNC);
		return word;
	}
	for (peer = 1; peer < c->size; peer++)
		c->ops->send(c, &m, peer, TAG_SYNC);
	for (peer = 1; peer < c->size; peer++)
		c->ops->recv(c, &ready, peer, TAG_SYNC);
	return word;
}

uint64_t comm_tell(struct comm *c, uint64_t word)
{
	struct comm_msg m = word_msg(&word);
	int peer;

	if (c->rank)
		c->ops->recv(c, &m, 0, TAG_TELL);
	for (peer = 1; !c->rank && peer < c->size; peer++)
		c->ops->send(c, &m, peer, TAG_TELL);
	return word;
}

void comm_collect(struct comm *c, uint64_t word, uint64_t *out)
{
	struct comm_msg m = word_msg(&word);
	int peer;

	if (c->rank) {
		c->ops->send(c, &m, 0, TAG_COLLECT);
		return;
	}
	out[0] = word;
	for (peer = 1; peer < c->size; peer++) {
		m = word_msg(&out[peer]);
		c->ops->recv(c, &m, peer, TAG_COLLECT);
	}
}
