/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Ranks of a job that compute more than others, by analysis/app_time.h. */
#include "analysis/label.h"
#include "base/log.h"
#include "finding/find.h"

#define IMBALANCE_PCT 10 /* of the mean, that the rank with most computes more */

/* One job's ranks. */
struct job_sum {
	uint32_t first, end;	 /* idx of processes */
	uint32_t n, most, least; /* how many began to use MPI while they were recorded; idx */
	uint64_t ns;
};

static uint64_t computed(const struct findings *f, uint32_t idx)
{
	return f->app.process[idx].computed_ns;
}

static bool is_known(const struct findings *f, uint32_t idx)
{
	return f->app.process[idx].init_ns;
}

/* What those that count would wait less. */
static uint64_t saved_by(const struct findings *f, const struct job_sum *s)
{
	uint64_t ns = 0;

	for (uint32_t i = s->first; i < s->end; i++)
		if (is_known(f, i) && finding_counts(f, model_process_get(f->model, i)))
			ns += computed(f, s->most) - computed(f, i);
	return ns;
}

static char *balance_text(const struct findings *f, const struct job_sum *s, uint64_t saved_ns)
{
	const struct model_process *most = model_process_get(f->model, s->most);
	uint64_t mean_ns = s->ns / s->n;
	char *text = words_process(f, xstrdup(""), most);

	text = words_ns(text, " computed ", computed(f, s->most), "");
	text = words(text, ", %.2f of the mean of its job's %u ranks",
		     (double)computed(f, s->most) / (double)mean_ns, s->n);
	text = words_ns(text, " (", mean_ns, "; ");
	text = words_process(f, text, model_process_get(f->model, s->least));
	text = words_ns(text, " least: ", computed(f, s->least), "); shared alike, it would be ");
	text = words_ns(text, "", computed(f, s->most) - mean_ns, " less");
	return words_ns(text, ", and so much less for the others to wait for: ", saved_ns,
			" together, if they wait for nothing else");
}

static void job_find(struct findings *f, const struct job_sum *s)
{
	uint64_t saved_ns;

	if (f->app.lost || s->n < 2 ||
	    computed(f, s->most) * s->n * 100 < s->ns * (100 + IMBALANCE_PCT))
		return;
	saved_ns = saved_by(f, s);
	finding_add(f, &(struct finding){
			       .kind = "compute_imbalance",
			       .cost_ns = saved_ns,
			       .text = balance_text(f, s, saved_ns),
			       .process = s->most,
		       });
}

static void rank_add(const struct findings *f, struct job_sum *s, uint32_t idx)
{
	if (!is_known(f, idx))
		return;
	s->most = !s->n || computed(f, idx) > computed(f, s->most) ? idx : s->most;
	s->least = !s->n || computed(f, idx) < computed(f, s->least) ? idx : s->least;
	s->ns += computed(f, idx);
	s->n++;
}

/* Ranks are in order of their jobs. */
void find_balance(struct findings *f)
{
	uint32_t n = model_process_count(f->model);
	struct job_sum s = {0};

	for (; s.first < n && model_process_get(f->model, s.first)->is_rank;
	     s = (struct job_sum){.first = s.end}) {
		int32_t job = model_process_get(f->model, s.first)->job_idx;

		for (s.end = s.first; s.end < n; s.end++) {
			const struct model_process *p = model_process_get(f->model, s.end);

			if (!p->is_rank || p->job_idx != job)
				break;
			rank_add(f, &s, s.end);
		}
		job_find(f, &s);
	}
}
