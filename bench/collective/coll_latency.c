/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Measures only the blocking reference of an overlap map (coll_map.h). */
#include "collective/coll_latency.h"

/* Limit of a rank's blocks in one direction, as in maps, because ranks share a machine's memory. */
#define BLOCKS_BYTES_MAX (256UL << 20)

static double sample(struct bench_run *run, void *ctx)
{
	struct map *m = ctx;
	double ns;

	m->timing = false;
	ns = coll_map_blocking(m);
	if (run->opt->validate)
		coll_map_check(m);
	return ns;
}

void coll_latency_measure(struct bench_run *run, size_t bytes, struct samples *out)
{
	const struct coll_latency *l = run->bench->method;
	const struct map_pattern pattern = {.data = &l->data};
	struct map m = {
		.run = run,
		.comm = run->comm,
		.pattern = &pattern,
		.bytes = bytes,
		.clock_ns = measure_clock_ns(run->comm),
	};
	const struct measure_how how = {.sample = sample, .ctx = &m};

	coll_map_size_begin(&m);
	measure(run, &how, out);
	coll_map_size_end(&m);
}

uint64_t coll_latency_bytes_max(const struct bench_run *run)
{
	return BLOCKS_BYTES_MAX / (uint64_t)run->comm->size;
}

uint64_t coll_latency_blocks(const struct bench_run *run, size_t bytes)
{
	(void)bytes;
	return (uint64_t)run->comm->size;
}
