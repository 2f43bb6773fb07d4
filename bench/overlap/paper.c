/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The overlap benchmarks of Denis & Trahay 2016, III.D, between two ranks. Non-contiguous data and
 * CPU overhead are measured on the sender's side only, as in the paper.
 */
#include "overlap/map.h"

/* ---- sender ---- */

/*
 * Sender-side overlap (Denis & Trahay 2016, III.D): rank 0 posts an Isend, computes, waits, and
 * waits for the ACK that rank 1 sends after a blocking receive of the data. T_measured is the
 * whole time minus the ACK's latency, but no less than the time at which Wait had returned,
 * because an ACK that had arrived by then took no additional time.
 */
static const struct map_pattern sender = {
	.sends_only = true,
	.ack_latency = true,
	.receives = 1U << 1,
	.sequence = map_sequence_send_ack,
	.pingpong = true,
};

const struct bench bench_sender = {
	.name = "sender",
	.group = "overlap",
	.brief = "overlap on the sender's side: Isend, computation, Wait, ACK",
	.source = "Denis & Trahay 2016, III.D: sender-side overlap",
	MAP_PAIR(sender),
};

/* ---- noncontig ---- */

/*
 * Sender-side overlap of non-contiguous data (Denis & Trahay 2016, III.D): like `sender`, with a
 * derived datatype of 32 chars of every 64 on both sides. T_comm uses the same datatype.
 */
static const struct map_pattern noncontig = {
	.sends_only = true,
	.layout = COMM_STRIDED,
	.ack_latency = true,
	.receives = 1U << 1,
	.sequence = map_sequence_send_ack,
	.pingpong = true,
};

const struct bench bench_noncontig = {
	.name = "noncontig",
	.group = "overlap",
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
		map_hear(m, 0, MAP_TAG_CTS);
		m->comm->ops->send(m->comm, &m->out[0], 0, MAP_TAG_DATA);
		return 0;
	}
	map_begin(m);
	map_tell(m, 1, MAP_TAG_CTS);
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
	.group = "overlap",
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
	.group = "overlap",
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
	.group = "overlap",
	.brief = "what a non-blocking send takes of the sender's processor",
	.source = "Denis & Trahay 2016, III.D: CPU overhead",
	MAP_PAIR(cpu_overhead),
};
