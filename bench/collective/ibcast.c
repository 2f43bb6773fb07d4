/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Overlap of MPI_Ibcast from rank 0. Method: coll_map.h. */
#include "collective/coll_map.h"

static void make(struct map *m, void **in, void **out)
{
	uint32_t seed = map_seed(m, 0, 0);

	*in = *out = bench_buffer_new(m->bytes, COMM_CONTIGUOUS);
	bench_buffer_fill(*in, m->bytes, COMM_CONTIGUOUS, m->comm->rank == 0 ? seed : ~seed);
}

static void check(struct map *m, void *out)
{
	const struct comm_msg msg = {.buf = out, .bytes = m->bytes, .layout = COMM_CONTIGUOUS};

	if (m->comm->rank != 0)
		map_check_message(m, &msg, 0, 0);
}

static const struct coll_data data = {.op = COMM_BCAST, .make = make, .check = check};

static const struct map_pattern pattern = {
	COLL_MAP_PATTERN,
	.data = &data,
};

const struct bench bench_ibcast = {
	.name = "ibcast",
	.group = "collective",
	.brief = "overlap of a non-blocking broadcast",
	.source = "after Denis & Trahay 2016, VII; OSU non-blocking collectives, IMB-NBC",
	.kind = RESULT_MAP,
	.ranks_min = 2,
	.method = &pattern,
	.run = map_run,
	.estimate_ns = map_estimate_ns,
};
