/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What a thread that does nothing but call the library for progress makes of it: `sender`, with such a thread on both
 * ranks. They run in the sequence only: T_comm and T_comp are without them, so that what they cost counts against them; the
 * time comm_progress is T_comm with them.
 */
#include "overlap/map.h"

#include "lib/log.h"

#include <stdlib.h>

static void prepare(struct map *m)
{
	m->comm->ops->progress_begin(m->comm);
}

static double sequence(struct map *m)
{
	double ns = map_sequence_send_ack(m);

	m->comm->ops->progress_end(m->comm);
	return ns;
}

static void size_begin(struct map *m)
{
	struct samples *progressed = xmalloc(sizeof(*progressed));

	samples_init(progressed);
	m->state = progressed;
}

static void points_begin(struct map *m)
{
	map_reference_by(m, sequence, m->state);
}

static void size_end(struct map *m)
{
	samples_release(m->state);
	free(m->state);
	m->state = NULL;
}

static void params(struct map *m, struct result_point *point)
{
	result_time(point, "comm_progress", m->state);
}

static const struct map_pattern pattern = {
	.ack_latency = true,
	.receives = 1U << 1,
	.prepare = prepare,
	.sequence = sequence,
	.communication = map_sequence_send_ack,
	.size_begin = size_begin,
	.size_end = size_end,
	.points_begin = points_begin,
	.params = params,
};

const struct bench bench_progress_thread = {
	.name = "progress_thread",
	.group = "overlap",
	.brief = "sender's side with a thread on each rank that calls MPI for progress",
	.source = "after Denis & Trahay 2016, II.B and III.D",
	.kind = RESULT_MAP,
	.ranks_min = 2,
	.ranks_max = 2,
	.needs = COMM_HAS_MULTIPLE | COMM_HAS_THREADS,
	.shares_cores = true,
	.method = &pattern,
	.run = map_run,
	.estimate_ns = map_estimate_ns,
};
