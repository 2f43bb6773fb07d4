/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Connects a timeline with a model: what the recording's own description says, and one pass.
 */
#include "analysis/distorted.h"
#include "analysis/match.h"
#include "analysis/polls.h"
#include "base/json_get.h"
#include "trace/trace_read.h"
#include "writer/timeline.h"

void timeline_options_fill(struct timeline_options *opt, struct model *m,
			   const struct writer_select *sel, const struct writer_args *recording)
{
	const struct model_info *info = model_get_info(m);
	struct trace *t = model_get_trace(m);
	const json_t *config = json_object_get(trace_meta_find(t, "recording"), "config");

	*opt = (struct timeline_options){
		.select = sel,
		.recording = recording,
		.start_ns = info->start_ns,
		.end_ns = info->end_ns,
		.sched_recorded = info->sched_recorded,
		.sched_all = info->sched_all,
		.rings = json_get_u32(config, "rings"),
		.cpus_per_ring = json_get_u32(config, "cpus_per_ring"),
		.poll_ns = poll_cost_ns(t),
		.nr_cpus = info->nr_cpus < 65536 ? info->nr_cpus : 0,
		.model = m,
	};
}

int timeline_run(struct model *m, const struct timeline_options *opt,
		 const struct timeline_ops *ops, void *ctx, struct writer_totals *totals)
{
	struct timeline *tl = timeline_new(opt, ops, ctx, totals);
	struct coverage coverage;
	struct matches matches;
	const struct model_sink *sinks[] = {timeline_get_sink(tl), &coverage.sink, &matches.sink};
	struct distortion d;
	int err;

	timeline_add_model(tl, m);
	if (opt->slices)
		timeline_add_recording(tl);
	coverage_init(&coverage);
	matches_init(&matches, tl_arrow_message, tl);
	err = model_run(m, sinks, opt->slices ? 3 : 1);
	if (!err && opt->slices && distorted_find(&coverage, m, &d) && distortion_matters(&d))
		timeline_add_distortion(tl, &d);
	if (!err) {
		timeline_add_stragglers(tl, m);
		timeline_finish(tl);
	}
	matches_release(&matches);
	coverage_release(&coverage);
	timeline_free(tl);
	return err;
}
