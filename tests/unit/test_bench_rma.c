/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* One-sided communication of the model: data are where they are to be after a flush, and that takes what was set. */
#include <stdlib.h>
#include <string.h>

#include <math.h>

#include "unit/test.h"
#include "model/model.h"

#define LATENCY_NS 1000.0
#define SEND_NS 300.0
#define BYTES 100000

static struct model_settings settings(void)
{
	struct model_settings s;

	model_settings_init(&s);
	s.latency_ns = LATENCY_NS;
	s.send_ns = SEND_NS;
	s.clock_ns = 0;
	return s;
}

static void assert_ns(double value, double expected)
{
	if (fabs(value - expected) > 1.01)
		fail_msg("%.1f ns, not %.1f", value, expected);
}

/* ---- data ---- */

/* Rank 0 puts into rank 2 what it got from rank 1, in another place, by two windows. */
static int copy(struct comm *c, void *ctx)
{
	struct comm_window *from, *to;
	void *source, *target;
	char text[8] = "";
	struct comm_msg m = {text, 4, COMM_CONTIGUOUS};

	(void)ctx;
	from = c->ops->window_new(c, c->rank == 1 ? 8 : 0, &source);
	to = c->ops->window_new(c, c->rank == 2 ? 16 : 0, &target);
	if (c->rank == 1)
		memcpy(source, "abcdefgh", 8);
	c->ops->coll(c, COMM_BARRIER, NULL, NULL, 0, 0);
	if (c->rank == 0) {
		c->ops->lock(c, from, 1);
		c->ops->get(c, from, &m, 1, 3);
		c->ops->flush(c, from, 1);
		assert_string_equal(text, "defg");
		c->ops->unlock(c, from, 1);
		c->ops->lock(c, to, 2);
		c->ops->put(c, to, &m, 2, 12);
		/* Complete without a flush of its own. */
		c->ops->unlock(c, to, 2);
	}
	c->ops->coll(c, COMM_BARRIER, NULL, NULL, 0, 0);
	if (c->rank == 2)
		assert_memory_equal((char *)target + 12, "defg", 4);
	c->ops->window_free(c, to);
	c->ops->window_free(c, from);
	return 0;
}

TEST(data)
{
	struct model_settings s = settings();

	s.ranks = 3;
	assert_int_equal(model_run(&s, copy, NULL), 0);
}

/* ---- times ---- */

struct shared {
	int cnt;
	uint64_t target_ns; /* that the target computes */
	double ns;
};

static const struct compute work = {COMPUTE_WORK, COMPUTE_ONE};

static int puts_and_flush(struct comm *c, void *ctx)
{
	struct shared *sh = ctx;
	struct comm_msg m = {calloc(1, BYTES), BYTES, COMM_CONTIGUOUS};
	struct comm_window *w;
	uint64_t begin_ns;
	void *memory;
	int i;

	w = c->ops->window_new(c, BYTES, &memory);
	begin_ns = c->ops->now_ns(c);
	if (c->rank == 0) {
		for (i = 0; i < sh->cnt; i++)
			c->ops->put(c, w, &m, 1, 0);
		c->ops->flush(c, w, 1);
		sh->ns = (double)(c->ops->now_ns(c) - begin_ns);
	} else {
		c->ops->compute(c, &work, sh->target_ns);
	}
	c->ops->window_free(c, w);
	free(m.buf);
	return 0;
}

static double run_ns(const struct model_settings *s, struct shared sh)
{
	assert_int_equal(model_run(s, puts_and_flush, &sh), 0);
	return sh.ns;
}

TEST(times)
{
	struct model_settings s = settings();

	assert_ns(run_ns(&s, (struct shared){.cnt = 0}), 0);
	assert_ns(run_ns(&s, (struct shared){.cnt = 1}), SEND_NS + BYTES + 2 * LATENCY_NS);
	assert_ns(run_ns(&s, (struct shared){.cnt = 5}), 5 * SEND_NS + BYTES + 2 * LATENCY_NS);
	/* The target's CPU has no part in it. */
	assert_ns(run_ns(&s, (struct shared){.cnt = 1, .target_ns = 10 * BYTES}),
		  SEND_NS + BYTES + 2 * LATENCY_NS);
	s.shared_link = true;
	assert_ns(run_ns(&s, (struct shared){.cnt = 5}), SEND_NS + 5 * BYTES + 2 * LATENCY_NS);
}
