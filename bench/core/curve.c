/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The sweep over message sizes. The benchmark supplies the timed part. For samples of many rounds,
 * single rounds come first; the shortest one determines how many rounds make a sample.
 */
#include "core/curve.h"

#include "lib/human.h"
#include "core/bench.h"
#include "core/sweep.h"

#include <math.h>

static void point_write(struct bench_run *run, size_t bytes, const struct curve *curve,
			const struct samples *measured)
{
	struct result_point *point = result_point_add(run->result);
	struct summary sum;

	stats_summarize(measured, &sum);
	result_param(point, "bytes", bytes);
	if (curve->params)
		curve->params(run, bytes, point);
	result_time(point, "measured", measured);
	if (!(sum.median > 0))
		return;
	result_value(point, "mb_per_s", (double)bytes / sum.median * 1e3);
	if (curve->rate)
		result_value(point, "messages_per_s", 1e9 / sum.median);
}

static void curve_point(struct bench_run *run, size_t bytes, const struct curve *curve)
{
	struct comm *c = run->comm;
	char name[HUMAN_BYTES];
	struct samples measured = {0};

	c->ops->mark_begin(c, 1, human_bytes(name, sizeof(name), bytes));
	curve->measure(run, bytes, &measured);
	if (c->rank == 0)
		point_write(run, bytes, curve, &measured);
	samples_release(&measured);
	c->ops->mark_end(c, 1);
}

static void curve_sweep(const struct bench_run *run, struct sweep *out)
{
	const struct curve *curve = run->bench->method;
	const struct bench_options *opt = run->opt;
	uint64_t unit = curve->unit ? curve->unit : 1;
	uint64_t most = curve->bytes_max ? curve->bytes_max(run) : UINT64_MAX;
	uint64_t min = opt->bytes_min, max = opt->bytes_max < most ? opt->bytes_max : most;

	if (unit > 1) {
		min = min < unit ? unit : min;
		max = max < unit ? unit : max;
	}
	sweep_init(out, min, max, opt->step, unit, unit);
}

int curve_run(struct bench_run *run)
{
	const struct curve *curve = run->bench->method;
	struct sweep sizes;

	curve_sweep(run, &sizes);
	for (size_t i = 0; i < sizes.cnt; i++) {
		const struct result_axis axis = {"bytes", sizes.value[i]};

		if (!resume_has(run, &axis, 1))
			curve_point(run, sizes.value[i], curve);
		bench_progress(run, i + 1, sizes.cnt);
	}
	sweep_release(&sizes);
	return 0;
}

uint64_t curve_estimate_ns(const struct bench_run *run)
{
	const struct curve *curve = run->bench->method;
	const struct bench_options *opt = run->opt;
	double all_ns = 0, bytes, messages, sample_ns;
	struct sweep sizes;

	curve_sweep(run, &sizes);
	for (size_t i = 0; i < sizes.cnt; i++) {
		bytes = (double)sizes.value[i];
		messages = curve->messages ? (double)curve->messages(run, sizes.value[i]) : 2;
		sample_ns = ESTIMATE_LATENCY_NS + messages * bytes / ESTIMATE_BYTES_PER_NS;
		all_ns += estimate_point_ns(opt, fmax(sample_ns, ROUNDS_SAMPLE_NS));
	}
	sweep_release(&sizes);
	return (uint64_t)all_ns;
}

/* ---- samples of many rounds ---- */

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

	for (int i = 0; i < PROBES; i++) {
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
