/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* The model of communication: its times are those that its settings give on paper. */
#include <stdlib.h>
#include <string.h>

#include <errno.h>
#include <math.h>

#include "unit/test.h"
#include "model/model.h"

/* Large against the latency, so that a byte's time is seen. */
#define BYTES 100003
#define LATENCY_NS 1000.0
#define COMPUTE_NS 40000

static struct model_settings settings(void)
{
	struct model_settings s;

	model_settings_init(&s);
	s.latency_ns = LATENCY_NS;
	s.clock_ns = 0;
	return s;
}

static void assert_ns(double value, double expected)
{
	if (fabs(value - expected) > 1.01)
		fail_msg("%.1f ns, not %.1f", value, expected);
}

/* What a test's ranks share: they run in one process. */
struct shared {
	double ns;
	size_t bytes;
	uint64_t compute_ns;
	int value;
	char *data;
};

static const struct compute work = {COMPUTE_WORK, COMPUTE_ONE};

/* ---- point to point ---- */

static int pingpong(struct comm *c, void *ctx)
{
	struct shared *sh = ctx;
	char *buf = malloc(BYTES);
	struct comm_msg m = {buf, sh->bytes, COMM_CONTIGUOUS};
	uint64_t begin_ns = c->ops->now_ns(c);

	if (c->rank == 0) {
		c->ops->send(c, &m, 1, 7);
		c->ops->recv(c, &m, 1, 7);
		sh->ns = (double)(c->ops->now_ns(c) - begin_ns) / 2;
	} else {
		c->ops->recv(c, &m, 0, 7);
		c->ops->send(c, &m, 0, 7);
	}
	free(buf);
	return 0;
}

TEST(pingpong)
{
	struct model_settings s = settings();
	struct shared sh = {.bytes = 0};

	s.send_ns = 30;
	s.recv_ns = 70;
	assert_int_equal(model_run(&s, pingpong, &sh), 0);
	assert_ns(sh.ns, 30 + LATENCY_NS + 70);
	sh.bytes = BYTES;
	assert_int_equal(model_run(&s, pingpong, &sh), 0);
	assert_ns(sh.ns, 30 + LATENCY_NS + BYTES + 70);
	s.eager_bytes = BYTES;
	assert_int_equal(model_run(&s, pingpong, &sh), 0);
	assert_ns(sh.ns, 30 + LATENCY_NS + BYTES + 70);
	s.eager_bytes = 0;
	s.handshake = MODEL_HANDSHAKE_BOTH;
	assert_int_equal(model_run(&s, pingpong, &sh), 0);
	assert_ns(sh.ns, 30 + 3 * LATENCY_NS + BYTES + 70);
}

static double uneven_link(const void *ctx, int from, int to)
{
	(void)ctx;
	return from < to ? 5000 : 300;
}

TEST(links)
{
	struct model_settings s = settings();
	struct shared sh = {.bytes = 0};

	s.link_ns = uneven_link;
	assert_int_equal(model_run(&s, pingpong, &sh), 0);
	assert_ns(sh.ns, (5000 + 300) / 2.0);
}

/* Rank 0 sends or receives beside a computation; the other side blocks. */
static int overlap(struct comm *c, void *ctx)
{
	struct shared *sh = ctx;
	char *buf = calloc(2, BYTES);
	struct comm_msg m = {buf, BYTES, COMM_CONTIGUOUS};
	struct comm_request r;
	uint64_t begin_ns = c->ops->now_ns(c);
	bool sends = sh->value == c->rank;

	if (c->rank == 0) {
		if (sends)
			c->ops->isend(c, &m, 1, 0, &r);
		else
			c->ops->irecv(c, &m, 1, 0, &r);
		c->ops->compute(c, &work, sh->compute_ns);
		c->ops->wait(c, &r);
		sh->ns = (double)(c->ops->now_ns(c) - begin_ns);
	} else if (sends) {
		c->ops->send(c, &m, 0, 0);
	} else {
		c->ops->recv(c, &m, 0, 0);
	}
	free(buf);
	return 0;
}

static double overlapped_ns(const struct model_settings *s, int sender, uint64_t compute_ns)
{
	struct shared sh = {.compute_ns = compute_ns, .value = sender};

	assert_int_equal(model_run(s, overlap, &sh), 0);
	return sh.ns;
}

TEST(overlap)
{
	struct model_settings s = settings();
	const double all = LATENCY_NS + BYTES;
	int sender;

	for (sender = 0; sender < 2; sender++) {
		s.overlap_send = s.overlap_recv = 1;
		assert_ns(overlapped_ns(&s, sender, COMPUTE_NS), all);
		assert_ns(overlapped_ns(&s, sender, 5 * COMPUTE_NS), 5 * COMPUTE_NS);
		s.overlap_send = s.overlap_recv = 0;
		assert_ns(overlapped_ns(&s, sender, COMPUTE_NS), COMPUTE_NS + BYTES);
		/* Of a quarter, the share is moved in long computations, the speed is seen in short ones. */
		s.overlap_send = s.overlap_recv = 0.25;
		assert_ns(overlapped_ns(&s, sender, COMPUTE_NS),
			  COMPUTE_NS + BYTES - 0.25 * (COMPUTE_NS - LATENCY_NS));
		assert_ns(overlapped_ns(&s, sender, 20 * COMPUTE_NS),
			  20 * COMPUTE_NS + 0.75 * BYTES);
	}
	/* Only the side that computes matters. */
	s.overlap_send = 0;
	s.overlap_recv = 1;
	assert_ns(overlapped_ns(&s, 0, COMPUTE_NS), COMPUTE_NS + BYTES);
	assert_ns(overlapped_ns(&s, 1, COMPUTE_NS), all);
	s.overlap_send = 1;
	s.slow = 3;
	assert_ns(overlapped_ns(&s, 0, COMPUTE_NS), LATENCY_NS + 3 * BYTES);
}

TEST(eager)
{
	struct model_settings s = settings();

	s.overlap_send = s.overlap_recv = 0;
	s.eager_bytes = BYTES;
	assert_ns(overlapped_ns(&s, 0, COMPUTE_NS), COMPUTE_NS);
	s.eager_bytes = BYTES - 1;
	assert_ns(overlapped_ns(&s, 0, COMPUTE_NS), COMPUTE_NS + BYTES);
}

/* An answer that comes during the computation is read after it. */
TEST(handshake)
{
	struct model_settings s = settings();

	s.handshake = MODEL_HANDSHAKE_SENDER;
	assert_ns(overlapped_ns(&s, 0, COMPUTE_NS), COMPUTE_NS + LATENCY_NS + BYTES);
	assert_ns(overlapped_ns(&s, 1, COMPUTE_NS), 3 * LATENCY_NS + BYTES);
	s.handshake = MODEL_HANDSHAKE_BOTH;
	assert_ns(overlapped_ns(&s, 1, COMPUTE_NS), COMPUTE_NS + 2 * LATENCY_NS + BYTES);
}

/* ---- data ---- */

static void fill(char *p, size_t bytes, int seed)
{
	size_t i;

	for (i = 0; i < bytes; i++)
		p[i] = (char)(i * 31 + (size_t)seed);
}

/* Messages of two tags, received in the other order; strided to strided. */
static int matching(struct comm *c, void *ctx)
{
	char a[256], b[256], want[256];
	struct comm_msg ma = {a, 100, COMM_STRIDED}, mb = {b, 200, COMM_CONTIGUOUS};
	struct comm_request r[2];
	size_t i;

	(void)ctx;
	fill(a, sizeof(a), 1);
	fill(b, sizeof(b), 2);
	if (c->rank == 0) {
		c->ops->isend(c, &ma, 1, 1, &r[0]);
		c->ops->isend(c, &mb, 1, 2, &r[1]);
		c->ops->waitall(c, r, 2);
		return 0;
	}
	memset(a, 0, sizeof(a));
	memset(b, 0, sizeof(b));
	c->ops->recv(c, &mb, COMM_ANY, 2);
	c->ops->recv(c, &ma, 0, 1);
	fill(want, sizeof(want), 2);
	assert_memory_equal(b, want, 200);
	fill(want, sizeof(want), 1);
	for (i = 0; i < sizeof(a); i++) {
		size_t data_at = i / 64 * 32 + i % 64;
		bool is_data = i % 64 < 32 && data_at < 100;

		assert_int_equal(a[i], is_data ? want[i] : 0);
	}
	return 0;
}

TEST(matching)
{
	struct model_settings s = settings();

	assert_int_equal(model_run(&s, matching, NULL), 0);
	s.eager_bytes = 1000;
	assert_int_equal(model_run(&s, matching, NULL), 0);
}

static int partitioned(struct comm *c, void *ctx)
{
	char buf[96], want[96];
	struct comm_msg m = {buf, sizeof(buf), COMM_CONTIGUOUS};
	struct comm_request r;
	int round, i;

	(void)ctx;
	if (c->rank == 0)
		c->ops->psend_init(c, &m, 3, 1, 5, &r);
	else
		c->ops->precv_init(c, &m, 3, 0, 5, &r);
	for (round = 0; round < 2; round++) {
		fill(want, sizeof(want), round);
		memcpy(buf, want, c->rank ? 0 : sizeof(buf));
		c->ops->start(c, &r);
		for (i = 2; i >= 0 && c->rank == 0; i--)
			c->ops->pready(c, &r, i);
		c->ops->wait(c, &r);
		assert_memory_equal(buf, want, sizeof(buf));
	}
	c->ops->request_free(c, &r);
	return 0;
}

TEST(partitioned)
{
	struct model_settings s = settings();

	assert_int_equal(model_run(&s, partitioned, NULL), 0);
	s.eager_bytes = 1000;
	assert_int_equal(model_run(&s, partitioned, NULL), 0);
}

/* ---- collective operations ---- */

enum { RANKS = 7, ROOT = 3 };

static int collectives(struct comm *c, void *ctx)
{
	double one = c->rank + 1, sum = 0, all[RANKS] = {0}, to[RANKS], from[RANKS];
	struct comm_request r;
	int i;

	(void)ctx;
	c->ops->coll(c, COMM_REDUCE, &one, &sum, sizeof(one), ROOT);
	assert_true(c->rank != ROOT || sum == RANKS * (RANKS + 1) / 2.0);
	c->ops->coll(c, COMM_ALLREDUCE, &one, &sum, sizeof(one), 0);
	assert_true(sum == RANKS * (RANKS + 1) / 2.0);
	c->ops->icoll(c, COMM_ALLGATHER, &one, all, sizeof(one), 0, &r);
	c->ops->wait(c, &r);
	for (i = 0; i < RANKS; i++) {
		assert_true(all[i] == i + 1);
		to[i] = 100 * c->rank + i;
	}
	c->ops->coll(c, COMM_ALLTOALL, to, from, sizeof(one), 0);
	for (i = 0; i < RANKS; i++)
		assert_true(from[i] == 100 * i + c->rank);
	c->ops->coll(c, COMM_SCATTER, to, &one, sizeof(one), ROOT);
	assert_true(one == 100 * ROOT + c->rank);
	c->ops->coll(c, COMM_GATHER, &one, all, sizeof(one), ROOT);
	assert_true(c->rank != ROOT || all[RANKS - 1] == 100 * ROOT + RANKS - 1);
	c->ops->coll(c, COMM_BCAST, &one, &one, sizeof(one), 0);
	assert_true(one == 100 * ROOT);
	return 0;
}

TEST(collectives)
{
	struct model_settings s = settings();

	s.ranks = RANKS;
	for (s.bcast = MODEL_BCAST_BINOMIAL; s.bcast <= MODEL_BCAST_FLAT; s.bcast++)
		assert_int_equal(model_run(&s, collectives, NULL), 0);
}

/* Nobody leaves before the last one came. */
static int barrier(struct comm *c, void *ctx)
{
	struct shared *sh = ctx;
	struct comm *few;

	c->ops->compute(c, &work, c->rank == ROOT ? COMPUTE_NS : 0);
	c->ops->coll(c, COMM_BARRIER, NULL, NULL, 0, 0);
	assert_true(c->ops->now_ns(c) >= COMPUTE_NS);
	few = c->ops->first(c, 2);
	assert_true((few != NULL) == (c->rank < 2));
	if (few) {
		assert_int_equal(few->size, 2);
		few->ops->coll(few, COMM_BARRIER, NULL, NULL, 0, 0);
		few->ops->free(few);
	}
	sh->value++;
	return 0;
}

TEST(barrier)
{
	struct model_settings s = settings();
	struct shared sh = {.value = 0};

	s.ranks = RANKS;
	assert_int_equal(model_run(&s, barrier, &sh), 0);
	assert_int_equal(sh.value, RANKS);
}

static int nonblocking(struct comm *c, void *ctx)
{
	struct shared *sh = ctx;
	char *buf = calloc(1, BYTES);
	struct comm_request r;
	uint64_t begin_ns = c->ops->now_ns(c);

	c->ops->icoll(c, COMM_BCAST, buf, buf, BYTES, 0, &r);
	c->ops->compute(c, &work, sh->compute_ns);
	c->ops->wait(c, &r);
	if (c->rank == 1)
		sh->ns = (double)(c->ops->now_ns(c) - begin_ns);
	free(buf);
	return 0;
}

TEST(nonblocking)
{
	struct model_settings s = settings();
	struct shared sh = {.compute_ns = COMPUTE_NS};

	assert_int_equal(model_run(&s, nonblocking, &sh), 0);
	assert_ns(sh.ns, LATENCY_NS + BYTES);
	s.overlap_send = s.overlap_recv = 0;
	assert_int_equal(model_run(&s, nonblocking, &sh), 0);
	assert_ns(sh.ns, COMPUTE_NS + BYTES);
}

/* ---- cores, threads, load ---- */

/* Each rank computes; the last one's end and its own CPU time are told. */
static int sharing(struct comm *c, void *ctx)
{
	struct shared *sh = ctx;

	c->ops->compute(c, &work, COMPUTE_NS);
	assert_int_equal(c->ops->cpu_ns(c), COMPUTE_NS);
	if ((double)c->ops->now_ns(c) > sh->ns)
		sh->ns = (double)c->ops->now_ns(c);
	sh->value += c->ops->now_ns(c) > 2 * COMPUTE_NS;
	return 0;
}

TEST(sharing)
{
	struct model_settings s = settings();
	struct shared sh = {.value = 0};

	s.ranks = 3;
	assert_int_equal(model_run(&s, sharing, &sh), 0);
	assert_ns(sh.ns, COMPUTE_NS);
	s.ranks_per_core = 3;
	assert_int_equal(model_run(&s, sharing, &sh), 0);
	assert_ns(sh.ns, 3 * COMPUTE_NS);
	assert_int_equal(sh.value, 1);
	/* In slices all end at about the same time. */
	s.slice_ns = COMPUTE_NS / 100.0;
	sh.value = 0;
	assert_int_equal(model_run(&s, sharing, &sh), 0);
	assert_ns(sh.ns, 3 * COMPUTE_NS);
	assert_int_equal(sh.value, 3);
}

TEST(steal)
{
	struct model_settings s = settings();
	struct shared sh = {.value = 0};

	s.steal = 0.5;
	assert_int_equal(model_run(&s, sharing, &sh), 0);
	assert_ns(sh.ns, 1.5 * COMPUTE_NS);
}

static int deadline(struct comm *c, void *ctx)
{
	const struct compute how = {COMPUTE_DEADLINE, COMPUTE_ONE};
	struct shared *sh = ctx;

	c->ops->compute(c, &how, COMPUTE_NS);
	sh->ns = (double)c->ops->now_ns(c);
	assert_int_equal(c->ops->cpu_ns(c), COMPUTE_NS / 2);
	return 0;
}

TEST(deadline)
{
	struct model_settings s = settings();
	struct shared sh = {.value = 0};

	s.steal = 1;
	assert_int_equal(model_run(&s, deadline, &sh), 0);
	assert_ns(sh.ns, COMPUTE_NS);
}

struct thread_arg {
	struct comm *c;
	int ran;
};

static void thread(void *arg, int idx)
{
	struct thread_arg *t = arg;

	t->ran |= 1 << idx;
	t->c->ops->compute(t->c, &work, COMPUTE_NS);
}

static int threads(struct comm *c, void *ctx)
{
	struct thread_arg t = {c, 0};
	struct shared *sh = ctx;

	c->ops->threads_run(c, 4, thread, &t);
	assert_int_equal(t.ran, 15);
	sh->ns = (double)c->ops->now_ns(c);
	return 0;
}

TEST(threads)
{
	struct model_settings s = settings();
	struct shared sh = {.value = 0};

	assert_int_equal(model_run(&s, threads, &sh), 0);
	assert_ns(sh.ns, COMPUTE_NS);
}

static int loaded(struct comm *c, void *ctx)
{
	struct shared *sh = ctx;
	const struct comm_load load = {.threads = sh->value};

	c->ops->load_begin(c, &load);
	pingpong(c, ctx);
	c->ops->load_end(c);
	return 0;
}

TEST(load)
{
	struct model_settings s = settings();
	struct shared sh = {.value = 3};

	s.cores = 4;
	s.load_delay_ns = 5e6;
	assert_int_equal(model_run(&s, loaded, &sh), 0);
	assert_ns(sh.ns, LATENCY_NS);
	sh.value = 4;
	assert_int_equal(model_run(&s, loaded, &sh), 0);
	assert_ns(sh.ns, 5e6 + LATENCY_NS);
}

/* ---- ends ---- */

static int lonely(struct comm *c, void *ctx)
{
	struct comm_msg m = {NULL, 0, COMM_CONTIGUOUS};

	(void)ctx;
	if (c->rank == 1)
		c->ops->recv(c, &m, 0, 1);
	return 0;
}

static int failing(struct comm *c, void *ctx)
{
	(void)ctx;
	return c->rank == 1 ? -EPROTO : 0;
}

TEST(ends)
{
	struct model_settings s = settings();

	assert_int_equal(model_run(&s, lonely, NULL), -EDEADLK);
	assert_int_equal(model_run(&s, failing, NULL), -EPROTO);
}
