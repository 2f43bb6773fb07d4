/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Ranks of a job that compute more than others, by analysis/balance.h. */
#include "analysis/label.h"
#include "base/log.h"
#include "finding/find.h"

#define IMBALANCE_PCT 10 /* of the mean, that the rank with most computes more */

/* One job's ranks. */
struct job_sum {
	uint32_t n, most, least; /* how many; idx of processes */
	uint64_t ns;
};

static uint64_t computed(const struct findings *f, uint32_t idx)
{
	return balance_computed_ns(&f->balance, idx);
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
	uint64_t most_ns = computed(f, s->most), saved_ns = most_ns * s->n - s->ns;

	if (f->balance.lost || s->n < 2 || most_ns * s->n * 100 < s->ns * (100 + IMBALANCE_PCT))
		return;
	finding_add(f, &(struct finding){
			       .kind = "compute_imbalance",
			       .cost_ns = saved_ns,
			       .text = balance_text(f, s, saved_ns),
			       .process = s->most,
		       });
}

void find_balance(struct findings *f)
{
	struct job_sum s = {0};
	int32_t job = -1;

	for (uint32_t i = 0; i < model_process_count(f->model); i++) {
		const struct model_process *p = model_process_get(f->model, i);

		if (!finding_counts(f, p) || !f->balance.process[i].begun)
			continue;
		if (s.n && p->job_idx != job) { /* ranks are in order of their jobs */
			job_find(f, &s);
			s = (struct job_sum){0};
		}
		job = p->job_idx;
		s.most = !s.n || computed(f, i) > computed(f, s.most) ? i : s.most;
		s.least = !s.n || computed(f, i) < computed(f, s.least) ? i : s.least;
		s.ns += computed(f, i);
		s.n++;
	}
	if (s.n)
		job_find(f, &s);
}
