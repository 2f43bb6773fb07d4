/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Several messages at once, which Denis & Trahay 2016 (VII) left as future work: to the same peer,
 * to different peers, around a ring of more than two ranks, and from several threads. T_comm is the
 * same without computation. bytes is the size of each message.
 */
#include "overlap/map.h"

#include "lib/log.h"

#include <stdlib.h>

/* After the posts, computes, waits for the first cnt requests, and reports the time in calls. */
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
 * Rank 0 posts a window of Isends, computes, waits for all of them and for one ACK. Rank 1 has
 * posted all its receives before. T_comm is the same window without computation, because a window
 * of messages takes another time than as many single messages.
 */
#define WINDOW_DEFAULT 16

static int window_same_messages(const struct bench_run *run)
{
	return run->opt->window ? (int)run->opt->window : WINDOW_DEFAULT;
}

static void window_same_post_receives(struct map *m)
{
	struct comm *c = m->comm;

	for (int i = 0; c->rank == 1 && i < m->message_cnt; i++)
		c->ops->irecv(c, &m->in[i], 0, MAP_TAG_DATA, &m->request[i]);
}

static double window_same_sequence(struct map *m)
{
	struct comm *c = m->comm;

	if (c->rank == 1) {
		c->ops->waitall(c, m->request, m->message_cnt);
		comm_signal(c, 0, MAP_TAG_ACK);
		return 0;
	}
	map_begin(m);
	for (int i = 0; i < m->message_cnt; i++)
		c->ops->isend(c, &m->out[i], 1, MAP_TAG_DATA, &m->request[i]);
	compute_and_wait(m, m->message_cnt);
	map_own(m);
	comm_await(c, 1, MAP_TAG_ACK);
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
	.brief = "sender's side, several requests pending at once to one peer",
	.source = "after Denis & Trahay 2016, VII: several requests, same destination",
	MAP_PAIR(window_same),
};

/* ---- window_peers ---- */

/* Rank 0 posts an Isend to every other rank, computes, waits for all and for an ACK from each. */
static int window_peers_messages(const struct bench_run *run)
{
	return run->comm->size - 1;
}

static double window_peers_sequence(struct map *m)
{
	struct comm *c = m->comm;

	if (c->rank != 0) {
		c->ops->recv(c, &m->in[0], 0, MAP_TAG_DATA);
		comm_signal(c, 0, MAP_TAG_ACK);
		return 0;
	}
	map_begin(m);
	for (int i = 0; i < m->message_cnt; i++)
		c->ops->isend(c, &m->out[i], i + 1, MAP_TAG_DATA, &m->request[i]);
	compute_and_wait(m, m->message_cnt);
	map_own(m);
	for (int i = 0; i < m->message_cnt; i++)
		comm_await(c, i + 1, MAP_TAG_ACK);
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
	.brief = "sender's side, a request pending to every other rank at once",
	.source = "after Denis & Trahay 2016, VII: several requests, different destinations",
	MAP_RANKS(window_peers, 3, 0),
};

/* ---- ring ---- */

/*
 * In a ring, every rank posts an Irecv from its predecessor and an Isend to its successor,
 * computes, and waits for both. T_measured is the longest of the ranks' times, each from its own
 * start.
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
	.brief = "ring: every rank sends, receives and computes at the same time",
	.source = "after Denis & Trahay 2016, VII: more than two nodes",
	MAP_RANKS(ring, 3, 0),
};

/* ---- multithreaded ---- */

/*
 * MPI_THREAD_MULTIPLE. Several threads of rank 0 each post an Isend to their counterpart on
 * rank 1, compute, wait, and wait for its ACK, all at once. T_measured is from the first thread's
 * start to the last one's end. T_comm is the same without computation, T_comp that of the threads
 * alone. bytes is the size of each thread's message. With fewer cores than threads the computation
 * itself takes longer.
 */

/* Enough to compete for the library's locks. Users can ask for more. */
#define THREADS_DEFAULT 2

struct thread_times {
	uint64_t start_ns, done_ns, end_ns;
	uint64_t post_ns, wait_ns; /* only in samples that time the calls */
};

struct threads {
	struct map *map;
	struct thread_times *times; /* of each thread */
};

/* Only tags separate the threads' messages. */
static int thread_tag(int thread, enum map_tag tag)
{
	return (thread + 1) * 0x100 + (int)tag;
}

static int multithreaded_messages(const struct bench_run *run)
{
	return run->opt->threads_max ? (int)run->opt->threads_max : THREADS_DEFAULT;
}

/*
 * Reports ready first. Its sender's clock starts when that message arrives (III.A, for each
 * thread).
 */
static void receive_thread(struct map *m, int thread)
{
	struct comm *c = m->comm;

	comm_signal(c, 0, thread_tag(thread, MAP_TAG_CTS));
	c->ops->recv(c, &m->in[thread], 0, thread_tag(thread, MAP_TAG_DATA));
	comm_signal(c, 0, thread_tag(thread, MAP_TAG_ACK));
}

static void overlap_thread(void *arg, int thread)
{
	struct threads *all = arg;
	struct thread_times *t = &all->times[thread];
	struct map *m = all->map;
	struct comm *c = m->comm;
	uint64_t posted = 0, computed = 0;
	uint64_t (*now_ns)(struct comm *) = c->ops->now_ns; /* map_now supports one thread only */
	bool detail = m->detail;

	if (c->rank == 1) {
		receive_thread(m, thread);
		return;
	}
	comm_await(c, 1, thread_tag(thread, MAP_TAG_CTS));
	map_compute_before(m);
	t->start_ns = now_ns(c);
	c->ops->isend(c, &m->out[thread], 1, thread_tag(thread, MAP_TAG_DATA), &m->request[thread]);
	if (detail)
		posted = now_ns(c);
	map_compute(m);
	if (detail)
		computed = now_ns(c);
	c->ops->wait(c, &m->request[thread]);
	t->done_ns = now_ns(c);
	if (detail) {
		t->post_ns = posted - t->start_ns;
		t->wait_ns = t->done_ns - computed;
	}
	comm_await(c, 1, thread_tag(thread, MAP_TAG_ACK));
	t->end_ns = now_ns(c);
}

/* Times from the first thread's start to the last one's end, without the creation of threads. */
static void threads_run(struct map *m, void (*fn)(void *arg, int thread), struct thread_times *sum)
{
	struct thread_times *t = xcalloc((size_t)m->message_cnt, sizeof(*t));
	struct threads all = {.map = m, .times = t};

	m->comm->ops->threads_run(m->comm, m->message_cnt, fn, &all);
	*sum = t[0];
	for (int i = 1; i < m->message_cnt; i++) {
		sum->start_ns = t[i].start_ns < sum->start_ns ? t[i].start_ns : sum->start_ns;
		sum->done_ns = t[i].done_ns > sum->done_ns ? t[i].done_ns : sum->done_ns;
		sum->end_ns = t[i].end_ns > sum->end_ns ? t[i].end_ns : sum->end_ns;
		sum->post_ns += t[i].post_ns;
		sum->wait_ns += t[i].wait_ns;
	}
	free(t);
}

static double multithreaded_sequence(struct map *m)
{
	double threads = (double)m->message_cnt;
	struct thread_times t;

	threads_run(m, overlap_thread, &t);
	map_in_calls(m, (double)t.post_ns / threads - m->clock_ns,
		     (double)t.wait_ns / threads - m->clock_ns);
	m->own_ns = (double)(t.done_ns - t.start_ns) - m->clock_ns;
	return (double)(t.end_ns - t.start_ns) - m->clock_ns;
}

static void compute_thread(void *arg, int thread)
{
	struct threads *all = arg;
	struct thread_times *t = &all->times[thread];
	struct map *m = all->map;

	/* The peer's thread waits for a message, as in the sequence. */
	if (m->comm->rank == 1) {
		comm_signal(m->comm, 0, thread_tag(thread, MAP_TAG_CTS));
		comm_await(m->comm, 0, thread_tag(thread, MAP_TAG_COMPUTED));
		return;
	}
	comm_await(m->comm, 1, thread_tag(thread, MAP_TAG_CTS));
	t->start_ns = m->comm->ops->now_ns(m->comm);
	map_compute(m);
	t->end_ns = m->comm->ops->now_ns(m->comm);
	comm_signal(m->comm, 1, thread_tag(thread, MAP_TAG_COMPUTED));
}

static double multithreaded_computation(struct map *m)
{
	struct thread_times t;

	threads_run(m, compute_thread, &t);
	return (double)(t.end_ns - t.start_ns) - m->clock_ns;
}

static void multithreaded_params(struct map *m, struct result_point *point)
{
	result_param(point, "threads", (uint64_t)m->message_cnt);
}

static const struct map_pattern multithreaded = {
	.sends_only = true,
	.ack_latency = true,
	.receives = 1U << 1,
	.sequence = multithreaded_sequence,
	.computation = multithreaded_computation,
	.messages = multithreaded_messages,
	.params = multithreaded_params,
};

const struct bench bench_multithreaded = {
	.name = "multithreaded",
	.brief = "sender's side in several threads at once, each with a message of its own",
	.source = "after Denis & Trahay 2016, VII: MPI_THREAD_MULTIPLE",
	.needs = COMM_HAS_MULTIPLE | COMM_HAS_THREADS,
	.shares_cores = true,
	MAP_PAIR(multithreaded),
};
