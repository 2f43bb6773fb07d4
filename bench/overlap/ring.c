/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * More than two ranks, which Denis & Trahay 2016 (VII) left as future work. In a ring, every rank
 * posts an Irecv from its predecessor and an Isend to its successor, computes, and waits for both.
 * T_measured is the longest of the ranks' times, each from its own start. T_comm is the same
 * without computation.
 */
#include "overlap/map.h"

static int next_rank(const struct comm *c)
{
	return (c->rank + 1) % c->size;
}

static int rank_before(const struct comm *c)
{
	return (c->rank + c->size - 1) % c->size;
}

static double sequence(struct map *m)
{
	double posted, computed;
	struct comm *c = m->comm;

	map_begin(m);
	c->ops->irecv(c, &m->in[0], rank_before(c), MAP_TAG_DATA, &m->request[0]);
	c->ops->isend(c, &m->out[0], next_rank(c), MAP_TAG_DATA, &m->request[1]);
	posted = map_now(m);
	map_compute(m);
	computed = map_now(m);
	c->ops->waitall(c, m->request, 2);
	map_in_calls(m, posted, map_now(m) - computed);
	return map_longest(m, map_end(m));
}

static void check(struct map *m)
{
	map_check_message(m, &m->in[0], rank_before(m->comm), 0);
}

static void params(struct map *m, struct result_point *point)
{
	result_param(point, "ranks", (uint64_t)m->comm->size);
}

static const struct map_pattern pattern = {
	.all_compute = true,
	.longest = true,
	.sequence = sequence,
	.check = check,
	.params = params,
};

const struct bench bench_ring = {
	.name = "ring",
	.group = "overlap",
	.brief = "ring: every rank sends, receives and computes at the same time",
	.source = "after Denis & Trahay 2016, VII: more than two nodes",
	.kind = RESULT_MAP,
	.ranks_min = 3,
	.method = &pattern,
	.run = map_run,
	.estimate_ns = map_estimate_ns,
};
