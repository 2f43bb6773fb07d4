/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Overlap of MPI_Ialltoall; bytes is each rank's block for each other one. Method: coll_map.h. */
#include "collective/coll_map.h"

static int messages(const struct bench_run *run)
{
	return run->comm->size;
}

static struct comm_msg block(const struct map *m, void *buf, int peer)
{
	return (struct comm_msg){.buf = (char *)buf + (size_t)peer * m->bytes,
				 .bytes = m->bytes,
				 .layout = COMM_CONTIGUOUS};
}

static void make(struct map *m, void **in, void **out)
{
	size_t bytes = m->bytes * (size_t)m->comm->size;
	int peer, rank = m->comm->rank;
	struct comm_msg to, from;

	*in = bench_buffer_new(bytes, COMM_CONTIGUOUS);
	*out = bench_buffer_new(bytes, COMM_CONTIGUOUS);
	for (peer = 0; peer < m->comm->size; peer++) {
		to = block(m, *in, peer);
		from = block(m, *out, peer);
		bench_buffer_fill(to.buf, to.bytes, to.layout, map_seed(m, rank, peer));
		bench_buffer_fill(from.buf, from.bytes, from.layout, ~map_seed(m, peer, rank));
	}
}

static void check(struct map *m, void *out)
{
	struct comm_msg from;
	int peer;

	for (peer = 0; peer < m->comm->size; peer++) {
		from = block(m, out, peer);
		map_check_message(m, &from, peer, m->comm->rank);
	}
}

static const struct coll_data data = {.op = COMM_ALLTOALL, .make = make, .check = check};

static const struct map_pattern pattern = {
	COLL_MAP_PATTERN,
	.data = &data,
	.messages = messages,
};

static int ialltoall_run(struct bench_run *run)
{
	return map_run(run, &pattern);
}

static uint64_t ialltoall_estimate_ns(const struct bench_run *run)
{
	return map_estimate_ns(run, &pattern, 1);
}

const struct bench bench_ialltoall = {
	.name = "ialltoall",
	.group = "collective",
	.brief = "overlap of a non-blocking all-to-all",
	.source = "after Denis & Trahay 2016, VII; OSU non-blocking collectives, IMB-NBC",
	.kind = RESULT_MAP,
	.ranks_min = 2,
	.run = ialltoall_run,
	.estimate_ns = ialltoall_estimate_ns,
};
