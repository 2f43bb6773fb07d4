/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The operation decides which block goes where. Block i of rank r's input is for rank i, if there
 * are several.
 */
#include "collective/coll_data.h"

#include "lib/log.h"

/* Period of the summed numbers. Neighbours differ, so a shifted result is detected. */
#define PERIOD 1021

static enum comm_coll op_of(const struct map *m)
{
	return ((const struct coll_data *)m->pattern->data)->op;
}

/* ---- one message ---- */

void coll_bcast_make(struct map *m, void **in, void **out)
{
	uint32_t seed = map_seed(m, 0, 0);

	*in = *out = bench_buffer_new(m->bytes, COMM_CONTIGUOUS);
	bench_buffer_fill(*in, m->bytes, COMM_CONTIGUOUS, m->comm->rank == 0 ? seed : ~seed);
}

void coll_bcast_check(struct map *m, void *out)
{
	const struct comm_msg msg = {.buf = out, .bytes = m->bytes, .layout = COMM_CONTIGUOUS};

	if (m->comm->rank != 0)
		map_check_message(m, &msg, 0, 0);
}

/* ---- blocks ---- */

static bool to_each(enum comm_coll op)
{
	return op == COMM_ALLTOALL || op == COMM_ALLTOALLV || op == COMM_SCATTER;
}

/* Number of this rank's input blocks. */
static int in_cnt(const struct map *m)
{
	if (op_of(m) == COMM_SCATTER && m->comm->rank)
		return 0;
	return to_each(op_of(m)) ? m->comm->size : 1;
}

static int out_cnt(const struct map *m)
{
	if (op_of(m) == COMM_GATHER && m->comm->rank)
		return 0;
	return op_of(m) == COMM_SCATTER ? 1 : m->comm->size;
}

/* Finds the rank and the index of the input block that becomes output block i. */
static void origin_of(const struct map *m, int i, int *rank, int *idx)
{
	*rank = op_of(m) == COMM_SCATTER ? 0 : i;
	*idx = to_each(op_of(m)) ? m->comm->rank : 0;
}

static struct comm_msg block(const struct map *m, void *buf, int i)
{
	return (struct comm_msg){.buf = (char *)buf + (size_t)i * m->bytes,
				 .bytes = m->bytes,
				 .layout = COMM_CONTIGUOUS};
}

void coll_blocks_make(struct map *m, void **in, void **out)
{
	int i, rank, idx;

	*in = bench_buffer_new(m->bytes * (size_t)in_cnt(m), COMM_CONTIGUOUS);
	*out = bench_buffer_new(m->bytes * (size_t)out_cnt(m), COMM_CONTIGUOUS);
	for (i = 0; i < in_cnt(m); i++)
		bench_buffer_fill(block(m, *in, i).buf, m->bytes, COMM_CONTIGUOUS,
				  map_seed(m, m->comm->rank, i));
	for (i = 0; i < out_cnt(m); i++) {
		origin_of(m, i, &rank, &idx);
		bench_buffer_fill(block(m, *out, i).buf, m->bytes, COMM_CONTIGUOUS,
				  ~map_seed(m, rank, idx));
	}
}

void coll_blocks_check(struct map *m, void *out)
{
	struct comm_msg from;
	int i, rank, idx;

	for (i = 0; i < out_cnt(m); i++) {
		from = block(m, out, i);
		origin_of(m, i, &rank, &idx);
		map_check_message(m, &from, rank, idx);
	}
}

/* ---- sums ---- */

static double element(int rank, size_t idx)
{
	return (double)rank + (double)(idx % PERIOD);
}

void coll_sums_make(struct map *m, void **in, void **out)
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

void coll_sums_check(struct map *m, void *out)
{
	size_t i, cnt = m->bytes / sizeof(double);
	double *to = out, sum;
	int rank;

	if (op_of(m) == COMM_REDUCE && m->comm->rank)
		return;
	for (i = 0; i < cnt; i++) {
		for (sum = 0, rank = 0; rank < m->comm->size; rank++)
			sum += element(rank, i);
		if (to[i] != sum)
			die("wrong data: element %zu of the reduction of %zu bytes is %g, not %g",
			    i, m->bytes, to[i], sum);
		to[i] = -1;
	}
}
