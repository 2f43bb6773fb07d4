/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The sweep over message sizes that the references share. What is measured is the caller's.
 */
#include "reference/curve.h"
#include "core/estimate.h"

#include "base/human.h"
#include "core/resume.h"
#include "core/sweep.h"

static void curve_point(struct bench_run *run, size_t bytes, curve_fn measure_size)
{
	struct comm *c = run->comm;
	char name[HUMAN_BYTES];
	struct samples measured;
	struct result_point *point;
	struct summary sum;

	c->ops->mark_begin(c, 1, human_bytes(name, sizeof(name), bytes));
	samples_init(&measured);
	measure_size(run, bytes, &measured);
	if (c->rank == 0) {
		stats_summarize(&measured, &sum);
		point = result_point_add(run->result);
		result_param(point, "bytes", bytes);
		result_time(point, "measured", &measured);
		if (sum.median > 0)
			result_value(point, "mb_per_s", (double)bytes / sum.median * 1e3);
	}
	samples_release(&measured);
	c->ops->mark_end(c, 1);
}

static void curve_sweep(const struct bench_options *opt, struct sweep *out)
{
	sweep_init(out, opt->bytes_min, opt->bytes_max, opt->step, 1, 1);
}

int curve_run(struct bench_run *run, curve_fn measure_size)
{
	struct sweep sizes;
	size_t i;

	curve_sweep(run->opt, &sizes);
	for (i = 0; i < sizes.cnt; i++) {
		const struct result_axis axis = {"bytes", sizes.value[i]};

		if (!resume_has(run, &axis, 1))
			curve_point(run, sizes.value[i], measure_size);
		if (run->comm->rank == 0 && run->progress)
			run->progress(run->progress_ctx, i + 1, sizes.cnt);
	}
	sweep_release(&sizes);
	return 0;
}

uint64_t curve_estimate_ns(const struct bench_run *run)
{
	const struct bench_options *opt = run->opt;
	double all_ns = 0;
	struct sweep sizes;
	size_t i;

	curve_sweep(opt, &sizes);
	for (i = 0; i < sizes.cnt; i++)
		all_ns += estimate_point_ns(opt,
					    ESTIMATE_LATENCY_NS + 2 * (double)sizes.value[i] /
									  ESTIMATE_BYTES_PER_NS);
	sweep_release(&sizes);
	return (uint64_t)all_ns;
}
