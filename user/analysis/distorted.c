/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Finds the functions that cost most from the hits in coverage. Polls that found nothing are left
 * out: their callers would have waited anyway.
 */
#include "analysis/distorted.h"

#include <stdio.h>

static void name_process(const struct model *m, const struct model_process *p, char *buf,
			 size_t bytes)
{
	if (p->rank < 0)
		snprintf(buf, bytes, "process %u", p->host_pid);
	else if (model_get_info(m)->njobs > 1)
		snprintf(buf, bytes, "rank %d:%d", p->job_idx, p->rank);
	else
		snprintf(buf, bytes, "rank %d", p->rank);
}

static const struct app_thread *main_of(const struct app_time *app, const struct model_process *p)
{
	const struct app_process *row = p->idx < app->nprocess ? &app->process[p->idx] : NULL;

	return p->is_rank && row && row->has_main ? &app->thread[row->main] : NULL;
}

static double pct_of(const struct app_thread *t, uint64_t ns)
{
	return t && t->window_ns ? 100.0 * (double)ns / (double)t->window_ns : 0;
}

const struct model_process *distorted_find(const struct coverage *a, const struct untraced *u,
					   const struct model *m, struct distortion *out)
{
	const struct model_process *p, *worst = NULL;
	const struct app_thread *t;
	double pct;
	uint32_t i;

	*out = (struct distortion){.run_pct = 100 * u->share};
	for (i = 0; i < model_process_count(m); i++) {
		p = model_process_get(m, i);
		t = main_of(u->app, p);
		pct = t ? pct_of(t, t->tracing_ns) : 0;
		out->above += pct > DISTORTION_PCT;
		if (pct <= out->pct)
			continue;
		out->pct = pct;
		out->core_pct = pct_of(t, t->taken_ns);
		out->room_pct = pct_of(t, t->room_ns);
		worst = p;
	}
	if (!worst)
		return NULL;
	out->low = a->lost_cnt[POV_CLASS_CALL] || a->lost_cnt[POV_CLASS_SPIN];
	name_process(m, worst, out->who, sizeof(out->who));
	for (i = 0; i < model_func_count(m); i++) {
		const struct func_info *f = model_func_get(m, i);

		if (f->id < a->nfunc)
			distortion_add_func(out, f->name,
					    coverage_cost(a, &a->func[f->id]) -
						    coverage_poll_cost(a, &a->func[f->id]));
	}
	return worst;
}
