/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * N threads load (Denis & Trahay 2016, III.D): on both ranks N threads compute in the background
 * while the main thread makes a blocking ping-pong (FUNNELED suffices). Half of the round trip is
 * T_comm without these threads and T_measured with them. The value ratio is the delay, (T_measured
 * − T_comm) / T_comm, which is 0 for none; ratio_mean is the same from the means. Delays come from
 * the scheduler: they last milliseconds and affect only some messages. late_pct is the share that
 * came 0.5 ms or more later than T_comm, and the time "late" is their lateness. The load uses all
 * processing units of the node by default. A point has bytes and threads.
 */
#include "core/bench.h"

#include "lib/log.h"
#include "core/classify.h"
#include "core/cpu_list.h"
#include "core/param_text.h"
#include "core/sweep.h"

#include <stdio.h>
#include <stdlib.h>

/* The estimate assumes a time slice in each direction when threads are in the way. */
#define GUESS_LATENCY_NS 8000000

/*
 * Longest pause before a sample. A ping-pong takes a microsecond, a time slice milliseconds.
 * Consecutive samples would all fall into the same slice. Immediately after a synchronisation they
 * would fall into one that both ranks have. So samples are taken at random moments, a few slices
 * apart.
 */
#define PAUSE_NS 10000000

struct nload {
	struct bench_run *run;
	struct sweep sizes;
	struct samples *comm; /* T_comm of each size; owned */
	uint64_t threads_max;
};

static uint64_t nload_threads_max(const struct bench_options *opt)
{
	struct cpu_list units;
	uint64_t cnt;

	if (opt->threads_max)
		return opt->threads_max;
	cpu_list_init(&units, NULL);
	cnt = (uint64_t)units.cnt;
	cpu_list_release(&units);
	return cnt;
}

static void nload_init(struct nload *n, struct bench_run *run)
{
	const struct bench_options *opt = run->opt;

	*n = (struct nload){.run = run, .threads_max = nload_threads_max(opt)};
	sweep_init(&n->sizes, opt->bytes_min, opt->bytes_max, opt->step, 1, 1);
	n->comm = xcalloc(n->sizes.cnt, sizeof(*n->comm));
}

static void nload_release(struct nload *n)
{
	for (size_t i = 0; i < n->sizes.cnt; i++)
		samples_release(&n->comm[i]);
	free(n->comm);
	sweep_release(&n->sizes);
}

static void nload_measure(struct nload *n, size_t bytes, struct samples *out)
{
	measure_pingpong_apart(n->run, bytes, PAUSE_NS, out);
}

static void nload_reference(struct nload *n)
{
	struct comm *c = n->run->comm;

	c->ops->mark_begin(c, 1, "reference");
	for (size_t i = 0; i < n->sizes.cnt; i++)
		nload_measure(n, n->sizes.value[i], &n->comm[i]);
	c->ops->mark_end(c, 1);
}

/* Collects the lateness of late messages. */
static void find_late(const struct samples *measured, double comm_ns, struct samples *out)
{
	for (size_t i = 0; i < measured->cnt; i++) {
		if (measured->value[i] - comm_ns >= LOAD_LATE_NS)
			samples_add(out, measured->value[i] - comm_ns);
	}
}

/*
 * Writes rank 0's CPUs, which show whether the thread that communicates shares its core with the
 * load.
 */
static void nload_write_cpus(const struct nload *n, struct result_point *point)
{
	const struct bench_options *opt = n->run->opt;
	cpu_set_t allowed;
	char own[256];

	if (n->run->comm->features & COMM_VIRTUAL_TIME ||
	    sched_getaffinity(0, sizeof(allowed), &allowed))
		return;
	cpu_set_text(&allowed, own, sizeof(own));
	result_param_text(point, "rank_cpus", own);
	result_param_text(point, "threads_cpus",
			  opt->load_cpus ? opt->load_cpus :
			  opt->bind	 ? "one each, free ones first" :
					   own);
}

static void nload_write(struct nload *n, size_t idx, uint64_t threads,
			const struct samples *measured)
{
	struct result_point *point = result_point_add(n->run->result);
	struct summary comm, loaded;
	struct samples late = {0};

	stats_summarize(&n->comm[idx], &comm);
	stats_summarize(measured, &loaded);
	result_param(point, "bytes", n->sizes.value[idx]);
	result_param(point, "threads", threads);
	nload_write_cpus(n, point);
	result_time(point, "comm", &n->comm[idx]);
	result_time(point, "measured", measured);
	find_late(measured, comm.median, &late);
	result_time(point, "late", &late);
	if (measured->cnt)
		result_value(point, "late_pct", 100 * (double)late.cnt / (double)measured->cnt);
	samples_release(&late);
	if (comm.median > 0)
		result_value(point, "ratio", (loaded.median - comm.median) / comm.median);
	if (comm.mean > 0)
		result_value(point, "ratio_mean", (loaded.mean - comm.mean) / comm.mean);
}

static void nload_point(struct nload *n, size_t idx, uint64_t threads)
{
	char size[HUMAN_BYTES], name[2 * HUMAN_BYTES];
	struct comm *c = n->run->comm;
	struct samples measured = {0};

	snprintf(name, sizeof(name), "%s, %u thread%s",
		 human_bytes(size, sizeof(size), n->sizes.value[idx]), (unsigned int)threads,
		 plural_s((double)threads));
	c->ops->mark_begin(c, 1, name);
	nload_measure(n, n->sizes.value[idx], &measured);
	if (c->rank == 0)
		nload_write(n, idx, threads, &measured);
	samples_release(&measured);
	c->ops->mark_end(c, 1);
}

/* The threads run through all sizes, because their presence is measured and not their start. */
static void nload_threads(struct nload *n, uint64_t threads)
{
	struct bench_run *run = n->run;
	const struct comm_load load = {(int)threads, run->opt->bind, run->opt->load_cpus};
	struct comm *c = run->comm;

	if (threads)
		c->ops->load_begin(c, &load);
	for (size_t i = 0; i < n->sizes.cnt; i++) {
		const struct result_axis axes[] = {{"bytes", n->sizes.value[i]},
						   {"threads", threads}};

		if (!resume_has(run, axes, 2))
			nload_point(n, i, threads);
		bench_progress(run, (size_t)threads * n->sizes.cnt + i + 1,
			       ((size_t)n->threads_max + 1) * n->sizes.cnt);
	}
	if (threads)
		c->ops->load_end(c);
}

static int nload_run(struct bench_run *run)
{
	struct nload n;

	nload_init(&n, run);
	/* Rank 0's number counts for all ranks, even if other nodes have another one. */
	n.threads_max = comm_tell(run->comm, n.threads_max);
	nload_reference(&n);
	for (uint64_t threads = 0; threads <= n.threads_max; threads++)
		nload_threads(&n, threads);
	nload_release(&n);
	return 0;
}

static uint64_t nload_estimate_ns(const struct bench_run *run)
{
	const struct bench_options *opt = run->opt;
	double all_ns = 0;
	struct sweep sizes;

	sweep_init(&sizes, opt->bytes_min, opt->bytes_max, opt->step, 1, 1);
	for (size_t i = 0; i < sizes.cnt; i++)
		all_ns += estimate_point_ns(opt, PAUSE_NS / 2 + GUESS_LATENCY_NS +
							 2 * (double)sizes.value[i] /
								 ESTIMATE_BYTES_PER_NS);
	sweep_release(&sizes);
	return (uint64_t)(all_ns * (double)(nload_threads_max(opt) + 2));
}

const struct bench bench_nload = {
	.name = "nload",
	.group = "load",
	.brief = "blocking ping-pong while 0 to N threads compute on both ranks",
	.source = "Denis & Trahay 2016, III.D: N threads load",
	.kind = RESULT_LOAD,
	.ranks_min = 2,
	.ranks_max = 2,
	.needs = COMM_HAS_THREADS,
	.shares_cores = true,
	.run = nload_run,
	.estimate_ns = nload_estimate_ns,
};
