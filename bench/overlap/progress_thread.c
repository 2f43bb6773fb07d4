/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The effect of a thread that only calls the library for progress: `sender`, with such a thread on
 * both ranks. These threads run in the sequence only. T_comm and T_comp are measured without them,
 * so that their cost counts against them. The time comm_progress is T_comm with them.
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
	.needs = COMM_HAS_MULTIPLE | COMM_HAS_THREADS,
	.shares_cores = true,
	MAP_PAIR(pattern),
};
