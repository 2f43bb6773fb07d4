/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Overlap of one message at a time between two ranks: the benchmarks of Denis & Trahay 2016, III.D,
 * then the sender's side with Tests, a progress thread, persistent and partitioned requests.
 * Non-contiguous data and CPU overhead are measured on the sender's side only, as in the paper.
 */
#include "overlap/map.h"

#include "lib/log.h"

#include <stdlib.h>

/* ---- sender ---- */

/*
 * Sender-side overlap (Denis & Trahay 2016, III.D): rank 0 posts an Isend, computes, waits, and
 * waits for the ACK that rank 1 sends after a blocking receive of the data. T_measured is the
 * whole time minus the ACK's latency, but no less than the time at which Wait had returned,
 * because an ACK that had arrived by then took no additional time.
 */
#define SENDER(layout_of)                                                                \
	{                                                                                \
		.layout = (layout_of), .sends_only = true, .ack_latency = true,          \
		.receives = 1U << 1, .sequence = map_sequence_send_ack, .pingpong = true \
	}

static const struct map_pattern sender = SENDER(COMM_CONTIGUOUS);

const struct bench bench_sender = {
	.name = "sender",
	.brief = "overlap on the sender's side: Isend, computation, Wait, ACK",
	.source = "Denis & Trahay 2016, III.D: sender-side overlap",
	MAP_PAIR(sender),
};

/* ---- noncontig ---- */

/*
 * Sender-side overlap of non-contiguous data (Denis & Trahay 2016, III.D): like `sender`, with a
 * derived datatype of 32 chars of every 64 on both sides. T_comm uses the same datatype.
 */
static const struct map_pattern noncontig = SENDER(COMM_STRIDED);

const struct bench bench_noncontig = {
	.name = "noncontig",
	.brief = "sender's side, data of 32 chars of every 64 by a derived datatype",
	.source = "Denis & Trahay 2016, III.D: non-contiguous",
	MAP_PAIR(noncontig),
};

/* ---- receiver ---- */

/*
 * Receiver-side overlap (Denis & Trahay 2016, III.D): rank 0 sends rank 1 a CTS (clear to send, no
 * data), posts an Irecv, computes, waits. Rank 1 sends with a blocking call. T_measured is the
 * whole time minus the CTS's latency, but no less than the time at which the computation was done,
 * because a CTS that travelled beside it took no additional time. If the library moves nothing
 * beside a computation and Wait has to wait, the CTS still travelled beside the computation. The
 * ratio is then too low, by up to that latency over the shorter time.
 */
static double receiver_sequence(struct map *m)
{
	if (m->comm->rank == 1) {
		comm_await(m->comm, 0, MAP_TAG_CTS);
		m->comm->ops->send(m->comm, &m->out[0], 0, MAP_TAG_DATA);
		return 0;
	}
	map_begin(m);
	comm_signal(m->comm, 1, MAP_TAG_CTS);
	map_overlap_recv(m, 1);
	return map_end(m);
}

static const struct map_pattern receiver = {
	.ack_latency = true,
	.receives = 1U << 0,
	.sequence = receiver_sequence,
	.pingpong = true,
};

const struct bench bench_receiver = {
	.name = "receiver",
	.brief = "overlap on the receiver's side: Irecv, computation, Wait",
	.source = "Denis & Trahay 2016, III.D: receiver-side overlap",
	MAP_PAIR(receiver),
};

/* ---- both_sides ---- */

/*
 * Both-sides overlap (Denis & Trahay 2016, III.D): rank 0 posts an Isend, computes, waits, then
 * posts an Irecv, computes, waits. Rank 1 does the same with the receive first. So sender and
 * receiver of each message compute while it travels. T_measured is half of the time. T_comm is the
 * same without computation, which is half a ping-pong of such calls.
 */
static double both_sides_sequence(struct map *m)
{
	if (m->comm->rank == 1) {
		map_compute_before(m);
		map_overlap_recv(m, 0);
		map_overlap_send(m, 0);
		return 0;
	}
	map_begin(m);
	map_overlap_send(m, 1);
	map_overlap_recv(m, 1);
	m->in_calls_ns /= 2;
	m->wait_ns /= 2;
	return map_end(m) / 2;
}

static const struct map_pattern both_sides = {
	.all_compute = true,
	.receives = 1U << 0 | 1U << 1,
	.sequence = both_sides_sequence,
	.pingpong = true,
	.phases = 2,
};

const struct bench bench_both_sides = {
	.name = "both_sides",
	.brief = "overlap on both sides at once: Isend and Irecv, both with computation",
	.source = "Denis & Trahay 2016, III.D: both-sides overlap",
	MAP_PAIR(both_sides),
};

/* ---- cpu_overhead ---- */

/*
 * CPU overhead (Denis & Trahay 2016, III.D): rank 0 posts an Isend, computes and waits, without an
 * ACK. This shows whether the communication delayed the computation, not whether the data arrived.
 * T_comm is the sender's time in a blocking Send.
 */
static double cpu_overhead_sequence(struct map *m)
{
	if (m->comm->rank == 1) {
		m->comm->ops->recv(m->comm, &m->in[0], 0, MAP_TAG_DATA);
		return 0;
	}
	map_begin(m);
	map_overlap_send(m, 1);
	return map_end(m);
}

static double cpu_overhead_send(struct map *m)
{
	if (m->comm->rank == 1) {
		m->comm->ops->recv(m->comm, &m->in[0], 0, MAP_TAG_DATA);
		return 0;
	}
	map_begin(m);
	m->comm->ops->send(m->comm, &m->out[0], 1, MAP_TAG_DATA);
	return map_end(m);
}

static const struct map_pattern cpu_overhead = {
	.sends_only = true,
	.receives = 1U << 1,
	.sequence = cpu_overhead_sequence,
	.communication = cpu_overhead_send,
};

const struct bench bench_cpu_overhead = {
	.name = "cpu_overhead",
	.brief = "what a non-blocking send takes of the sender's processor",
	.source = "Denis & Trahay 2016, III.D: CPU overhead",
	MAP_PAIR(cpu_overhead),
};

/* ---- test_sprinkled ---- */

/*
 * MPI_Test sprinkled over the computation, as a library without progress of its own requires
 * (Denis & Trahay 2016, II.B): `sender`, with a Test after every TEST_INTERVAL_NS of computation.
 * The time in Tests is reported separately. T_comp is the same slices without Tests. OSU's formula
 * subtracts the Tests from its T_cpu to the same effect.
 */

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
		comm_signal(c, 0, MAP_TAG_ACK);
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
	comm_await(c, 1, MAP_TAG_ACK);
	return map_end(m);
}

static void sprinkled_params(struct map *m, struct result_point *point)
{
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
	m->state = xcalloc(1, sizeof(struct samples));
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
	.brief = "sender's side with a thread on each rank that calls MPI for progress",
	.source = "after Denis & Trahay 2016, II.B and III.D",
	.needs = COMM_HAS_MULTIPLE | COMM_HAS_THREADS,
	.shares_cores = true,
	MAP_PAIR(thread),
};

/* ---- persistent ---- */

/*
 * Sender-side overlap with persistent requests: like `sender`, but both sides create their
 * requests once for each message size and start them for each sample. T_comm is the same without
 * computation.
 */

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

	if (c->rank == 0)
		map_begin(m);
	c->ops->start(c, &m->request[0]);
	if (c->rank == 1) {
		c->ops->wait(c, &m->request[0]);
		comm_signal(c, 0, MAP_TAG_ACK);
		return 0;
	}
	map_compute_and_wait(m, 0);
	map_own(m);
	comm_await(c, 1, MAP_TAG_ACK);
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
	if (m->comm->rank != 0)
		return 0;
	map_begin(m);
	for (int part = 0; part < PARTS; part++)
		compute_slice(m, part);
	return map_end(m);
}

static double partitioned_sequence(struct map *m)
{
	struct comm *c = m->comm;
	double since;

	if (c->rank == 0)
		map_begin(m);
	c->ops->start(c, &m->request[0]);
	if (c->rank == 1) {
		c->ops->wait(c, &m->request[0]);
		comm_signal(c, 0, MAP_TAG_ACK);
		return 0;
	}
	map_in_calls(m, map_now(m), 0);
	for (int part = 0; part < PARTS; part++) {
		compute_slice(m, part);
		since = map_now(m);
		c->ops->pready(c, &m->request[0], part);
		map_in_calls(m, map_now(m) - since, 0);
	}
	since = map_now(m);
	c->ops->wait(c, &m->request[0]);
	map_in_calls(m, 0, map_now(m) - since);
	map_own(m);
	comm_await(c, 1, MAP_TAG_ACK);
	return map_end(m);
}

static void partitioned_params(struct map *m, struct result_point *point)
{
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
	.brief = "sender's side, a message sent in parts as they are computed",
	.source = "after Denis & Trahay 2016, III.D, with MPI 4.0's partitioned requests",
	.needs = COMM_HAS_PARTITIONED,
	MAP_PAIR(partitioned),
};
