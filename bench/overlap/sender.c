/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Sender-side overlap (Denis & Trahay 2016, III.D): rank 0 posts an Isend, computes, waits, and waits for
 * the ACK that rank 1 sends when a blocking receive has got the data. T_measured is all of it less the ACK's latency, but no less than
 * until Wait had returned: an ACK that was there by then took no time.
 */
#include "overlap/map.h"

static const struct map_pattern pattern = {
	.sends_only = true,
	.ack_latency = true,
	.receives = 1U << 1,
	.sequence = map_sequence_send_ack,
	.pingpong = true,
};

static int sender_run(struct bench_run *run)
{
	return map_run(run, &pattern);
}

static uint64_t sender_estimate_ns(const struct bench_run *run)
{
	return map_estimate_ns(run, &pattern, 1);
}

const struct bench bench_sender = {
	.name = "sender",
	.group = "overlap",
	.brief = "overlap on the sender's side: Isend, computation, Wait, ACK",
	.source = "Denis & Trahay 2016, III.D: sender-side overlap",
	.kind = RESULT_MAP,
	.ranks_min = 2,
	.ranks_max = 2,
	.run = sender_run,
	.estimate_ns = sender_estimate_ns,
};
