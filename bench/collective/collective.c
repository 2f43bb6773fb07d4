/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Collectives: the overlap of the non-blocking ones over message size × computation time, and the
 * time of the blocking ones over message size. bytes is each rank's block where there are several.
 *
 * For an overlap map every rank posts the operation, computes and waits. T_comm is post and wait
 * without computation (as in OSU), so that the ratio shows overlap alone. The time `blocking` is
 * the blocking collective, which mpiperf's figure uses. The latency benchmarks measure only that;
 * their algorithm can be chosen (core/algorithm.h).
 *
 * All ranks start at the same moment by their clocks (start_window.h). A chain of messages that
 * starts them one after the other would be hidden in the collective and look like overlap. A
 * broadcast's root may be done long before the last rank has the data, so the longest time of all
 * ranks counts.
 */
#include "overlap/map.h"

#include "lib/log.h"
#include "core/curve.h"
#include "core/start_window.h"

#include <math.h>
#include <stdlib.h>

/* Limit of a rank's blocks in one direction, as in maps, because ranks share a machine's memory. */
#define BLOCKS_BYTES_MAX (256UL << 20)

/* Period of the summed numbers. Neighbours differ, so a shifted result is detected. */
#define PERIOD 1021

struct coll_data {
	enum comm_coll op;
	/*
	 * Allocates and fills this rank's buffers for m->bytes, which may be the same; null: no
	 * data.
	 */
	void (*make)(struct map *m, void **in, void **out);
	void (*check)(struct map *m, void *out);
};

/* ---- data ---- */

static enum comm_coll op_of(const struct map *m)
{
	return ((const struct coll_data *)m->pattern->data)->op;
}

/* One buffer of m->bytes, with rank 0's data for all. */
static void coll_bcast_make(struct map *m, void **in, void **out)
{
	uint32_t seed = map_seed(m, 0, 0);

	*in = *out = bench_buffer_new(m->bytes, COMM_CONTIGUOUS);
	bench_buffer_fill(*in, m->bytes, COMM_CONTIGUOUS, m->comm->rank == 0 ? seed : ~seed);
}

static void coll_bcast_check(struct map *m, void *out)
{
	const struct comm_msg msg = {.buf = out, .bytes = m->bytes, .layout = COMM_CONTIGUOUS};

	if (m->comm->rank != 0)
		map_check_message(m, &msg, 0, 0);
}

/* ---- blocks of m->bytes: all-to-all, all-gather, gather to rank 0, scatter from rank 0 ---- */

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

static void coll_blocks_make(struct map *m, void **in, void **out)
{
	int rank, idx;

	*in = bench_buffer_new(m->bytes * (size_t)in_cnt(m), COMM_CONTIGUOUS);
	*out = bench_buffer_new(m->bytes * (size_t)out_cnt(m), COMM_CONTIGUOUS);
	for (int i = 0; i < in_cnt(m); i++)
		bench_buffer_fill(block(m, *in, i).buf, m->bytes, COMM_CONTIGUOUS,
				  map_seed(m, m->comm->rank, i));
	for (int i = 0; i < out_cnt(m); i++) {
		origin_of(m, i, &rank, &idx);
		bench_buffer_fill(block(m, *out, i).buf, m->bytes, COMM_CONTIGUOUS,
				  ~map_seed(m, rank, idx));
	}
}

static void coll_blocks_check(struct map *m, void *out)
{
	struct comm_msg from;
	int rank, idx;

	for (int i = 0; i < out_cnt(m); i++) {
		from = block(m, out, i);
		origin_of(m, i, &rank, &idx);
		map_check_message(m, &from, rank, idx);
	}
}

/* ---- sums of small integers, exact in any order, for reductions to rank 0 and to all ---- */

static double element(int rank, size_t idx)
{
	return (double)rank + (double)(idx % PERIOD);
}

static void coll_sums_make(struct map *m, void **in, void **out)
{
	size_t cnt = m->bytes / sizeof(double);
	double *from, *to;

	from = *in = bench_buffer_new(m->bytes, COMM_CONTIGUOUS);
	to = *out = bench_buffer_new(m->bytes, COMM_CONTIGUOUS);
	for (size_t i = 0; i < cnt; i++) {
		from[i] = element(m->comm->rank, i);
		to[i] = -1;
	}
}

static void coll_sums_check(struct map *m, void *out)
{
	size_t cnt = m->bytes / sizeof(double);
	double *to = out, sum;
	int rank;

	if (op_of(m) == COMM_REDUCE && m->comm->rank)
		return;
	for (size_t i = 0; i < cnt; i++) {
		for (sum = 0, rank = 0; rank < m->comm->size; rank++)
			sum += element(rank, i);
		if (to[i] != sum)
			die("wrong data: element %zu of the reduction of %zu bytes is %g, not %g",
			    i, m->bytes, to[i], sum);
		to[i] = -1;
	}
}

/* ---- overlap ---- */

/* The method of a latency benchmark. */
struct coll_latency {
	struct curve curve; /* must be first, because curve_run reads it */
	const struct coll_data *data;
};

struct coll_state {
	void *in, *out; /* owned; may be the same */
	struct start_window window;
	uint64_t clock_error_ns; /* rank 0 */
};

static void coll_size_begin(struct map *m)
{
	const struct coll_data *data = m->pattern->data;
	struct coll_state *s = xcalloc(1, sizeof(*s));

	if (data->make)
		data->make(m, &s->in, &s->out);
	start_window_init(m->comm, &s->window);
	s->clock_error_ns = start_window_clock_error_ns(m->comm, &s->window);
	m->state = s;
}

static void coll_size_end(struct map *m)
{
	struct coll_state *s = m->state;

	start_window_release(&s->window);
	if (s->in != s->out)
		free(s->in);
	free(s->out);
	free(s);
	m->state = NULL;
}

static uint64_t whole_ns(double ns)
{
	return ns > 0 ? (uint64_t)llround(ns) : 0;
}

/* A late attempt adds no samples. */
static uint64_t overlapped(void *ctx)
{
	struct map *m = ctx;
	const struct coll_data *data = m->pattern->data;
	struct coll_state *s = m->state;
	struct comm *c = m->comm;

	m->in_calls_ns = 0;
	m->wait_ns = 0;
	map_begin(m);
	c->ops->icoll(c, data->op, s->in, s->out, m->bytes, 0, &m->request[0]);
	map_compute_and_wait(m, 0);
	return whole_ns(map_end(m));
}

static double coll_sequence(struct map *m)
{
	struct coll_state *s = m->state;

	return start_window_longest(m->comm, &s->window, overlapped, m);
}

static uint64_t computed(void *ctx)
{
	struct map *m = ctx;

	map_begin(m);
	map_compute(m);
	return whole_ns(map_end(m));
}

static double coll_computation(struct map *m)
{
	struct coll_state *s = m->state;

	return start_window_longest(m->comm, &s->window, computed, m);
}

static uint64_t blocked(void *ctx)
{
	struct map *m = ctx;
	const struct coll_data *data = m->pattern->data;
	struct coll_state *s = m->state;

	map_begin(m);
	m->comm->ops->coll(m->comm, data->op, s->in, s->out, m->bytes, 0);
	return whole_ns(map_end(m));
}

static double coll_blocking(struct map *m)
{
	struct coll_state *s = m->state;

	return start_window_longest(m->comm, &s->window, blocked, m);
}

static void coll_reference(struct map *m, struct samples *out)
{
	map_reference_by(m, coll_blocking, &m->blocking);
	map_reference(m, out);
}

static void coll_check(struct map *m)
{
	const struct coll_data *data = m->pattern->data;
	struct coll_state *s = m->state;

	if (data->check)
		data->check(m, s->out);
}

/* The numbers of late samples are those of all points of this size. */
static void coll_params(struct map *m, struct result_point *point)
{
	struct coll_state *s = m->state;

	result_param(point, "ranks", (uint64_t)m->comm->size);
	result_value(point, "late_thrown", (double)(s->window.late_cnt - s->window.kept_cnt));
	result_value(point, "late_kept", (double)s->window.kept_cnt);
	result_value(point, "clock_error_ns", (double)s->clock_error_ns);
}

/* ---- latency ---- */

static double latency_sample(struct bench_run *run, void *ctx)
{
	struct map *m = ctx;
	double ns;

	m->timing = false;
	ns = coll_blocking(m);
	if (run->opt->validate)
		coll_check(m);
	return ns;
}

static void latency_measure(struct bench_run *run, size_t bytes, struct samples *out)
{
	const struct coll_latency *l = run->bench->method;
	const struct map_pattern pattern = {.data = l->data};
	struct map m = {
		.run = run,
		.comm = run->comm,
		.pattern = &pattern,
		.bytes = bytes,
		.clock_ns = measure_clock_ns(run->comm),
	};
	const struct measure_how how = {.sample = latency_sample, .ctx = &m};

	coll_size_begin(&m);
	measure(run, &how, out);
	coll_size_end(&m);
}

static uint64_t blocks_bytes_max(const struct bench_run *run)
{
	return BLOCKS_BYTES_MAX / (uint64_t)run->comm->size;
}

static uint64_t blocks_messages(const struct bench_run *run, size_t bytes)
{
	return (uint64_t)run->comm->size;
}

/* ---- the operations ---- */

static const struct coll_data allgather = {COMM_ALLGATHER, coll_blocks_make, coll_blocks_check};
static const struct coll_data allreduce = {COMM_ALLREDUCE, coll_sums_make, coll_sums_check};
static const struct coll_data alltoall = {COMM_ALLTOALL, coll_blocks_make, coll_blocks_check};
static const struct coll_data alltoallv = {COMM_ALLTOALLV, coll_blocks_make, coll_blocks_check};
static const struct coll_data barrier = {.op = COMM_BARRIER};
static const struct coll_data bcast = {COMM_BCAST, coll_bcast_make, coll_bcast_check};
static const struct coll_data gather = {COMM_GATHER, coll_blocks_make, coll_blocks_check};
static const struct coll_data reduce = {COMM_REDUCE, coll_sums_make, coll_sums_check};
static const struct coll_data scatter = {COMM_SCATTER, coll_blocks_make, coll_blocks_check};

static int blocks_cnt(const struct bench_run *run)
{
	return run->comm->size;
}

/* ---- overlap ---- */

#define OVERLAP(name_of, what, coll, ...)                                                          \
	{                                                                                          \
		.name = (name_of), .group = "collective",                                          \
		.brief = "overlap of a non-blocking " what,                                        \
		.source = "after Denis & Trahay 2016, VII; OSU non-blocking collectives, IMB-NBC", \
		.kind = RESULT_MAP, .ranks_min = 2, .run = map_run,                                \
		.estimate_ns = map_estimate_ns, .method = &(const struct map_pattern)              \
		{                                                                                  \
			.all_compute = true, .own_buffers = true, .sequence = coll_sequence,       \
			.reference = coll_reference, .computation = coll_computation,              \
			.size_begin = coll_size_begin, .size_end = coll_size_end,                  \
			.check = coll_check, .params = coll_params, .data = &(coll), __VA_ARGS__   \
		}                                                                                  \
	}

const struct bench bench_iallgather = OVERLAP("iallgather", "all-gather", allgather,
					      .messages = blocks_cnt);
const struct bench bench_iallreduce = OVERLAP("iallreduce", "reduction to all", allreduce,
					      .unit = sizeof(double));
const struct bench bench_ialltoall = OVERLAP("ialltoall", "all-to-all", alltoall,
					     .messages = blocks_cnt);
const struct bench bench_ialltoallv = OVERLAP("ialltoallv", "all-to-all with a size for each block",
					      alltoallv, .messages = blocks_cnt);
const struct bench bench_ibarrier = OVERLAP("ibarrier", "barrier", barrier, .no_bytes = true);
const struct bench bench_ibcast = OVERLAP("ibcast", "broadcast", bcast);
const struct bench bench_igather = OVERLAP("igather", "gather", gather, .messages = blocks_cnt);
const struct bench bench_ireduce = OVERLAP("ireduce", "reduction", reduce, .unit = sizeof(double));
const struct bench bench_iscatter = OVERLAP("iscatter", "scatter", scatter, .messages = blocks_cnt);

/* ---- latency ---- */

/* imb: the name of Intel's benchmark. least: smallest size. */
#define LATENCY(coll, imb, what, least, ...)                                                     \
	{                                                                                        \
		.name = #coll "_latency", .group = "collective", .brief = (what),                \
		.source = "after OSU: osu_" #coll "; IMB-MPI1: " imb                             \
			  "; common start as symmetric_window",                                  \
		.kind = RESULT_CURVE, .collective = #coll, .sizes = CURVE_SIZES_OSU_COLL(least), \
		.ranks_min = 2, .no_threads = true, .run = curve_run,                            \
		.estimate_ns = curve_estimate_ns, .method = &(const struct coll_latency)         \
		{                                                                                \
			.curve = {.measure = latency_measure, __VA_ARGS__}, .data = &(coll)      \
		}                                                                                \
	}
#define BLOCKS .bytes_max = blocks_bytes_max, .messages = blocks_messages

const struct bench bench_allgather_latency = LATENCY(allgather, "Allgather", "an all-gather", 1,
						     BLOCKS);
const struct bench bench_allreduce_latency = LATENCY(allreduce, "Allreduce", "a reduction to all",
						     8, .unit = sizeof(double));
const struct bench bench_alltoall_latency = LATENCY(alltoall, "Alltoall", "an all-to-all", 1,
						    BLOCKS);
const struct bench bench_alltoallv_latency =
	LATENCY(alltoallv, "Alltoallv", "an all-to-all with a size for each block", 1, BLOCKS);
const struct bench bench_bcast_latency = LATENCY(bcast, "Bcast", "a broadcast from rank 0", 1);
const struct bench bench_gather_latency = LATENCY(gather, "Gather", "a gather to rank 0", 1,
						  BLOCKS);
const struct bench bench_reduce_latency = LATENCY(reduce, "Reduce", "a reduction to rank 0", 8,
						  .unit = sizeof(double));
const struct bench bench_scatter_latency = LATENCY(scatter, "Scatter", "a scatter from rank 0", 1,
						   BLOCKS);
