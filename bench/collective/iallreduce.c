/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Overlap of MPI_Iallreduce, a sum of doubles: here the library has to compute, too. Method: coll_map.h. The numbers are
 * small integers, so that their sum is exact in any order.
 */
#include "collective/coll_map.h"

#include "base/log.h"

/* Neighbours differ, so that a shifted result is seen. */
#define PERIOD 1021

static double element(int rank, size_t idx)
{
	return (double)rank + (double)(idx % PERIOD);
}

static void make(struct map *m, void **in, void **out)
{
	size_t i, cnt = m->bytes / sizeof(double);
	double *from, *to;

	from = *in = bench_buffer_new(m->bytes, COMM_CONTIGUOUS);
	to = *out = bench_buffer_new(m->bytes, COMM_CONTIGUOUS);
	for (i = 0; i < cnt; i++) {
		from[i] = element(m->comm->rank, i);
		to[i] = -1;
	}
}

static void check(struct map *m, void *out)
{
	size_t i, cnt = m->bytes / sizeof(double);
	double *to = out, sum;
	int rank;

	for (i = 0; i < cnt; i++) {
		for (sum = 0, rank = 0; rank < m->comm->size; rank++)
			sum += element(rank, i);
		if (to[i] != sum)
			die("wrong data: element %zu of the reduction of %zu bytes is %g, not %g",
			    i, m->bytes, to[i], sum);
		to[i] = -1;
	}
}

static const struct coll_data data = {.op = COMM_ALLREDUCE, .make = make, .check = check};

static const struct map_pattern pattern = {
	COLL_MAP_PATTERN,
	.data = &data,
	.unit = sizeof(double),
};

static int iallreduce_run(struct bench_run *run)
{
	return map_run(run, &pattern);
}

static uint64_t iallreduce_estimate_ns(const struct bench_run *run)
{
	return map_estimate_ns(run, &pattern, 1);
}

const struct bench bench_iallreduce = {
	.name = "iallreduce",
	.group = "collective",
	.brief = "overlap of a non-blocking reduction to all",
	.source = "after Denis & Trahay 2016, VII; OSU non-blocking collectives, IMB-NBC",
	.kind = RESULT_MAP,
	.ranks_min = 2,
	.run = iallreduce_run,
	.estimate_ns = iallreduce_estimate_ns,
};
