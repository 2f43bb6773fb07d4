/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Connects a timeline with a model: fills in the recording's own description and runs one pass. */
#include <stdlib.h>

#include "analysis/coverage.h"
#include "analysis/time_split.h"
#include "lib/json_get.h"
#include "analysis/finding.h"
#include "analysis/rank_ends.h"
#include "trace/trace_read.h"
#include "timeline/select.h"
#include "timeline/timeline.h"

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
		.poll_cost = poll_cost_read(t),
		.nr_cpus = info->nr_cpus < 65536 ? info->nr_cpus : 0,
		.model = m,
	};
}

/* Adds what is known only at the end. */
static void timeline_conclude(struct timeline *tl, struct model *m, const struct writer_select *sel,
			      const struct coverage *coverage, struct findings *findings,
			      const struct last_calls *calls)
{
	bool *chosen = select_processes(m, sel);
	struct rank_ends ends;
	struct distortion d;

	if (distorted_find(coverage, &findings->untraced, m, &d) && distortion_matters(&d))
		timeline_add_distortion(tl, &d);
	findings_make(findings, m, chosen);
	timeline_add_findings(tl, findings);
	rank_ends_make(&ends, m, calls, findings->sites);
	timeline_add_ends(tl, &ends, chosen);
	rank_ends_release(&ends);
	free(chosen);
}

int timeline_run(struct model *m, const struct timeline_options *opt,
		 const struct timeline_ops *ops, void *ctx, struct writer_totals *totals)
{
	struct timeline *tl = timeline_new(opt, ops, ctx, totals);
	struct coverage coverage;
	struct findings findings;
	struct last_calls calls;
	const struct model_sink *sinks[3 + FINDING_SINKS_MAX] = {timeline_get_sink(tl),
								 &coverage.sink, &calls.sink};
	uint32_t n;
	int err;

	timeline_add_model(tl, m);
	if (opt->slices)
		timeline_add_recording(tl);
	coverage_init(&coverage);
	last_calls_init(&calls);
	findings_init(&findings);
	findings.sites = opt->sites;
	findings.app.coverage = &coverage;
	observers_add(&findings.late.matched, tl_arrow_message, tl);
	n = 3 + findings_sinks(&findings, sinks + 3);
	err = model_run(m, sinks, opt->slices ? n : 1);
	if (!err && opt->slices)
		timeline_conclude(tl, m, opt->select, &coverage, &findings, &calls);
	if (!err) {
		timeline_add_stragglers(tl, m);
		timeline_finish(tl);
	}
	last_calls_release(&calls);
	findings_release(&findings);
	coverage_release(&coverage);
	timeline_free(tl);
	return err;
}
