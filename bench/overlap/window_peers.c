/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Several pending requests to different peers, which Denis & Trahay 2016 (VII) left as future
 * work. Rank 0 posts an Isend to every other rank, computes, waits for all of them and for an ACK
 * from each rank. T_comm is the same without computation. bytes is the size of each message.
 */
#include "overlap/map.h"

static int messages(const struct bench_run *run)
{
	return run->comm->size - 1;
}

static double sequence(struct map *m)
{
	double posted, computed;
	struct comm *c = m->comm;
	int i;

	if (c->rank != 0) {
		c->ops->recv(c, &m->in[0], 0, MAP_TAG_DATA);
		map_tell(m, 0, MAP_TAG_ACK);
		return 0;
	}
	map_begin(m);
	for (i = 0; i < m->message_cnt; i++)
		c->ops->isend(c, &m->out[i], i + 1, MAP_TAG_DATA, &m->request[i]);
	posted = map_now(m);
	map_compute(m);
	computed = map_now(m);
	c->ops->waitall(c, m->request, m->message_cnt);
	map_in_calls(m, posted, map_now(m) - computed);
	map_own(m);
	for (i = 0; i < m->message_cnt; i++)
		map_hear(m, i + 1, MAP_TAG_ACK);
	return map_end(m);
}

static void check(struct map *m)
{
	if (m->comm->rank != 0)
		map_check_message(m, &m->in[0], 0, m->comm->rank - 1);
}

static void params(struct map *m, struct result_point *point)
{
	result_param(point, "window", (uint64_t)m->message_cnt);
}

static const struct map_pattern pattern = {
	.sends_only = true,
	.ack_latency = true,
	.sequence = sequence,
	.messages = messages,
	.check = check,
	.params = params,
};

const struct bench bench_window_peers = {
	.name = "window_peers",
	.group = "overlap",
	.brief = "sender's side, a request pending to every other rank at once",
	.source = "after Denis & Trahay 2016, VII: several requests, different destinations",
	.kind = RESULT_MAP,
	.ranks_min = 3,
	.method = &pattern,
	.run = map_run,
	.estimate_ns = map_estimate_ns,
};
