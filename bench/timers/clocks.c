/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Shows what MPI_Wtime reports for ranks that share a core. V ranks on one core do the same amount
 * of work each, then meet in a barrier, as in listing 1 of Nigay et al. 2020 (section 3.1, table
 * 1). There the work was a sleep that kept the core, since their ranks are user-level threads; a
 * rank that is a process would release the core. Each rank reads MPI_Wtime, the monotonic clock
 * and its own CPU time around the work, and MPI_Wtime and CPU time around work and barrier.
 *
 * Expected with W of work: "cpu" is W for any V. "wtime" and "clock" are W for a rank alone, and
 * up to V × W for ranks that share. Depending on the scheduler, the ranks end together (all V × W,
 * if time slices are short compared with W) or one after the other (W, 2 W …, like the paper's
 * user-level threads). "wtime_over_cpu" of the last rank to end is V either way. "wtime_counted",
 * the sum of all ranks' wtime over the elapsed time, is (V + 1) / 2 to V. "cpu_counted" is 1 if no
 * other process uses the core. "cpu_barrier" is W if a waiting rank sleeps, and more if it polls.
 * If `povtrace clock` serves, MPIX_Rtime ("rtime") is also read around the work. MPIX_Ptime
 * ("ptime") of the core is read with all ranks in a section, from the first start to the last end
 * after the barrier. Expected: "rtime" equals "cpu", and "ptime" is the sum of all ranks'
 * "cpu_barrier".
 *
 * "rank_cpu_ns" is the CPU time of the rank's main thread since it began, for comparison with a
 * tracer.
 */
#include "lib/log.h"

#include "core/bench.h"
#include "core/nodes.h"
#include "core/gather.h"

#include <stdio.h>
#include <stdlib.h>

/* Many time slices, which take milliseconds. */
#define WORK_LEAST_NS 50000000
#define NS_PER_S 1e9
#define WAITS 5 /* in a sample */

/* In the order of display; MPIX_Ptime follows MPIX_Rtime. */
enum reading { WTIME, RTIME, CPU, CLOCK, WTIME_BARRIER, CPU_BARRIER, READING_CNT };

static const char *const reading_name[READING_CNT] = {
	[WTIME] = "wtime",
	[RTIME] = "rtime",
	[CPU] = "cpu",
	[CLOCK] = "clock",
	[WTIME_BARRIER] = "wtime_barrier",
	[CPU_BARRIER] = "cpu_barrier",
};

/* Figures of all ranks together: first start to last end, MPIX_Ptime, and the readings' sums. */
enum figure { ELAPSED, PTIME, WTIME_SUM, CPU_SUM, CPU_BARRIER_SUM, FIGURE_CNT };

struct wtime {
	uint64_t work_ns, skip;
	struct samples own[READING_CNT];   /* this rank's */
	struct samples figure[FIGURE_CNT]; /* on rank 0 */
	bool served;			   /* `povtrace clock` serves all ranks */
};

/* One interval of one rank. */
struct span {
	uint64_t start_ns, end_ns;
};
struct listing {
	double value[READING_CNT];
	struct span clock, ptime;
};

/* With less work than this the result would only show how the time slices fell. */
static uint64_t work_ns_of(const struct bench_options *opt)
{
	return opt->compute_max_ns > WORK_LEAST_NS ? opt->compute_max_ns : WORK_LEAST_NS;
}

/* ---- listing 1, once ---- */

static void listing_run(struct comm *c, uint64_t work_ns, struct listing *l)
{
	const struct compute how = {.kind = COMPUTE_WORK, .cores = COMPUTE_ONE};
	uint64_t rtime_ns, cpu_ns;
	double start_s;

	c->ops->section(c, true);
	l->ptime.start_ns = c->ops->core_pov_ns(c);
	rtime_ns = c->ops->rank_pov_ns(c);
	l->clock.start_ns = c->ops->now_ns(c);
	cpu_ns = c->ops->cpu_ns(c);
	start_s = c->ops->wtime(c);
	c->ops->compute(c, &how, work_ns);
	l->value[WTIME] = (c->ops->wtime(c) - start_s) * NS_PER_S;
	l->value[CPU] = (double)(c->ops->cpu_ns(c) - cpu_ns);
	l->clock.end_ns = c->ops->now_ns(c);
	l->value[RTIME] = (double)(c->ops->rank_pov_ns(c) - rtime_ns);
	l->value[CLOCK] = (double)(l->clock.end_ns - l->clock.start_ns);
	c->ops->coll(c, COMM_BARRIER, NULL, NULL, 0, 0);
	l->value[WTIME_BARRIER] = (c->ops->wtime(c) - start_s) * NS_PER_S;
	l->value[CPU_BARRIER] = (double)(c->ops->cpu_ns(c) - cpu_ns);
	l->ptime.end_ns = c->ops->core_pov_ns(c);
	c->ops->section(c, false);
}

static double span_of_all(struct comm *c, const struct span *own)
{
	const struct node_clock one_node = {.ns = 0};

	return gather_span_ns(c, &one_node, own->start_ns, own->end_ns);
}

static double listing_measure(struct bench_run *run, void *ctx)
{
	struct comm *c = run->comm;
	struct wtime *w = ctx;
	double figure[FIGURE_CNT];
	struct listing l;

	listing_run(c, w->work_ns, &l);
	figure[ELAPSED] = span_of_all(c, &l.clock);
	figure[PTIME] = span_of_all(c, &l.ptime);
	figure[WTIME_SUM] = (double)comm_sum(c, (uint64_t)l.value[WTIME]);
	figure[CPU_SUM] = (double)comm_sum(c, (uint64_t)l.value[CPU]);
	figure[CPU_BARRIER_SUM] = (double)comm_sum(c, (uint64_t)l.value[CPU_BARRIER]);
	if (w->skip > 0) {
		w->skip--;
		return l.value[WTIME];
	}
	for (int i = 0; i < READING_CNT; i++)
		samples_add(&w->own[i], l.value[i]);
	for (int i = 0; i < FIGURE_CNT; i++)
		samples_add(&w->figure[i], figure[i]);
	return l.value[WTIME];
}

/* ---- V ranks on a core ---- */

static void wtime_release(struct wtime *w)
{
	for (int i = 0; i < READING_CNT; i++)
		samples_release(&w->own[i]);
	for (int i = 0; i < FIGURE_CNT; i++)
		samples_release(&w->figure[i]);
}

static struct result_point *point_add(struct bench_run *run, const struct wtime *w, int rank)
{
	struct result_point *p = result_point_add(run->result);

	result_param(p, "ranks_per_core", (uint64_t)run->comm->size);
	result_param(p, "rank", (uint64_t)rank);
	result_param(p, "work_ns", w->work_ns);
	return p;
}

/* Writes the values of the core and of all ranks together. */
static void point_share(struct result_point *p, const struct wtime *w)
{
	double median[FIGURE_CNT];

	for (int i = 0; i < FIGURE_CNT; i++)
		median[i] = stats_quantile(&w->figure[i], 0.5);
	result_time(p, "elapsed", &w->figure[ELAPSED]);
	result_value(p, "wtime_counted", median[WTIME_SUM] / median[ELAPSED]);
	result_value(p, "cpu_counted", median[CPU_SUM] / median[ELAPSED]);
	if (w->served)
		result_value(p, "ptime_over_cpu", median[PTIME] / median[CPU_BARRIER_SUM]);
}

/* All ranks call it. The readings of `rank` go to rank 0, which writes them. */
static void point_write(struct bench_run *run, struct wtime *w, int rank, uint64_t rank_cpu_ns)
{
	struct comm *c = run->comm;
	struct result_point *p = c->rank == 0 ? point_add(run, w, rank) : NULL;
	double median[READING_CNT];
	struct samples s = {0};

	for (int i = 0; i < READING_CNT; i++) {
		gather_samples_of(c, &w->own[i], rank, &s);
		if (!p || (i == RTIME && !w->served))
			continue;
		median[i] = stats_quantile(&s, 0.5);
		result_time(p, reading_name[i], &s);
		if (i == RTIME)
			result_time(p, "ptime", &w->figure[PTIME]);
	}
	samples_release(&s);
	if (!p)
		return;
	result_value(p, "wtime_over_cpu", median[WTIME] / median[CPU]);
	if (w->served)
		result_value(p, "rtime_over_cpu", median[RTIME] / median[CPU]);
	point_share(p, w);
	result_value(p, "rank_cpu_ns", (double)rank_cpu_ns);
}

static void core_share(struct bench_run *run, struct core_sharing sharing, void *ctx)
{
	struct comm *c = run->comm;
	uint64_t *rank_cpu_ns = xcalloc((size_t)c->size, sizeof(*rank_cpu_ns));
	struct samples all = {0};
	struct wtime w = {.work_ns = work_ns_of(run->opt),
			  .skip = run->opt->warmup,
			  .served = *(const bool *)ctx};
	/* The warm-up is in `skip`, so measure() has none of its own. */
	const struct measure_how how = {.sample = listing_measure, .ctx = &w, .warm = true};
	char name[32];

	snprintf(name, sizeof(name), "V=%d", sharing.ranks);
	c->ops->mark_begin(c, 1, name);
	measure(run, &how, &all);
	c->ops->mark_end(c, 1);
	comm_collect(c, c->ops->cpu_ns(c), rank_cpu_ns);
	for (int rank = 0; rank < c->size; rank++)
		point_write(run, &w, rank, rank_cpu_ns[rank]);
	samples_release(&all);
	wtime_release(&w);
	free(rank_cpu_ns);
}

static int wtime_run(struct bench_run *run)
{
	bool served = bench_clocks_served(run);

	core_sharing_each(run, core_share, &served);
	return 0;
}

static uint64_t wtime_estimate_ns(const struct bench_run *run)
{
	double work_ns = (double)work_ns_of(run->opt), total_ns = 0;

	for (int v = 1; v <= core_sharing_most(run->comm); v++)
		total_ns += estimate_point_ns(
			run->opt, v * work_ns + WAITS * estimate_shared_wait_ns(run, v));
	return (uint64_t)total_ns;
}

const struct bench bench_wtime = {
	.name = "wtime",
	.group = "timers",
	.brief = "what MPI_Wtime reports against the rank's own CPU time when ranks share a core",
	.source = "Nigay et al. 2020, 3.1, listing 1 and table 1",
	.kind = RESULT_TIMERS,
	.ranks_min = 1,
	.shares_cores = true,
	.nodes = BENCH_NODE_ONE,
	.run = wtime_run,
	.estimate_ns = wtime_estimate_ns,
};

/* ---- clock_read ---- */

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

enum { READINGS = 70000, WARM_UP = 1000, CLOCKS_MAX = 5 };
#define READING_NS_MAX 1000 /* for the estimate */

struct clock_kind {
	const char *name;
	void (*read)(struct comm *c);
	bool by_povtrace;
};

static void read_none(struct comm *c)
{
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

	for (int i = 0; i < READINGS + WARM_UP; i++) {
		begin_ns = c->ops->now_ns(c);
		k->read(c);
		if (i >= WARM_UP)
			samples_add(out, (double)(c->ops->now_ns(c) - begin_ns));
	}
}

static int clock_read_run(struct bench_run *run)
{
	struct comm *c = run->comm;
	bool served = bench_clocks_served(run);
	struct result_point *p;
	struct samples s = {0};

	c->ops->section(c, true);
	for (size_t i = 0; i < CLOCKS_MAX; i++) {
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
	.run = clock_read_run,
	.estimate_ns = clock_read_estimate_ns,
};
