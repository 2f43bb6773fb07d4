/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * CPU overhead (Denis & Trahay 2016, III.D): rank 0 posts an Isend, computes and waits, without an
 * ACK. This shows whether the communication delayed the computation, not whether the data arrived.
 * T_comm is the sender's time in a blocking Send.
 */
#include "overlap/map.h"

static double sequence(struct map *m)
{
	if (m->comm->rank == 1) {
		m->comm->ops->recv(m->comm, &m->in[0], 0, MAP_TAG_DATA);
		return 0;
	}
	map_begin(m);
	map_overlap_send(m, 1);
	return map_end(m);
}

static double blocking_send(struct map *m)
{
	if (m->comm->rank == 1) {
		m->comm->ops->recv(m->comm, &m->in[0], 0, MAP_TAG_DATA);
		return 0;
	}
	map_begin(m);
	m->comm->ops->send(m->comm, &m->out[0], 1, MAP_TAG_DATA);
	return map_end(m);
}

static const struct map_pattern pattern = {
	.sends_only = true,
	.receives = 1U << 1,
	.sequence = sequence,
	.communication = blocking_send,
};

const struct bench bench_cpu_overhead = {
	.name = "cpu_overhead",
	.group = "overlap",
	.brief = "what a non-blocking send takes of the sender's processor",
	.source = "Denis & Trahay 2016, III.D: CPU overhead",
	.kind = RESULT_MAP,
	.ranks_min = 2,
	.ranks_max = 2,
	.method = &pattern,
	.run = map_run,
	.estimate_ns = map_estimate_ns,
};
