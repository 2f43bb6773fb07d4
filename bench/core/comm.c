/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Operations built from plain messages, the same on MPI and on the model. Benchmarks use other
 * tags.
 */
#include "core/comm.h"

#include "lib/log.h"
#include "lib/u64.h"

#include <stdlib.h>

enum { TAG_SYNC = 32001, TAG_TELL = 32002, TAG_COLLECT = 32003, TAG_DONE = 0x3de1 };

static struct comm_msg word_msg(uint64_t *word)
{
	return (struct comm_msg){.buf = word, .bytes = sizeof(*word)};
}

uint64_t comm_sync(struct comm *c, uint64_t word)
{
	struct comm_msg m = word_msg(&word);

	if (c->rank) {
		c->ops->recv(c, &m, 0, TAG_SYNC);
		comm_signal(c, 0, TAG_SYNC);
		return word;
	}
	for (int peer = 1; peer < c->size; peer++)
		c->ops->send(c, &m, peer, TAG_SYNC);
	for (int peer = 1; peer < c->size; peer++)
		comm_await(c, peer, TAG_SYNC);
	return word;
}

uint64_t comm_tell(struct comm *c, uint64_t word)
{
	struct comm_msg m = word_msg(&word);

	if (c->rank)
		c->ops->recv(c, &m, 0, TAG_TELL);
	for (int peer = 1; !c->rank && peer < c->size; peer++)
		c->ops->send(c, &m, peer, TAG_TELL);
	return word;
}

void comm_collect(struct comm *c, uint64_t word, uint64_t *out)
{
	struct comm_msg m = word_msg(&word);

	if (c->rank) {
		c->ops->send(c, &m, 0, TAG_COLLECT);
		return;
	}
	out[0] = word;
	for (int peer = 1; peer < c->size; peer++) {
		m = word_msg(&out[peer]);
		c->ops->recv(c, &m, peer, TAG_COLLECT);
	}
}

/* Rank 0 combines all ranks' numbers. */
static uint64_t comm_combine(struct comm *c, uint64_t word,
			     uint64_t (*both)(uint64_t a, uint64_t b))
{
	uint64_t *all = c->rank ? NULL : xcalloc((size_t)c->size, sizeof(*all));

	comm_collect(c, word, all);
	for (int rank = 1; all && rank < c->size; rank++)
		word = both(word, all[rank]);
	free(all);
	return word;
}

static uint64_t sum_of(uint64_t a, uint64_t b)
{
	return a + b;
}

uint64_t comm_least(struct comm *c, uint64_t word)
{
	return comm_combine(c, word, u64_min);
}

uint64_t comm_most(struct comm *c, uint64_t word)
{
	return comm_combine(c, word, u64_max);
}

uint64_t comm_sum(struct comm *c, uint64_t word)
{
	return comm_combine(c, word, sum_of);
}

void comm_signal(struct comm *c, int peer, int tag)
{
	const struct comm_msg nothing = {.bytes = 0};

	c->ops->send(c, &nothing, peer, tag);
}

void comm_await(struct comm *c, int peer, int tag)
{
	const struct comm_msg nothing = {.bytes = 0};

	c->ops->recv(c, &nothing, peer, tag);
}

/* ---- idle ranks ---- */

/*
 * Interval at which a sleeper checks for the end. A check takes a few µs, below a thousandth of
 * it.
 */
#define REST_NS 5000000

struct comm *comm_few_begin(struct comm *c, int n)
{
	const struct comm_msg nothing = {.bytes = 0};
	struct comm *few = c->ops->first(c, n);
	struct comm_request done = {0};

	if (few)
		return few;
	c->ops->irecv(c, &nothing, 0, TAG_DONE, &done);
	while (!c->ops->test(c, &done))
		c->ops->sleep(c, REST_NS);
	return NULL;
}

void comm_few_end(struct comm *c, struct comm *few)
{
	int n = few->size;

	few->ops->free(few);
	for (int rank = n; c->rank == 0 && rank < c->size; rank++)
		comm_signal(c, rank, TAG_DONE);
}
