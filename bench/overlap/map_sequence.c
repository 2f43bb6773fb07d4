/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The parts that the timed sequences are made of. Each reading of the clock takes some ten ns, as much as a tenth of a small
 * message, if the rank does not wait anyhow at that time. So a sample has but one of them in it, which is taken off; what is spent in
 * calls is measured in samples of its own; and ranks whose times are not asked for read no clock.
 */
#include "overlap/map.h"

#include "lib/log.h"

#include <math.h>
#include <stdlib.h>

void map_compute_before(struct map *m)
{
	if (m->before_ns)
		m->comm->ops->compute(m->comm, &m->run->opt->compute, m->before_ns);
}

void map_begin(struct map *m)
{
	map_compute_before(m);
	m->timing = true;
	m->readings = 0;
	m->began_ns = m->comm->ops->now_ns(m->comm);
}

static double since_begin(struct map *m)
{
	m->readings++;
	return (double)(m->comm->ops->now_ns(m->comm) - m->began_ns);
}

double map_end(struct map *m)
{
	return m->timing ? since_begin(m) - m->clock_ns : 0;
}

void map_own(struct map *m)
{
	if (m->pattern->ack_latency)
		m->own_ns = map_end(m);
}

double map_now(struct map *m)
{
	double ns;

	if (!m->timing || !m->detail)
		return 0;
	ns = since_begin(m);
	return ns - m->readings * m->clock_ns;
}

void map_compute(struct map *m)
{
	if (m->compute_ns)
		m->comm->ops->compute(m->comm, &m->run->opt->compute, m->compute_ns);
}

void map_in_calls(struct map *m, double post_ns, double wait_ns)
{
	m->in_calls_ns += post_ns + wait_ns;
	m->wait_ns += wait_ns;
}

void map_overlap_send(struct map *m, int peer)
{
	struct comm *c = m->comm;
	double start = map_now(m), posted, computed;

	c->ops->isend(c, &m->out[0], peer, MAP_TAG_DATA, &m->request[0]);
	posted = map_now(m);
	map_compute(m);
	computed = map_now(m);
	c->ops->wait(c, &m->request[0]);
	map_in_calls(m, posted - start, map_now(m) - computed);
	map_own(m);
}

void map_overlap_recv(struct map *m, int peer)
{
	struct comm *c = m->comm;
	double start = map_now(m), posted, computed;

	c->ops->irecv(c, &m->in[0], peer, MAP_TAG_DATA, &m->request[0]);
	posted = map_now(m);
	map_compute(m);
	map_own(m);
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

double map_longest(struct map *m, double own_ns)
{
	uint64_t *all = m->comm->rank ? NULL : xcalloc((size_t)m->comm->size, sizeof(*all));
	uint64_t longest = 0;
	int i;

	comm_collect(m->comm, own_ns > 0 ? (uint64_t)llround(own_ns) : 0, all);
	for (i = 0; all && i < m->comm->size; i++)
		longest = all[i] > longest ? all[i] : longest;
	free(all);
	return (double)longest;
}

double map_sequence_send_ack(struct map *m)
{
	if (m->comm->rank == 1) {
		m->comm->ops->recv(m->comm, &m->in[0], 0, MAP_TAG_DATA);
		map_tell(m, 0, MAP_TAG_ACK);
		return 0;
	}
	map_begin(m);
	map_overlap_send(m, 1);
	map_hear(m, 1, MAP_TAG_ACK);
	return map_end(m);
}
