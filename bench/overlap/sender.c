/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Sender-side overlap (Denis & Trahay 2016, III.D): rank 0 posts an Isend, computes, waits, and
 * waits for the ACK that rank 1 sends after a blocking receive of the data. T_measured is the
 * whole time minus the ACK's latency, but no less than the time at which Wait had returned,
 * because an ACK that had arrived by then took no additional time.
 */
#include "overlap/map.h"

static const struct map_pattern pattern = {
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
	.kind = RESULT_MAP,
	.ranks_min = 2,
	.ranks_max = 2,
	.method = &pattern,
	.run = map_run,
	.estimate_ns = map_estimate_ns,
};
