/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Several pending requests to the same peer, which Denis & Trahay 2016 (VII) left as future work.
 * Rank 0 posts a window of Isends, computes, waits for all of them and for one ACK. Rank 1 has
 * posted all its receives before. T_comm is the same window without computation, because a window
 * of messages takes another time than as many single messages. bytes is the size of each message.
 */
#include "overlap/map.h"

#define WINDOW_DEFAULT 16

static int messages(const struct bench_run *run)
{
	return run->opt->window ? (int)run->opt->window : WINDOW_DEFAULT;
}

static void post_receives(struct map *m)
{
	struct comm *c = m->comm;
	int i;

	for (i = 0; c->rank == 1 && i < m->message_cnt; i++)
		c->ops->irecv(c, &m->in[i], 0, MAP_TAG_DATA, &m->request[i]);
}

static double sequence(struct map *m)
{
	double posted, computed;
	struct comm *c = m->comm;
	int i;

	if (c->rank == 1) {
		c->ops->waitall(c, m->request, m->message_cnt);
		map_tell(m, 0, MAP_TAG_ACK);
		return 0;
	}
	map_begin(m);
	for (i = 0; i < m->message_cnt; i++)
		c->ops->isend(c, &m->out[i], 1, MAP_TAG_DATA, &m->request[i]);
	posted = map_now(m);
	map_compute(m);
	computed = map_now(m);
	c->ops->waitall(c, m->request, m->message_cnt);
	map_in_calls(m, posted, map_now(m) - computed);
	map_own(m);
	map_hear(m, 1, MAP_TAG_ACK);
	return map_end(m);
}

static void params(struct map *m, struct result_point *point)
{
	result_param(point, "window", (uint64_t)m->message_cnt);
}

static const struct map_pattern pattern = {
	.sends_only = true,
	.ack_latency = true,
	.receives = 1U << 1,
	.sequence = sequence,
	.prepare = post_receives,
	.messages = messages,
	.params = params,
};

const struct bench bench_window_same = {
	.name = "window_same",
	.group = "overlap",
	.brief = "sender's side, several requests pending at once to one peer",
	.source = "after Denis & Trahay 2016, VII: several requests, same destination",
	.kind = RESULT_MAP,
	.ranks_min = 2,
	.ranks_max = 2,
	.method = &pattern,
	.run = map_run,
	.estimate_ns = map_estimate_ns,
};
