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

/* What the longest path tells. It is made of calls, U of what remains of the time beside tracing: they differ a little. */
static void path_factors(struct efficiency *e, double most_ns, double longest_ns)
{
	double span_ns = (double)e->span_ns, ideal_ns = longest_ns;

	ideal_ns = ideal_ns < most_ns ? most_ns : ideal_ns > span_ns ? span_ns : ideal_ns;
	e->serialisation = most_ns / ideal_ns;
	e->transfer = ideal_ns / span_ns;
}

struct efficiency efficiency_make(const struct account *a, const struct account_job *j,
				  const struct app_time *app, const struct model *m,
				  struct whatif *w, bool partial)
{
	double most_ns = 0, span_ns = (double)(j->to_ns - j->from_ns), sum_ns;
	struct efficiency e = {
		.ranks = j->n,
		.span_ns = j->to_ns - j->from_ns,
		.outside_ns = account_outside_ns(&j->sum),
		.serialisation = NAN,
		.transfer = NAN,
		.partial = partial,
	};

	for (uint32_t i = j->first; i < j->first + j->n; i++) {
		double ns = (double)account_outside_ns(&a->rank[i].row);

		most_ns = ns > most_ns ? ns : most_ns;
	}
	sum_ns = (double)e.outside_ns;
	e.parallel = ratio(sum_ns, span_ns * j->n);
	e.load_balance = ratio(sum_ns, most_ns * j->n);
	e.communication = ratio(most_ns, span_ns);
	e.had_core = a->sched ? ratio((double)j->sum.ns[ACCOUNT_COMPUTING], sum_ns) : NAN;
	if (most_ns <= 0)
		e.unknown = EFFICIENCY_NOTHING_OUTSIDE;
	else if (!w || whatif_is_full(w))
		e.unknown = EFFICIENCY_TOO_LONG;
	else
		path_factors(&e, most_ns, longest_of(a, j, app, m, w));
	return e;
}
