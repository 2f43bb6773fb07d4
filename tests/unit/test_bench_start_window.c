/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Ranks that share a node; clocks of several nodes; a common start, and late ranks. */
#include "unit/test.h"
#include "bench_near.h"
#include "core/nodes.h"
#include "core/start_window.h"
#include "model/model.h"

#define RANKS 6
#define SKEW_NS 4e6
#define DRIFT 50e-6
#define SECOND 1000000000ull

static struct model_settings machine(int nodes, bool blocks)
{
	struct model_settings m;

	model_settings_init(&m);
	m.ranks = RANKS;
	m.nodes = nodes;
	m.node_blocks = blocks;
	m.clock_skew_ns = SKEW_NS;
	m.clock_drift = DRIFT;
	m.eager_bytes = 64;
	return m;
}

/* ---- nodes ---- */

struct seen {
	int cnt[RANKS], leading[RANKS], last[RANKS];
	bool in_turn[RANKS];
};

static int look(struct comm *c, void *ctx)
{
	struct seen *s = ctx;
	struct nodes n;

	nodes_init(c, &n);
	s->cnt[c->rank] = n.cnt;
	s->leading[c->rank] = nodes_leading(&n);
	s->in_turn[c->rank] = nodes_in_turn(&n);
	s->last[c->rank] = n.of[RANKS - 1];
	nodes_release(&n);
	return 0;
}

static void assert_nodes(int nodes, bool blocks, int leading, bool in_turn)
{
	struct model_settings m = machine(nodes, blocks);
	struct seen s;
	int i;

	assert_int_equal(model_run(&m, look, &s), 0);
	for (i = 0; i < RANKS; i++) {
		assert_int_equal(s.cnt[i], nodes);
		assert_int_equal(s.leading[i], leading);
		assert_int_equal(s.last[i], nodes - 1);
		assert_int_equal(s.in_turn[i], in_turn);
	}
}

TEST(nodes)
{
	assert_nodes(1, false, RANKS, true);
	assert_nodes(2, false, 1, true);
	assert_nodes(2, true, 3, false);
	assert_nodes(3, false, 1, true);
	assert_nodes(RANKS, true, 1, true);
}

/* ---- clocks ---- */

static double offset_at(int node, double first_ns)
{
	return node * (SKEW_NS + DRIFT * first_ns);
}

/* Measures how long rank 0's time stays known after the last measurement, and its error then. */
static int follow(struct comm *c, void *ctx)
{
	double *off_ns = ctx;
	struct node_clock k = {.ns = 0};
	int node = c->ops->node(c), i;
	uint64_t later;

	for (i = 0; i < 3; i++) {
		node_clock_measure(c, &k);
		c->ops->sleep(c, SECOND);
	}
	later = k.at_ns + 2 * SECOND;
	off_ns[c->rank] = (double)(int64_t)(node_clock_own(&k, later) - later) -
			  offset_at(node, (double)later);
	assert_near((double)node_clock_first(&k, node_clock_own(&k, later)), (double)later, 2);
	assert_near((double)k.error_ns, node ? 1000 : 0, node ? 100 : 0);
	return 0;
}

TEST(clocks)
{
	struct model_settings m = machine(3, false);
	double off_ns[RANKS];
	int i;

	assert_int_equal(model_run(&m, follow, off_ns), 0);
	for (i = 0; i < RANKS; i++)
		assert_near(off_ns[i], 0, 20);
}

/* ---- a common start ---- */

struct start {
	double began_ns[RANKS]; /* by rank 0's clock */
	uint64_t late_cnt, kept_cnt;
	uint64_t margin_ns; /* initial margin; 0: as measured */
	int call_cnt;
	struct comm *comm[RANKS];
	struct start_window *window[RANKS];
	double longest;
};

struct own {
	struct start *all;
	int rank;
};

static uint64_t once(void *ctx)
{
	const struct own *own = ctx;
	struct start *s = own->all;
	struct comm *c = s->comm[own->rank];

	s->call_cnt += !own->rank;
	s->began_ns[own->rank] = (double)node_clock_first(&s->window[own->rank]->clock,
							  c->ops->now_ns(c));
	return 100 * (uint64_t)own->rank + 1;
}

static int start_together(struct comm *c, void *ctx)
{
	struct start *s = ctx;
	struct own own = {s, c->rank};
	struct start_window w;
	double longest;

	start_window_init(c, &w);
	if (s->margin_ns)
		w.margin_ns = s->margin_ns;
	s->comm[c->rank] = c;
	s->window[c->rank] = &w;
	longest = start_window_longest(c, &w, once, &own);
	if (!c->rank) {
		s->longest = longest;
		s->late_cnt = w.late_cnt;
		s->kept_cnt = w.kept_cnt;
		s->margin_ns = w.margin_ns;
	}
	start_window_release(&w);
	return 0;
}

TEST(start)
{
	struct model_settings m = machine(3, false);
	struct start s = {.margin_ns = 0};
	int i;

	assert_int_equal(model_run(&m, start_together, &s), 0);
	assert_int_equal(s.call_cnt, 1);
	assert_int_equal(s.late_cnt, 0);
	assert_near(s.longest, 100 * (RANKS - 1) + 1, 0);
	for (i = 1; i < RANKS; i++)
		assert_near(s.began_ns[i], s.began_ns[0], 10);
}

/*
 * The start message takes 2 µs. With a shorter margin, all ranks but rank 0 are late, until the
 * margin is long enough.
 */
TEST(late)
{
	struct model_settings m = machine(3, false);
	struct start s = {.margin_ns = 800};
	int i;

	m.latency_ns = 2000;
	assert_int_equal(model_run(&m, start_together, &s), 0);
	assert_true(s.late_cnt >= 2);
	assert_int_equal(s.kept_cnt, 0);
	assert_int_equal(s.call_cnt, (int)s.late_cnt + 1);
	assert_true(s.margin_ns > 1000);
	for (i = 1; i < RANKS; i++)
		assert_near(s.began_ns[i], s.began_ns[0], WINDOW_LATE_NS + 10);
}

/* If the margin never suffices, a sample is still taken in the end. */
TEST(always_late)
{
	struct model_settings m = machine(3, false);
	struct start s = {.margin_ns = 200};

	m.latency_ns = 1e6;
	assert_int_equal(model_run(&m, start_together, &s), 0);
	assert_int_equal(s.kept_cnt, 1);
	assert_int_equal(s.call_cnt, (int)s.late_cnt);
	assert_near(s.longest, 100 * (RANKS - 1) + 1, 0);
}
