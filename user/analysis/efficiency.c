/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* See efficiency.h. */
#include "analysis/efficiency.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/whatif.h"
#include "lib/log.h"

static double ratio(double part, double whole)
{
	return whole > 0 ? part / whole : NAN;
}

/* All threads of the job lead the path on; only ranks' main threads end it. */
static struct whatif_span *spans_make(const struct account *a, const struct account_job *j,
				      const struct app_time *app, const struct model *m)
{
	uint32_t n = model_thread_count(m);
	struct whatif_span *span = xcalloc(n + 1, sizeof(*span));

	for (uint32_t i = 0; i < n && i < app->nthread; i++) {
		const struct account_rank *r = account_of_job(a, j,
							      model_thread_get(m, i)->proc->idx);

		if (r && app->thread[i].window_ns)
			span[i] = (struct whatif_span){app->thread[i].from_ns, app->thread[i].to_ns,
						       i == r->thread};
	}
	return span;
}

static double longest_of(const struct account *a, const struct account_job *j,
			 const struct app_time *app, const struct model *m, struct whatif *w)
{
	struct whatif_span *span = spans_make(a, j, app, m);
	double ns = (double)whatif_longest_ns(w, span);

	free(span);
	return ns;
}

struct efficiency efficiency_make(const struct account *a, const struct account_job *j,
				  const struct app_time *app, const struct model *m,
				  struct whatif *w, bool partial)
{
	double sum = 0, most = 0, span = (double)(j->to_ns - j->from_ns), ideal;
	struct efficiency e = {.serialisation = NAN, .transfer = NAN, .partial = partial};

	for (uint32_t i = j->first; i < j->first + j->n; i++) {
		double ns = (double)account_outside_ns(&a->rank[i].row);

		sum += ns;
		most = ns > most ? ns : most;
	}
	e.parallel = ratio(sum, span * j->n);
	e.load_balance = ratio(sum, most * j->n);
	e.communication = ratio(most, span);
	e.had_core = a->sched ? ratio((double)j->sum.ns[ACCOUNT_COMPUTING], sum) : NAN;
	if (!w || whatif_is_full(w) || most <= 0)
		return e;
	/* The path is made of calls, U of what remains of the time beside tracing: they differ a little. */
	ideal = longest_of(a, j, app, m, w);
	ideal = ideal < most ? most : ideal > span ? span : ideal;
	e.serialisation = most / ideal;
	e.transfer = ideal / span;
	return e;
}
