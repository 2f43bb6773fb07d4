/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The parts that the timed sequences are made of. Reading the clock around the calls costs three readings a sample, some
 * ten ns each: nothing against the computation times that are worth a look.
 */
#include "overlap/map.h"

#include "base/log.h"

#include <stdlib.h>

void map_compute(struct map *m)
{
	if (m->compute_ns)
		m->comm->ops->compute(m->comm, &m->run->opt->compute, m->compute_ns);
}

void map_in_calls(struct map *m, uint64_t post_ns, uint64_t wait_ns)
{
	m->in_calls_ns += (double)(post_ns + wait_ns);
	m->wait_ns += (double)wait_ns;
}

void map_overlap_send(struct map *m, int peer)
{
	struct comm *c = m->comm;
	uint64_t start = map_now(m), posted, computed;

	c->ops->isend(c, &m->out[0], peer, MAP_TAG_DATA, &m->request[0]);
	posted = map_now(m);
	map_compute(m);
	computed = map_now(m);
	c->ops->wait(c, &m->request[0]);
	map_in_calls(m, posted - start, map_now(m) - computed);
}

void map_overlap_recv(struct map *m, int peer)
{
	struct comm *c = m->comm;
	uint64_t start = map_now(m), posted, computed;

	c->ops->irecv(c, &m->in[0], peer, MAP_TAG_DATA, &m->request[0]);
	posted = map_now(m);
	map_compute(m);
	computed = map_now(m);
	c->ops->wait(c, &m->request[0]);
	map_in_calls(m, posted - start, map_now(m) - computed);
}

void map_tell(struct map *m, int peer, int tag)
{
	const struct comm_msg none = {.buf = NULL, .bytes = 0, .layout = COMM_CONTIGUOUS};

	m->comm->ops->send(m->comm, &none, peer, tag);
}

void map_hear(struct map *m, int peer, int tag)
{
	const struct comm_msg none = {.buf = NULL, .bytes = 0, .layout = COMM_CONTIGUOUS};

	m->comm->ops->recv(m->comm, &none, peer, tag);
}

double map_longest(struct map *m, uint64_t own_ns)
{
	uint64_t *all = m->comm->rank ? NULL : xcalloc((size_t)m->comm->size, sizeof(*all));
	uint64_t longest = 0;
	int i;

	comm_collect(m->comm, own_ns, all);
	for (i = 0; all && i < m->comm->size; i++)
		longest = all[i] > longest ? all[i] : longest;
	free(all);
	return (double)longest;
}

double map_sequence_send_ack(struct map *m)
{
	uint64_t start;

	if (m->comm->rank == 1) {
		m->comm->ops->recv(m->comm, &m->in[0], 0, MAP_TAG_DATA);
		map_tell(m, 0, MAP_TAG_ACK);
		return 0;
	}
	start = map_now(m);
	map_overlap_send(m, 1);
	map_hear(m, 1, MAP_TAG_ACK);
	return (double)(map_now(m) - start);
}
