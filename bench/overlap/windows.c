/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Several requests pending at once, which Denis & Trahay 2016 (VII) left as future work: to the
 * same peer, to different peers, and around a ring of more than two ranks. T_comm is the same
 * without computation. bytes is the size of each message.
 */
#include "overlap/map.h"

/* After the posts: computes, waits for the first cnt requests, and reports the time in calls. */
static void compute_and_wait(struct map *m, int cnt)
{
	double posted = map_now(m), computed;

	map_compute(m);
	computed = map_now(m);
	m->comm->ops->waitall(m->comm, m->request, cnt);
	map_in_calls(m, posted, map_now(m) - computed);
}

static void window_params(struct map *m, struct result_point *point)
{
	result_param(point, "window", (uint64_t)m->message_cnt);
}

/* ---- window_same ---- */

/*
 * Several pending requests to the same peer, which Denis & Trahay 2016 (VII) left as future work.
 * Rank 0 posts a window of Isends, computes, waits for all of them and for one ACK. Rank 1 has
 * posted all its receives before. T_comm is the same window without computation, because a window
 * of messages takes another time than as many single messages. bytes is the size of each message.
 */
#define WINDOW_DEFAULT 16

static int window_same_messages(const struct bench_run *run)
{
	return run->opt->window ? (int)run->opt->window : WINDOW_DEFAULT;
}

static void window_same_post_receives(struct map *m)
{
	struct comm *c = m->comm;
	int i;

	for (i = 0; c->rank == 1 && i < m->message_cnt; i++)
		c->ops->irecv(c, &m->in[i], 0, MAP_TAG_DATA, &m->request[i]);
}

static double window_same_sequence(struct map *m)
{
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
	compute_and_wait(m, m->message_cnt);
	map_own(m);
	map_hear(m, 1, MAP_TAG_ACK);
	return map_end(m);
}

static const struct map_pattern window_same = {
	.sends_only = true,
	.ack_latency = true,
	.receives = 1U << 1,
	.sequence = window_same_sequence,
	.prepare = window_same_post_receives,
	.messages = window_same_messages,
	.params = window_params,
};

const struct bench bench_window_same = {
	.name = "window_same",
	.group = "overlap",
	.brief = "sender's side, several requests pending at once to one peer",
	.source = "after Denis & Trahay 2016, VII: several requests, same destination",
	MAP_PAIR(window_same),
};

/* ---- window_peers ---- */

/*
 * Several pending requests to different peers, which Denis & Trahay 2016 (VII) left as future
 * work. Rank 0 posts an Isend to every other rank, computes, waits for all of them and for an ACK
 * from each rank. T_comm is the same without computation. bytes is the size of each message.
 */
static int window_peers_messages(const struct bench_run *run)
{
	return run->comm->size - 1;
}

static double window_peers_sequence(struct map *m)
{
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
	compute_and_wait(m, m->message_cnt);
	map_own(m);
	for (i = 0; i < m->message_cnt; i++)
		map_hear(m, i + 1, MAP_TAG_ACK);
	return map_end(m);
}

static void window_peers_check(struct map *m)
{
	if (m->comm->rank != 0)
		map_check_message(m, &m->in[0], 0, m->comm->rank - 1);
}

static const struct map_pattern window_peers = {
	.sends_only = true,
	.ack_latency = true,
	.sequence = window_peers_sequence,
	.messages = window_peers_messages,
	.check = window_peers_check,
	.params = window_params,
};

const struct bench bench_window_peers = {
	.name = "window_peers",
	.group = "overlap",
	.brief = "sender's side, a request pending to every other rank at once",
	.source = "after Denis & Trahay 2016, VII: several requests, different destinations",
	.kind = RESULT_MAP,
	.ranks_min = 3,
	.method = &window_peers,
	.run = map_run,
	.estimate_ns = map_estimate_ns,
};

/* ---- ring ---- */

/*
 * More than two ranks, which Denis & Trahay 2016 (VII) left as future work. In a ring, every rank
 * posts an Irecv from its predecessor and an Isend to its successor, computes, and waits for both.
 * T_measured is the longest of the ranks' times, each from its own start. T_comm is the same
 * without computation.
 */
static int next_rank(const struct comm *c)
{
	return (c->rank + 1) % c->size;
}

static int rank_before(const struct comm *c)
{
	return (c->rank + c->size - 1) % c->size;
}

static double ring_sequence(struct map *m)
{
	struct comm *c = m->comm;

	map_begin(m);
	c->ops->irecv(c, &m->in[0], rank_before(c), MAP_TAG_DATA, &m->request[0]);
	c->ops->isend(c, &m->out[0], next_rank(c), MAP_TAG_DATA, &m->request[1]);
	compute_and_wait(m, 2);
	return map_longest(m, map_end(m));
}

static void ring_check(struct map *m)
{
	map_check_message(m, &m->in[0], rank_before(m->comm), 0);
}

static void ring_params(struct map *m, struct result_point *point)
{
	result_param(point, "ranks", (uint64_t)m->comm->size);
}

static const struct map_pattern ring = {
	.all_compute = true,
	.longest = true,
	.sequence = ring_sequence,
	.check = ring_check,
	.params = ring_params,
};

const struct bench bench_ring = {
	.name = "ring",
	.group = "overlap",
	.brief = "ring: every rank sends, receives and computes at the same time",
	.source = "after Denis & Trahay 2016, VII: more than two nodes",
	.kind = RESULT_MAP,
	.ranks_min = 3,
	.method = &ring,
	.run = map_run,
	.estimate_ns = map_estimate_ns,
};
