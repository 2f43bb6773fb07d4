/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Finds sets of CPUs that more threads want than there are CPUs (analysis/demand.h). Reports no set
 * whose cost smaller sets within it explain.
 */
#include <stdlib.h>

#include "analysis/label.h"
#include "lib/log.h"
#include "finding/find.h"

#define OVER_PART 10  /* demand must exceed a set for 1/OVER_PART of its busy time */
#define EXPLAINED 0.9 /* drop a set if sets within it explain more than this part of its cost */

static char *words_cpus(const struct findings *f, char *text, const struct demand_mask *k)
{
	char *cpus = cpus_label(f->model, k->host_idx, &k->cpus, NAMED);

	text = words(text, "%s", cpus);
	free(cpus);
	return text;
}

/* Processes whose threads want CPUs of the set. Returns their number, and the first NAMED. */
static uint32_t ranks_in(const struct findings *f, uint32_t mask,
			 const struct model_process **named)
{
	const struct demand *d = &f->demand;
	bool *seen = xcalloc(model_process_count(f->model), sizeof(*seen));
	uint32_t n = 0;

	for (uint32_t i = 0; i < model_thread_count(f->model); i++) {
		const struct model_thread *t = model_thread_get(f->model, i);
		bool in = false;

		for (uint32_t k = 0; k < d->nmask && !in && !seen[t->proc->idx]; k++)
			in = demand_within(&d->mask[k], &d->mask[mask]) &&
			     demand_of_thread(d, t, k) >= d->mask[mask].over_ns / OVER_PART;
		if (!in)
			continue;
		seen[t->proc->idx] = true;
		if (n < NAMED)
			named[n] = t->proc;
		n++;
	}
	free(seen);
	return n;
}

static char *demand_text(const struct findings *f, uint32_t mask)
{
	const struct demand_mask *k = &f->demand.mask[mask];
	const struct model_process *named[NAMED];
	uint32_t n = ranks_in(f, mask, named);
	char *text = xasprintf("%.1f threads on average, at most %u",
			       (double)k->want_ns / (double)k->over_ns, k->most);

	for (uint32_t i = 0; i < n && i < NAMED; i++)
		text = words_process(f, words(text, i ? ", " : ", of "), named[i]);
	text = words_more(text, n);
	text = words(text, ", wanted the %u CPU%s that they may use (", k->nr,
		     k->nr == 1 ? "" : "s");
	text = words_ns(words_cpus(f, text, k), ") for ", k->over_ns, "");
	text = words_ns(text, ", and had all of them: ", k->lost_ns,
			" were lost to each other (longest ");
	text = words_ns(text, "", k->worst_ns, "");
	return words(words_when(f, text, k->worst_from_ns), ")");
}

static char *demand_advice(const struct findings *f, uint32_t mask)
{
	const struct demand_mask *k = &f->demand.mask[mask];
	const struct model_process *named[NAMED];
	uint32_t ranks = ranks_in(f, mask, named);
	uint32_t each = (uint32_t)((double)k->want_ns / (double)k->over_ns / (ranks ? ranks : 1) +
				   0.5);
	char *text = ranks > 1 && allotted_apart(&f->allotted, named[0], named[1]) ?
			     advice_apart(f, named[0], named[1]) :
			     advice_cores(f, "each rank", each ? each : 1);

	text = words(text ? words(text, ", or ") : xstrdup(""),
		     "start fewer threads (OMP_NUM_THREADS) or ranks");
	return ranks > 1 ? advice_yield(f, text, "; ranks that poll leave the core to others by ") :
			   text;
}

/* Cost of the reported sets within a set. Counts no CPU twice. */
static uint64_t explained_ns(const struct findings *f, const bool *told, uint32_t mask)
{
	const struct demand_mask *m = f->demand.mask;
	uint64_t ns = 0;

	for (uint32_t i = 0; i < f->demand.nmask; i++)
		if (told[i] && demand_within(&m[i], &m[mask]))
			ns += m[i].lost_ns;
	return ns;
}

static int size_compare(const void *va, const void *vb, void *ctx)
{
	const struct demand_mask *m = ctx, *a = &m[*(const uint32_t *)va],
				 *b = &m[*(const uint32_t *)vb];

	if (a->nr != b->nr)
		return a->nr < b->nr ? -1 : 1;
	return (int)a->all - (int)b->all;
}

/* Contests between threads that want only CPUs of the set. Caller frees. */
static uint32_t *contests_in(const struct findings *f, const struct demand_mask *k, uint32_t *n)
{
	uint32_t *list = xmalloc((f->ncontest + 1) * sizeof(*list));

	*n = 0;
	for (uint32_t i = 0; i < f->ncontest; i++) {
		const struct demand_mask *a = demand_mask_of(&f->demand, f->contest[i].waiter),
					 *b = demand_mask_of(&f->demand, f->contest[i].holder);

		if (a && b && demand_within(a, k) && demand_within(b, k))
			list[(*n)++] = i;
	}
	return list;
}

void find_demand(struct findings *f)
{
	const struct demand_mask *m = f->demand.mask;
	uint32_t n = f->demand.nmask, *order = xcalloc(n + 1, sizeof(*order));
	bool *told = xcalloc(n + 1, sizeof(*told));

	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	qsort_r(order, n, sizeof(*order), size_compare, (void *)m);
	for (uint32_t i = 0; i < n; i++) {
		const struct demand_mask *k = &m[order[i]];
		uint32_t *contest, ncontest;

		if (k->lost_ns < f->least_ns || k->over_ns * k->nr < k->ran_ns / OVER_PART ||
		    (double)explained_ns(f, told, order[i]) > EXPLAINED * (double)k->lost_ns)
			continue;
		told[order[i]] = true;
		contest = contests_in(f, k, &ncontest);
		finding_add(f, &(struct finding){
				       .kind = "oversubscribed",
				       .cost_ns = k->lost_ns,
				       .text = demand_text(f, order[i]),
				       .advice = demand_advice(f, order[i]),
				       .process = FINDING_NOBODY,
				       .from_ns = k->worst_from_ns,
				       .to_ns = k->worst_from_ns + k->worst_ns,
				       .contest = contest,
				       .ncontest = ncontest,
			       });
	}
	free(order);
	free(told);
}
