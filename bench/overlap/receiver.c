/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Receiver-side overlap (Denis & Trahay 2016, III.D): rank 0 sends rank 1 a CTS (clear to send, no
 * data), posts an Irecv, computes, waits. Rank 1 sends with a blocking call. T_measured is the
 * whole time minus the CTS's latency, but no less than the time at which the computation was done,
 * because a CTS that travelled beside it took no additional time. If the library moves nothing
 * beside a computation and Wait has to wait, the CTS still travelled beside the computation. The
 * ratio is then too low, by up to that latency over the shorter time.
 */
#include "overlap/map.h"

static double sequence(struct map *m)
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

static const struct map_pattern pattern = {
	.ack_latency = true,
	.receives = 1U << 0,
	.sequence = sequence,
	.pingpong = true,
};

const struct bench bench_receiver = {
	.name = "receiver",
	.group = "overlap",
	.brief = "overlap on the receiver's side: Irecv, computation, Wait",
	.source = "Denis & Trahay 2016, III.D: receiver-side overlap",
	.kind = RESULT_MAP,
	.ranks_min = 2,
	.ranks_max = 2,
	.method = &pattern,
	.run = map_run,
	.estimate_ns = map_estimate_ns,
};
