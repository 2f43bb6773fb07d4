/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Estimates: they include what --point-time does not limit, and the cost of waiting on this
 * machine.
 */
#include "unit/test.h"
#include "bench_near.h"
#include "core/bench.h"
#include "model/model.h"

#define MS 1e6

static struct bench_options options(void)
{
	return (struct bench_options){
		.bytes_min = 64,
		.bytes_max = 16384,
		.compute_min_ns = 20000,
		.compute_max_ns = 80000,
		.step = 4,
		.samples = 50,
		.samples_max = 1000,
		.warmup = 2,
		.point_ns = 20000000,
		.repeat = 20,
		.threads_max = 2,
	};
}

TEST(point)
{
	struct bench_options opt = options();

	assert_near(estimate_point_ns(&opt, 0.1 * MS), 52 * 0.1 * MS, 1);
	/* Two samples warm up. Then the time ends after one more has begun. */
	assert_near(estimate_point_ns(&opt, 1 * MS), 23 * MS, 1);
	/* Two samples are taken, however long they take. */
	assert_near(estimate_point_ns(&opt, 50 * MS), 4 * 50 * MS, 1);
	opt.ci_pct = 2.5;
	assert_near(estimate_point_ns(&opt, 0.01 * MS), 1002 * 0.01 * MS, 1);
	opt.point_ns = 0;
	assert_near(estimate_point_ns(&opt, 50 * MS), 1002 * 50 * MS, 1);
}

TEST(waits)
{
	struct estimate_machine m = {.node_ranks = 4, .core_cnt = 2, .shared_ns = 8 * MS};
	struct bench_run run = {.machine = &m};

	assert_near(estimate_wait_ns(&run, 2), 0, 0);
	assert_near(estimate_wait_ns(&run, 3), 8 * MS, 0);
	assert_near(estimate_shared_wait_ns(&run, 1), 0, 0);
	assert_near(estimate_shared_wait_ns(&run, 4), 3 * 8 * MS, 0);
	m.node_ranks = 2; /* the other ranks are on another node */
	assert_false(estimate_crowded(&m, 4));
	m.node_ranks = 4;
	m.shared_ns = 20000; /* waiting yields the core */
	assert_false(estimate_crowded(&m, 4));
	assert_near(estimate_wait_ns(&run, 3), 0, 0);
	run.machine = NULL;
	assert_near(estimate_wait_ns(&run, 3), 0, 0);
	assert_near(estimate_shared_wait_ns(&run, 3), 0, 0);
}

static double estimate_of(const char *name, int ranks, const struct estimate_machine *m)
{
	struct bench_options opt = options();
	struct comm c = {.size = ranks};
	struct bench_run run = {.comm = &c, .opt = &opt, .machine = m};
	size_t i;

	for (i = 0; benches[i] && strcmp(benches[i]->name, name); i++)
		;
	assert_non_null(benches[i]);
	run.bench = benches[i];
	return (double)benches[i]->estimate_ns(&run);
}

/* A limit of 20 ms does not cut samples of 50 ms and more. */
TEST(benchmarks)
{
	struct estimate_machine m = {.node_ranks = 4, .core_cnt = 2, .shared_ns = 8 * MS};

	assert_true(estimate_of("wtime", 2, NULL) >= 4 * 50 * MS + 4 * 100 * MS);
	assert_true(estimate_of("nload", 2, NULL) >= 4 * 5 * 4 * 5 * MS);
	assert_true(estimate_of("cg", 2, &m) > estimate_of("cg", 2, NULL) + 4 * 50 * 8 * MS);
	assert_true(estimate_of("ibcast", 3, &m) >
		    estimate_of("ibcast", 3, NULL) + 10 * 4 * 8 * MS);
	assert_near(estimate_of("ibcast", 2, &m), estimate_of("ibcast", 2, NULL), 0);
	assert_true(estimate_of("bcast_ack", 3, &m) >
		    estimate_of("bcast_ack", 3, NULL) + 20 * 20 * 8 * MS);
}

static int probe_rank(struct comm *c, void *ctx)
{
	struct estimate_machine m = {.node_ranks = c->size};

	estimate_probe(c, &m);
	if (!c->rank)
		*(struct estimate_machine *)ctx = m;
	return 0;
}

/* A synchronisation is two messages of 50 us each here, and no rank is in the way. */
TEST(probe)
{
	struct estimate_machine m;
	struct model_settings set;

	model_settings_init(&set);
	set.ranks = 3;
	set.latency_ns = 50000;
	assert_int_equal(model_run(&set, probe_rank, &m), 0);
	assert_near(m.shared_ns, 2 * 50000, 5000);
	assert_true(m.core_cnt >= 1);
	set.ranks = 1;
	assert_int_equal(model_run(&set, probe_rank, &m), 0);
	assert_near(m.shared_ns, 0, 0);
}
