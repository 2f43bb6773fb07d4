/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * MPI_Test sprinkled over the computation, as a library without progress of its own requires
 * (Denis & Trahay 2016, II.B): `sender`, with a Test after every TEST_INTERVAL_NS of computation.
 * The time in Tests is reported separately. T_comp is the same slices without Tests. OSU's formula
 * subtracts the Tests from its T_cpu to the same effect.
 */
#include "overlap/map.h"

#include "lib/log.h"

#include <stdlib.h>

/* Long compared with an unsuccessful Test (below 1 us), short compared with a large rendezvous. */
#define TEST_INTERVAL_NS 20000

/* Returns true if a Test found the request complete, so that there is nothing to wait for. */
static bool sprinkled_compute_slices(struct map *m, bool test)
{
	uint64_t left = m->compute_ns, slice;
	bool complete = !test;
	struct comm *c = m->comm;
	double since;

	while (left) {
		slice = left < TEST_INTERVAL_NS ? left : TEST_INTERVAL_NS;
		c->ops->compute(c, &m->run->opt->compute, slice);
		left -= slice;
		if (complete)
			continue;
		since = map_now(m);
		complete = c->ops->test(c, &m->request[0]);
		m->test_ns += map_now(m) - since;
	}
	return complete;
}

static double sprinkled_computation(struct map *m)
{
	if (m->comm->rank != 0)
		return 0;
	map_begin(m);
	sprinkled_compute_slices(m, false);
	return map_end(m);
}

static double sprinkled_sequence(struct map *m)
{
	struct comm *c = m->comm;
	double since;
	bool complete;

	if (c->rank == 1) {
		c->ops->recv(c, &m->in[0], 0, MAP_TAG_DATA);
		map_tell(m, 0, MAP_TAG_ACK);
		return 0;
	}
	map_begin(m);
	c->ops->isend(c, &m->out[0], 1, MAP_TAG_DATA, &m->request[0]);
	map_in_calls(m, map_now(m), 0);
	complete = sprinkled_compute_slices(m, true);
	since = map_now(m);
	if (!complete)
		c->ops->wait(c, &m->request[0]);
	/* Sandia's overhead is the processor time of all calls. */
	map_in_calls(m, m->test_ns, map_now(m) - since);
	map_own(m);
	map_hear(m, 1, MAP_TAG_ACK);
	return map_end(m);
}

static void sprinkled_params(struct map *m, struct result_point *point)
{
	(void)m;
	result_param(point, "test_interval_ns", TEST_INTERVAL_NS);
}

static const struct map_pattern sprinkled = {
	.ack_latency = true,
	.receives = 1U << 1,
	.sequence = sprinkled_sequence,
	.computation = sprinkled_computation,
	.params = sprinkled_params,
};

const struct bench bench_test_sprinkled = {
	.name = "test_sprinkled",
	.group = "overlap",
	.brief = "sender's side with a Test every 20 us of the computation",
	.source = "after Denis & Trahay 2016, II.B; OSU non-blocking collectives' -t",
	MAP_PAIR(sprinkled),
};

/* ---- progress_thread ---- */

/*
 * The effect of a thread that only calls the library for progress: `sender`, with such a thread on
 * both ranks. These threads run in the sequence only. T_comm and T_comp are measured without them,
 * so that their cost counts against them. The time comm_progress is T_comm with them.
 */

static void thread_prepare(struct map *m)
{
	m->comm->ops->progress_begin(m->comm);
}

static double thread_sequence(struct map *m)
{
	double ns = map_sequence_send_ack(m);

	m->comm->ops->progress_end(m->comm);
	return ns;
}

static void thread_size_begin(struct map *m)
{
	struct samples *progressed = xmalloc(sizeof(*progressed));

	samples_init(progressed);
	m->state = progressed;
}

static void thread_points_begin(struct map *m)
{
	map_reference_by(m, thread_sequence, m->state);
}

static void thread_size_end(struct map *m)
{
	samples_release(m->state);
	free(m->state);
	m->state = NULL;
}

static void thread_params(struct map *m, struct result_point *point)
{
	result_time(point, "comm_progress", m->state);
}

static const struct map_pattern thread = {
	.ack_latency = true,
	.receives = 1U << 1,
	.prepare = thread_prepare,
	.sequence = thread_sequence,
	.communication = map_sequence_send_ack,
	.size_begin = thread_size_begin,
	.size_end = thread_size_end,
	.points_begin = thread_points_begin,
	.params = thread_params,
};

const struct bench bench_progress_thread = {
	.name = "progress_thread",
	.group = "overlap",
	.brief = "sender's side with a thread on each rank that calls MPI for progress",
	.source = "after Denis & Trahay 2016, II.B and III.D",
	.needs = COMM_HAS_MULTIPLE | COMM_HAS_THREADS,
	.shares_cores = true,
	MAP_PAIR(thread),
};
