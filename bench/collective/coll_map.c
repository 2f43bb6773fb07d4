/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Ranks do not start at the same time but within what comm_sync takes: T_comm and T_measured both have that skew in
 * them. A broadcast's root may be long gone when the last rank has the data, hence the longest time of all ranks.
 */
#include "collective/coll_map.h"

#include "base/log.h"

#include <stdlib.h>

struct coll_buffers {
	void *in, *out; /* owned; may be the same */
};

void coll_map_size_begin(struct map *m)
{
	const struct coll_data *data = m->pattern->data;
	struct coll_buffers *b = xcalloc(1, sizeof(*b));

	if (data->make)
		data->make(m, &b->in, &b->out);
	m->state = b;
}

void coll_map_size_end(struct map *m)
{
	struct coll_buffers *b = m->state;

	if (b->in != b->out)
		free(b->in);
	free(b->out);
	free(b);
	m->state = NULL;
}

double coll_map_sequence(struct map *m)
{
	const struct coll_data *data = m->pattern->data;
	struct coll_buffers *b = m->state;
	struct comm *c = m->comm;
	double posted, computed;

	map_begin(m);
	c->ops->icoll(c, data->op, b->in, b->out, m->bytes, 0, &m->request[0]);
	posted = map_now(m);
	map_compute(m);
	computed = map_now(m);
	c->ops->wait(c, &m->request[0]);
	map_in_calls(m, posted, map_now(m) - computed);
	return map_longest(m, map_end(m));
}

static double blocking(struct map *m)
{
	const struct coll_data *data = m->pattern->data;
	struct coll_buffers *b = m->state;

	map_begin(m);
	m->comm->ops->coll(m->comm, data->op, b->in, b->out, m->bytes, 0);
	return map_longest(m, map_end(m));
}

void coll_map_reference(struct map *m, struct samples *out)
{
	map_reference_by(m, blocking, &m->blocking);
	map_reference_sequence(m, out);
}

void coll_map_check(struct map *m)
{
	const struct coll_data *data = m->pattern->data;
	struct coll_buffers *b = m->state;

	if (data->check)
		data->check(m, b->out);
}

void coll_map_params(struct map *m, struct result_point *point)
{
	result_param(point, "ranks", (uint64_t)m->comm->size);
}
