/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * From coverage's hits.
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

const struct model_process *distorted_find(const struct coverage *a, const struct model *m,
					   struct distortion *out)
{
	const struct model_process *p, *worst = NULL;
	double pct;
	uint32_t i;

	*out = (struct distortion){0};
	for (i = 0; i < model_process_count(m) && i < a->nprocess; i++) {
		p = model_process_get(m, i);
		if (!p->is_rank || !a->process[i].cost_ns || p->end_ns <= p->start_ns)
			continue;
		pct = 100.0 * (double)a->process[i].cost_ns / (double)(p->end_ns - p->start_ns);
		out->above += pct > DISTORTION_PCT;
		if (pct <= out->pct)
			continue;
		out->pct = pct;
		worst = p;
	}
	if (!worst)
		return NULL;
	out->low = a->lost_cnt[POV_CLASS_CALL] || a->lost_cnt[POV_CLASS_SPIN];
	name_process(m, worst, out->who, sizeof(out->who));
	for (i = 0; i < model_func_count(m); i++) {
		const struct func_info *f = model_func_get(m, i);

		if (f->id < a->nfunc)
			distortion_add_func(out, f->name, coverage_cost(a, &a->func[f->id]));
	}
	return worst;
}
