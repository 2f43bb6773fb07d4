/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The cost of reading a clock, on one rank: MPI_Wtime, the thread's CPU time and, if `povtrace
 * clock` serves, MPIX_Rtime and MPIX_Ptime. For their clocks, Nigay et al. 2020 report the cost of
 * a switch (figures 3 and 4; for ours: `povtrace clock --cost -o FILE`). If the kernel keeps the
 * sums, reading them is the other half of the price.
 *
 * Each reading is timed separately, between two readings of the monotonic clock, so that rare long
 * ones are visible. The latter take time themselves, which is part of all samples. The clock
 * "none" has nothing between them.
 */
#include "core/bench.h"
#include "core/estimate.h"
#include "core/served.h"

enum { READINGS = 70000, WARM_UP = 1000, CLOCKS_MAX = 5 };
#define READING_NS_MAX 1000 /* for the estimate */

struct clock_kind {
	const char *name;
	void (*read)(struct comm *c);
	bool by_povtrace;
};

static void read_none(struct comm *c)
{
	(void)c;
}

static void read_wtime(struct comm *c)
{
	c->ops->wtime(c);
}

static void read_cpu(struct comm *c)
{
	c->ops->cpu_ns(c);
}

static void read_rank_pov(struct comm *c)
{
	c->ops->rank_pov_ns(c);
}

static void read_core_pov(struct comm *c)
{
	c->ops->core_pov_ns(c);
}

static const struct clock_kind kinds[CLOCKS_MAX] = {
	{"none", read_none, false},	     {"MPI_Wtime", read_wtime, false},
	{"MPIX_Rtime", read_rank_pov, true}, {"MPIX_Ptime", read_core_pov, true},
	{"CPU time", read_cpu, false},
};

static void readings_take(struct comm *c, const struct clock_kind *k, struct samples *out)
{
	uint64_t begin_ns;
	int i;

	for (i = 0; i < READINGS + WARM_UP; i++) {
		begin_ns = c->ops->now_ns(c);
		k->read(c);
		if (i >= WARM_UP)
			samples_add(out, (double)(c->ops->now_ns(c) - begin_ns));
	}
}

static int clock_read_run(struct bench_run *run)
{
	struct comm *c = run->comm;
	bool served = pov_served(run);
	struct result_point *p;
	struct samples s;
	size_t i;

	samples_init(&s);
	c->ops->section(c, true);
	for (i = 0; i < CLOCKS_MAX; i++) {
		if (kinds[i].by_povtrace && !served)
			continue;
		c->ops->mark_begin(c, 1, kinds[i].name);
		readings_take(c, &kinds[i], &s);
		c->ops->mark_end(c, 1);
		p = result_point_add(run->result);
		result_param_text(p, "clock", kinds[i].name);
		result_time(p, "reading", &s);
		samples_clear(&s);
	}
	c->ops->section(c, false);
	samples_release(&s);
	return 0;
}

static uint64_t clock_read_estimate_ns(const struct bench_run *run)
{
	(void)run;
	return (uint64_t)CLOCKS_MAX * (READINGS + WARM_UP) * READING_NS_MAX;
}

const struct bench bench_clock_read = {
	.name = "clock_read",
	.group = "timers",
	.brief = "what reading MPI_Wtime, CPU time and libpov's clocks takes",
	.source = "Nigay et al. 2020, 3.2 and 3.4",
	.kind = RESULT_COST,
	.ranks_min = 1,
	.ranks_max = 1,
	.needs = 0,
	.nodes = BENCH_NODES_ANY,
	.run = clock_read_run,
	.estimate_ns = clock_read_estimate_ns,
};
