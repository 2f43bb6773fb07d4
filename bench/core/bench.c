/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
#include "core/bench.h"

#include "lib/log.h"
#include "core/nodes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool bench_is(const struct bench *b, const char *name)
{
	return !strcmp(b->name, name) || (b->alias && !strcmp(b->alias, name));
}

const struct bench *bench_find(const char *name)
{
	for (size_t i = 0; benches[i]; i++) {
		if (bench_is(benches[i], name))
			return benches[i];
	}
	return NULL;
}

void bench_progress(const struct bench_run *run, size_t done, size_t all)
{
	if (run->comm->rank == 0 && run->progress)
		run->progress(run->progress_ctx, done, all);
}

/* An unserved rank has no clocks to compare. So either all ranks use these clocks, or none does. */
bool bench_clocks_served(struct bench_run *run)
{
	struct comm *c = run->comm;
	bool every = comm_tell(c, comm_least(c, c->features & COMM_HAS_POV ? 1 : 0));

	if (!every && c->rank == 0)
		log_info("%s: without MPIX_Rtime and MPIX_Ptime: no `povtrace clock` serves all "
			 "ranks",
			 run->bench->name);
	return every;
}

/* ---- buffers ---- */

/*
 * Buffers whose contents a receiver can check. Each byte depends on its position and on the seed,
 * so data of an earlier message or of another position is detected. The holes of a strided buffer
 * must stay as they were.
 */

#define ALIGN_BYTES 4096
#define BLOCK_BYTES 32
#define STRIDE_BYTES 64
#define HOLE 0xa5

static size_t span_of(size_t bytes, enum comm_layout layout)
{
	return layout == COMM_STRIDED ? 2 * bytes + STRIDE_BYTES : bytes;
}

/* Offset of data byte i in the buffer. */
static size_t place_of(size_t i, enum comm_layout layout)
{
	return layout == COMM_STRIDED ? i / BLOCK_BYTES * STRIDE_BYTES + i % BLOCK_BYTES : i;
}

static unsigned char pattern_byte(size_t i, uint32_t seed)
{
	uint32_t x = (uint32_t)i * 2654435761u + seed * 40503u;

	return (unsigned char)(x >> 24 ^ x >> 8);
}

void *bench_buffer_new(size_t bytes, enum comm_layout layout)
{
	size_t span = span_of(bytes, layout);
	void *buf;

	/* Allocate at least one byte, so that an empty message has an address too. */
	if (posix_memalign(&buf, ALIGN_BYTES, span ? span : 1))
		die("out of memory (%zu bytes wanted for a message)", span);
	/* Write all pages once, so that no page fault falls into a timed part. */
	memset(buf, HOLE, span ? span : 1);
	return buf;
}

void bench_buffer_fill(void *buf, size_t bytes, enum comm_layout layout, uint32_t seed)
{
	unsigned char *b = buf;

	for (size_t i = 0; i < bytes; i++)
		b[place_of(i, layout)] = pattern_byte(i, seed);
}

void bench_buffer_check(const void *buf, size_t bytes, enum comm_layout layout, uint32_t seed)
{
	const unsigned char *b = buf;
	size_t at;

	for (size_t i = 0; i < bytes; i++) {
		at = place_of(i, layout);
		if (b[at] != pattern_byte(i, seed))
			die("wrong data: byte %zu of %zu is 0x%02x, not 0x%02x", i, bytes, b[at],
			    pattern_byte(i, seed));
		if (layout == COMM_STRIDED && b[at + BLOCK_BYTES] != HOLE)
			die("wrong data: the hole after byte %zu of %zu was written to", i, bytes);
	}
}

void bench_msg_check(const struct comm_msg *m, uint32_t seed)
{
	bench_buffer_check(m->buf, m->bytes, m->layout, seed);
	bench_buffer_fill(m->buf, m->bytes, m->layout, ~seed);
}

/* ---- resuming ---- */

/* Rank 0 has the points and sends the answer to the other ranks. */

bool resume_has(struct bench_run *run, const struct result_axis *axis, size_t axis_cnt)
{
	bool there;

	if (!run->resume)
		return false;
	there = run->result && result_point_take(run->result, axis, axis_cnt);
	return comm_tell(run->comm, there) != 0;
}

static bool take_all(struct result *r, const struct result_axis axes[2], const uint64_t *value,
		     size_t cnt)
{
	struct result_axis both[] = {axes[0], axes[1]};

	for (size_t i = 0; i < cnt; i++) {
		both[1].value = value[i];
		if (!result_point_known(r, both, 2))
			return false;
	}
	for (size_t i = 0; i < cnt; i++) {
		both[1].value = value[i];
		result_point_take(r, both, 2);
	}
	return true;
}

bool resume_has_all(struct bench_run *run, const struct result_axis axes[2], const uint64_t *value,
		    size_t cnt)
{
	bool there;

	if (!run->resume)
		return false;
	there = run->result && take_all(run->result, axes, value, cnt);
	return comm_tell(run->comm, there) != 0;
}

/* ---- estimates ---- */

/*
 * A library that polls while it waits keeps the core from the rank that it waits for. A message
 * then takes a time slice of the scheduler, and a run a thousand times its normal time. The
 * library's behaviour is measured, not asked for.
 */

#define PROBES 9
#define SLICE_NS_LEAST 200000.0 /* shortest time that counts as a time slice */

static void sync_probe(struct bench_run *run, struct core_sharing sharing, void *ctx)
{
	struct comm *c = run->comm;
	double *mean_ns = ctx;
	uint64_t begin_ns;

	comm_sync(c, 0);
	begin_ns = c->ops->now_ns(c);
	for (int i = 0; i < PROBES; i++)
		comm_sync(c, 0);
	*mean_ns = (double)(c->ops->now_ns(c) - begin_ns) / PROBES;
}

void estimate_probe(struct comm *c, struct estimate_machine *out)
{
	struct core_sharing sharing = {.ranks = 2, .cores = 1, .nodes = 1};
	struct bench_run run = {.comm = c};
	struct nodes nodes;

	out->core_cnt = core_sharing_core_cnt(c);
	out->shared_ns = 0;
	nodes_init(c, &nodes);
	/* Ranks of two nodes share no core, so the cost is unknown then. */
	if (nodes_leading(&nodes) > 1)
		core_sharing_run(&run, sharing, sync_probe, &out->shared_ns);
	nodes_release(&nodes);
}

bool estimate_crowded(const struct estimate_machine *m, int ranks)
{
	int here = ranks < m->node_ranks ? ranks : m->node_ranks;

	return here > m->core_cnt && m->shared_ns >= SLICE_NS_LEAST;
}

double estimate_point_ns(const struct bench_options *opt, double sample_ns)
{
	bool adaptive = opt->ci_pct > 0 && opt->samples_max > opt->samples;
	double ns = (double)(adaptive ? opt->samples_max : opt->samples) * sample_ns;

	if (opt->point_ns)
		ns = fmin(ns, (double)opt->point_ns + sample_ns);
	return (double)opt->warmup * sample_ns + fmax(ns, MEASURE_SAMPLES_LEAST * sample_ns);
}

double estimate_wait_ns(const struct bench_run *run, int ranks)
{
	const struct estimate_machine *m = run->machine;

	return m && estimate_crowded(m, ranks) ? m->shared_ns : 0;
}

double estimate_shared_wait_ns(const struct bench_run *run, int ranks)
{
	return run->machine && ranks > 1 ? run->machine->shared_ns * (ranks - 1) : 0;
}
