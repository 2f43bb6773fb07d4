/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Puts and gets (access.h). What they are told is made before; the clock is read around all rounds of a sample. */
#include "one_sided/access.h"

#include "lib/log.h"
#include "core/rounds.h"

#include <stdlib.h>

#define WINDOW_DEFAULT 64 /* OSU's */
/* Of all places of a window: a container's shared memory, where libraries put it, has 64 MiB by default. */
#define PLACES_BYTES_MAX (32u << 20)

enum { ORIGIN = 0, TARGET = 1 };
enum { TAG_DONE = 1 };

struct access {
	enum access_kind kind;
	struct comm_window *window;
	char *local, *memory; /* of the origin, owned; of the window */
	size_t bytes;
	uint64_t cnt;
	struct comm_msg *msg; /* cnt, of local; owned */
};

uint64_t access_messages(const struct bench_run *run, size_t bytes)
{
	uint64_t cnt = run->opt->window ? run->opt->window : WINDOW_DEFAULT;
	uint64_t most = bytes ? PLACES_BYTES_MAX / bytes : cnt;

	return cnt <= most ? cnt : most ? most : 1;
}

void access_params(const struct bench_run *run, size_t bytes, struct result_point *p)
{
	result_param(p, "window", access_messages(run, bytes));
}

/* ---- what is timed ---- */

static void put_rounds(struct comm *c, const struct access *a, uint64_t rounds)
{
	uint64_t i;

	while (rounds--) {
		for (i = 0; i < a->cnt; i++)
			c->ops->put(c, a->window, &a->msg[i], TARGET, i * a->bytes);
		c->ops->flush(c, a->window, TARGET);
	}
}

static void get_rounds(struct comm *c, const struct access *a, uint64_t rounds)
{
	uint64_t i;

	while (rounds--) {
		for (i = 0; i < a->cnt; i++)
			c->ops->get(c, a->window, &a->msg[i], TARGET, i * a->bytes);
		c->ops->flush(c, a->window, TARGET);
	}
}

/* ---- a sample ---- */

enum { SEED_RIGHT = 23, SEED_WRONG = 42 };

static void fill(const struct access *a, char *places, uint32_t seed)
{
	bench_buffer_fill(places, a->bytes * a->cnt, COMM_CONTIGUOUS, seed);
}

/* Who reads or writes its own memory of a window does so between lock and unlock. */
static void fill_own(struct comm *c, const struct access *a, uint32_t seed)
{
	c->ops->lock(c, a->window, c->rank);
	fill(a, a->memory, seed);
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
	const struct comm_msg done = {.buf = NULL, .bytes = 0, .layout = COMM_CONTIGUOUS};

	if (c->rank == ORIGIN && a->kind == ACCESS_GET) {
		bench_buffer_check(a->local, a->bytes * a->cnt, COMM_CONTIGUOUS, SEED_RIGHT);
		fill(a, a->local, SEED_WRONG);
	} else if (c->rank == ORIGIN) {
		c->ops->send(c, &done, TARGET, TAG_DONE);
	} else if (a->kind == ACCESS_PUT) {
		c->ops->recv(c, &done, ORIGIN, TAG_DONE);
		check_own(c, a);
	}
}

static double access_rounds(struct bench_run *run, void *ctx, uint64_t rounds)
{
	struct comm *c = run->comm;
	struct access *a = ctx;
	uint64_t start_ns = c->ops->now_ns(c), end_ns;

	if (c->rank == ORIGIN && a->kind == ACCESS_PUT)
		put_rounds(c, a, rounds);
	else if (c->rank == ORIGIN)
		get_rounds(c, a, rounds);
	end_ns = c->ops->now_ns(c);
	if (run->opt->validate)
		check(c, a);
	return (double)(end_ns - start_ns);
}

/* ---- a size ---- */

static void origin_init(struct access *a)
{
	uint64_t i;

	a->local = bench_buffer_new(a->bytes * a->cnt, COMM_CONTIGUOUS);
	fill(a, a->local, a->kind == ACCESS_PUT ? SEED_RIGHT : SEED_WRONG);
	a->msg = xcalloc(a->cnt, sizeof(*a->msg));
	for (i = 0; i < a->cnt; i++)
		a->msg[i] = (struct comm_msg){a->local + i * a->bytes, a->bytes, COMM_CONTIGUOUS};
}

static void access_measure(struct bench_run *run, size_t bytes, enum access_kind kind, uint64_t cnt,
			   struct samples *out)
{
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

void access_latency(struct bench_run *run, size_t bytes, enum access_kind kind, struct samples *out)
{
	access_measure(run, bytes, kind, 1, out);
}

void access_bandwidth(struct bench_run *run, size_t bytes, enum access_kind kind,
		      struct samples *out)
{
	access_measure(run, bytes, kind, access_messages(run, bytes), out);
}
