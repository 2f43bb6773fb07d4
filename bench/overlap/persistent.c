/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Sender-side overlap with persistent requests: like `sender`, but both sides create their
 * requests once for each message size and start them for each sample. T_comm is the same without
 * computation.
 */
#include "overlap/map.h"

static void size_begin(struct map *m)
{
	struct comm *c = m->comm;

	if (c->rank == 0)
		c->ops->send_init(c, &m->out[0], 1, MAP_TAG_DATA, &m->request[0]);
	else
		c->ops->recv_init(c, &m->in[0], 0, MAP_TAG_DATA, &m->request[0]);
}

static void size_end(struct map *m)
{
	m->comm->ops->request_free(m->comm, &m->request[0]);
}

static double sequence(struct map *m)
{
	struct comm *c = m->comm;
	double posted, computed;

	if (c->rank == 0)
		map_begin(m);
	c->ops->start(c, &m->request[0]);
	if (c->rank == 1) {
		c->ops->wait(c, &m->request[0]);
		map_tell(m, 0, MAP_TAG_ACK);
		return 0;
	}
	posted = map_now(m);
	map_compute(m);
	computed = map_now(m);
	c->ops->wait(c, &m->request[0]);
	map_in_calls(m, posted, map_now(m) - computed);
	map_own(m);
	map_hear(m, 1, MAP_TAG_ACK);
	return map_end(m);
}

static const struct map_pattern pattern = {
	.sends_only = true,
	.ack_latency = true,
	.receives = 1U << 1,
	.sequence = sequence,
	.size_begin = size_begin,
	.size_end = size_end,
	.pingpong = true,
};

const struct bench bench_persistent = {
	.name = "persistent",
	.group = "overlap",
	.brief = "sender's side with persistent requests: Start, computation, Wait",
	.source = "after Denis & Trahay 2016, III.D: sender-side overlap",
	MAP_PAIR(pattern),
};
