/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Sender-side overlap with persistent requests: like `sender`, but both sides create their
 * requests once for each message size and start them for each sample. T_comm is the same without
 * computation.
 */
#include "overlap/map.h"

static void persistent_size_begin(struct map *m)
{
	struct comm *c = m->comm;

	if (c->rank == 0)
		c->ops->send_init(c, &m->out[0], 1, MAP_TAG_DATA, &m->request[0]);
	else
		c->ops->recv_init(c, &m->in[0], 0, MAP_TAG_DATA, &m->request[0]);
}

static void request_size_end(struct map *m)
{
	m->comm->ops->request_free(m->comm, &m->request[0]);
}

static double persistent_sequence(struct map *m)
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

static const struct map_pattern persistent = {
	.sends_only = true,
	.ack_latency = true,
	.receives = 1U << 1,
	.sequence = persistent_sequence,
	.size_begin = persistent_size_begin,
	.size_end = request_size_end,
	.pingpong = true,
};

const struct bench bench_persistent = {
	.name = "persistent",
	.group = "overlap",
	.brief = "sender's side with persistent requests: Start, computation, Wait",
	.source = "after Denis & Trahay 2016, III.D: sender-side overlap",
	MAP_PAIR(persistent),
};

/* ---- partitioned ---- */

/*
 * Partitioned requests in their intended use: rank 0 computes the message part by part and marks
 * each part as ready. So all parts but the last can travel during the computation. With n parts
 * the best ratio is 1/n instead of 0. T_comm is the same without computation. T_comp is the same
 * slices without the calls.
 */

#define PARTS 16

static void partitioned_size_begin(struct map *m)
{
	struct comm *c = m->comm;

	if (c->rank == 0)
		c->ops->psend_init(c, &m->out[0], PARTS, 1, MAP_TAG_DATA, &m->request[0]);
	else
		c->ops->precv_init(c, &m->in[0], PARTS, 0, MAP_TAG_DATA, &m->request[0]);
}

/* The slices add up to exactly compute_ns. */
static void compute_slice(struct map *m, int part)
{
	uint64_t ns = m->compute_ns * ((uint64_t)part + 1) / PARTS -
		      m->compute_ns * (uint64_t)part / PARTS;

	if (ns)
		m->comm->ops->compute(m->comm, &m->run->opt->compute, ns);
}

static double partitioned_computation(struct map *m)
{
	int part;

	if (m->comm->rank != 0)
		return 0;
	map_begin(m);
	for (part = 0; part < PARTS; part++)
		compute_slice(m, part);
	return map_end(m);
}

static double partitioned_sequence(struct map *m)
{
	struct comm *c = m->comm;
	double since;
	int part;

	if (c->rank == 0)
		map_begin(m);
	c->ops->start(c, &m->request[0]);
	if (c->rank == 1) {
		c->ops->wait(c, &m->request[0]);
		map_tell(m, 0, MAP_TAG_ACK);
		return 0;
	}
	map_in_calls(m, map_now(m), 0);
	for (part = 0; part < PARTS; part++) {
		compute_slice(m, part);
		since = map_now(m);
		c->ops->pready(c, &m->request[0], part);
		map_in_calls(m, map_now(m) - since, 0);
	}
	since = map_now(m);
	c->ops->wait(c, &m->request[0]);
	map_in_calls(m, 0, map_now(m) - since);
	map_own(m);
	map_hear(m, 1, MAP_TAG_ACK);
	return map_end(m);
}

static void partitioned_params(struct map *m, struct result_point *point)
{
	(void)m;
	result_param(point, "parts", PARTS);
}

static const struct map_pattern partitioned = {
	.ack_latency = true,
	.unit = PARTS,
	.receives = 1U << 1,
	.sequence = partitioned_sequence,
	.computation = partitioned_computation,
	.size_begin = partitioned_size_begin,
	.size_end = request_size_end,
	.params = partitioned_params,
};

const struct bench bench_partitioned = {
	.name = "partitioned",
	.group = "overlap",
	.brief = "sender's side, a message sent in parts as they are computed",
	.source = "after Denis & Trahay 2016, III.D, with MPI 4.0's partitioned requests",
	.needs = COMM_HAS_PARTITIONED,
	MAP_PAIR(partitioned),
};
