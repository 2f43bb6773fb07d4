/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A library that polls while it waits keeps the core from the rank that it waits for. A message
 * then takes a time slice of the scheduler, and a run a thousand times its normal time. The
 * library's behaviour is measured, not asked for.
 */
#include "core/estimate.h"

#include "core/nodes.h"

#include <math.h>

#define PROBES 9
#define SLICE_NS_LEAST 200000.0 /* shortest time that counts as a time slice */

static void sync_probe(struct bench_run *run, struct core_sharing sharing, void *ctx)
{
	struct comm *c = run->comm;
	double *mean_ns = ctx;
	uint64_t begin_ns;
	int i;

	(void)sharing;
	comm_sync(c, 0);
	begin_ns = c->ops->now_ns(c);
	for (i = 0; i < PROBES; i++)
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
