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

/* ---- rest ---- */

enum { TAG_DONE = 0x3de1 };
/*
 * Interval at which a sleeper checks for the end. A check takes a few µs, below a thousandth of
 * it.
 */
#define REST_NS 5000000

void rest_wake(struct comm *c, int rank)
{
	struct comm_msg nothing = {.buf = NULL, .bytes = 0};

	c->ops->send(c, &nothing, rank, TAG_DONE);
}

void rest_until_woken(struct comm *c)
{
	struct comm_msg nothing = {.buf = NULL, .bytes = 0};
	struct comm_request done = {0};

	c->ops->irecv(c, &nothing, 0, TAG_DONE, &done);
	while (!c->ops->test(c, &done))
		c->ops->sleep(c, REST_NS);
}
