/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Sender-side overlap of non-contiguous data (Denis & Trahay 2016, III.D): like `sender`, with a
 * derived datatype of 32 chars of every 64 on both sides. T_comm uses the same datatype.
 */
#include "overlap/map.h"

static const struct map_pattern pattern = {
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
	.kind = RESULT_MAP,
	.ranks_min = 2,
	.ranks_max = 2,
	.method = &pattern,
	.run = map_run,
	.estimate_ns = map_estimate_ns,
};
