/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Measures single rounds first; the shortest one determines how many rounds make a sample. */
#include "core/rounds.h"

#include <math.h>

#define PROBES 5

struct rounds {
	rounds_fn fn;
	void *ctx;
	uint64_t cnt;
	double parts;
};

static double rounds_sample(struct bench_run *run, void *ctx)
{
	struct rounds *r = ctx;

	return r->fn(run, r->ctx, r->cnt) / (double)r->cnt / r->parts;
}

static uint64_t rounds_enough(struct bench_run *run, struct rounds *r)
{
	double least_ns = INFINITY;
	int i;

	for (i = 0; i < PROBES; i++) {
		comm_sync(run->comm, 0);
		least_ns = fmin(least_ns, r->fn(run, r->ctx, 1));
	}
	return comm_tell(run->comm, (uint64_t)fmax(1, fmin(ROUNDS_MOST, ceil(ROUNDS_SAMPLE_NS /
									     fmax(least_ns, 1)))));
}

void rounds_measure(struct bench_run *run, rounds_fn fn, void *ctx, double parts,
		    struct samples *out)
{
	struct rounds r = {.fn = fn, .ctx = ctx, .cnt = 1, .parts = parts};
	const struct measure_how how = {.sample = rounds_sample, .ctx = &r};

	r.cnt = rounds_enough(run, &r);
	measure(run, &how, out);
}
