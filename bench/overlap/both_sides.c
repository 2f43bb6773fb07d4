/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Both-sides overlap (Denis & Trahay 2016, III.D): rank 0 posts an Isend, computes, waits, then
 * posts an Irecv, computes, waits. Rank 1 does the same with the receive first. So sender and
 * receiver of each message compute while it travels. T_measured is half of the time. T_comm is the
 * same without computation, which is half a ping-pong of such calls.
 */
#include "overlap/map.h"

static double sequence(struct map *m)
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

static const struct map_pattern pattern = {
	.all_compute = true,
	.receives = 1U << 0 | 1U << 1,
	.sequence = sequence,
	.pingpong = true,
	.phases = 2,
};

const struct bench bench_both_sides = {
	.name = "both_sides",
	.group = "overlap",
	.brief = "overlap on both sides at once: Isend and Irecv, both with computation",
	.source = "Denis & Trahay 2016, III.D: both-sides overlap",
	.kind = RESULT_MAP,
	.ranks_min = 2,
	.ranks_max = 2,
	.method = &pattern,
	.run = map_run,
	.estimate_ns = map_estimate_ns,
};
