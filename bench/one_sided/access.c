/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Puts and gets of rank 0 in rank 1's memory, as in the OSU benchmarks by default: memory from
 * MPI_Win_allocate, passive target, one shared lock around all samples of a size. A round is a
 * window of puts or gets, each in a place of its own, and a flush, after which the data have
 * arrived. Rank 1 waits in a receive meanwhile. Arguments are prepared in advance. The clock is
 * read before and after all rounds of a sample.
 */
#include "core/curve.h"

#include "lib/log.h"

#include <stdlib.h>

#define WINDOW_DEFAULT 64 /* OSU's */
/* Memory of a window. Libraries put it into shared memory, 64 MiB by default in a container. */
#define PLACES_BYTES_MAX (32u << 20)

enum access_kind { ACCESS_PUT, ACCESS_GET };
enum { ORIGIN = 0, TARGET = 1 };
enum { TAG_DONE = 1 };

/* A benchmark's method: one access in a round or, if the curve has a rate, a window of them. */
struct access_method {
	struct curve curve; /* must be first, because curve_run reads it */
	enum access_kind kind;
};

struct access {
	enum access_kind kind;
	struct comm_window *window;
	char *local;  /* the origin's buffer; owned */
	char *memory; /* the window's */
	size_t bytes;
	uint64_t cnt;
	struct comm_msg *msg; /* cnt messages in local; owned */
};

/* Number of accesses in a window, smaller if it would take too much memory. */
static uint64_t access_messages(const struct bench_run *run, size_t bytes)
{
	uint64_t cnt = run->opt->window ? run->opt->window : WINDOW_DEFAULT;
	uint64_t most = bytes ? PLACES_BYTES_MAX / bytes : cnt;

	return cnt <= most ? cnt : most ? most : 1;
}

static void access_params(const struct bench_run *run, size_t bytes, struct result_point *p)
{
	result_param(p, "window", access_messages(run, bytes));
}

/* ---- the timed part ---- */

static void origin_rounds(struct comm *c, const struct access *a, uint64_t rounds)
{
	void (*move)(struct comm * c, struct comm_window * w, const struct comm_msg *m, int target,
		     size_t at_bytes) = a->kind == ACCESS_PUT ? c->ops->put : c->ops->get;

	while (rounds--) {
		for (uint64_t i = 0; i < a->cnt; i++)
			move(c, a->window, &a->msg[i], TARGET, i * a->bytes);
		c->ops->flush(c, a->window, TARGET);
	}
}

/* ---- a sample ---- */

enum { SEED_RIGHT = 23, SEED_WRONG = 42 };

static void places_fill(const struct access *a, char *places, uint32_t seed)
{
	bench_buffer_fill(places, a->bytes * a->cnt, COMM_CONTIGUOUS, seed);
}

/* A rank accesses its own memory in a window between lock and unlock. */
static void fill_own(struct comm *c, const struct access *a, uint32_t seed)
{
	c->ops->lock(c, a->window, c->rank);
	places_fill(a, a->memory, seed);
	c->ops->unlock(c, a->window, c->rank);
}

static void check_own(struct comm *c, const struct access *a)
{
	c->ops->lock(c, a->window, c->rank);
	bench_buffer_check(a->memory, a->bytes * a->cnt, COMM_CONTIGUOUS, SEED_RIGHT);
	c->ops->unlock(c, a->window, c->rank);
	fill_own(c, a, SEED_WRONG);
}

static void check(struct comm *c, const struct access *a)
{
	if (c->rank == ORIGIN && a->kind == ACCESS_GET) {
		bench_buffer_check(a->local, a->bytes * a->cnt, COMM_CONTIGUOUS, SEED_RIGHT);
		places_fill(a, a->local, SEED_WRONG);
	} else if (c->rank == ORIGIN) {
		comm_signal(c, TARGET, TAG_DONE);
	} else if (a->kind == ACCESS_PUT) {
		comm_await(c, ORIGIN, TAG_DONE);
		check_own(c, a);
	}
}

static double access_rounds(struct bench_run *run, void *ctx, uint64_t rounds)
{
	struct comm *c = run->comm;
	struct access *a = ctx;
	uint64_t start_ns = c->ops->now_ns(c), end_ns;

	if (c->rank == ORIGIN)
		origin_rounds(c, a, rounds);
	end_ns = c->ops->now_ns(c);
	if (run->opt->validate)
		check(c, a);
	return (double)(end_ns - start_ns);
}

/* ---- a size ---- */

static void origin_init(struct access *a)
{
	a->local = bench_buffer_new(a->bytes * a->cnt, COMM_CONTIGUOUS);
	places_fill(a, a->local, a->kind == ACCESS_PUT ? SEED_RIGHT : SEED_WRONG);
	a->msg = xcalloc(a->cnt, sizeof(*a->msg));
	for (uint64_t i = 0; i < a->cnt; i++)
		a->msg[i] = (struct comm_msg){a->local + i * a->bytes, a->bytes, COMM_CONTIGUOUS};
}

static void access_measure(struct bench_run *run, size_t bytes, struct samples *out)
{
	const struct access_method *method = run->bench->method;
	enum access_kind kind = method->kind;
	uint64_t cnt = method->curve.rate ? access_messages(run, bytes) : 1;
	struct access a = {.kind = kind, .bytes = bytes, .cnt = cnt};
	struct comm *c = run->comm;
	void *memory;

	a.window = c->ops->window_new(c, c->rank == TARGET ? bytes * cnt : 0, &memory);
	a.memory = memory;
	if (c->rank == TARGET)
		fill_own(c, &a, kind == ACCESS_GET ? SEED_RIGHT : SEED_WRONG);
	if (c->rank == ORIGIN) {
		origin_init(&a);
		c->ops->lock(c, a.window, TARGET);
	}
	rounds_measure(run, access_rounds, &a, (double)cnt, out);
	if (c->rank == ORIGIN)
		c->ops->unlock(c, a.window, TARGET);
	c->ops->window_free(c, a.window);
	free(a.msg);
	free(a.local);
}

/* ---- the benchmarks ---- */

#define ACCESS_METHOD(kind_of, ...)                                                  \
	{                                                                            \
		.curve = {.measure = access_measure, __VA_ARGS__}, .kind = (kind_of) \
	}
#define WINDOW .rate = true, .messages = access_messages, .params = access_params

static const struct access_method put_latency = ACCESS_METHOD(ACCESS_PUT);
static const struct access_method get_latency = ACCESS_METHOD(ACCESS_GET);
static const struct access_method put_bandwidth = ACCESS_METHOD(ACCESS_PUT, WINDOW);
static const struct access_method get_bandwidth = ACCESS_METHOD(ACCESS_GET, WINDOW);

/* The members that the benchmarks share. */
#define ACCESS(method_of)                                                         \
	.group = "one_sided", .sizes = CURVE_SIZES_OSU(1), .needs = COMM_HAS_RMA, \
	.no_threads = true, CURVE_PAIR(method_of)

const struct bench bench_put_latency = {
	.name = "put_latency",
	.brief = "an MPI_Put and a flush",
	.source = "OSU: osu_put_latency; IMB-RMA: Unidir_put",
	ACCESS(put_latency),
};

const struct bench bench_get_latency = {
	.name = "get_latency",
	.brief = "an MPI_Get and a flush",
	.source = "OSU: osu_get_latency; IMB-RMA: Unidir_get",
	ACCESS(get_latency),
};

const struct bench bench_put_bandwidth = {
	.name = "put_bandwidth",
	.brief = "a window of MPI_Puts, then a flush",
	.source = "OSU: osu_put_bw",
	ACCESS(put_bandwidth),
};

const struct bench bench_get_bandwidth = {
	.name = "get_bandwidth",
	.brief = "a window of MPI_Gets, then a flush",
	.source = "OSU: osu_get_bw",
	ACCESS(get_bandwidth),
};
