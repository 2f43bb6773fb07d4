/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* See demand.h. A thread's demand changes when it is woken and when it leaves a CPU. */
#include "analysis/demand.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/find.h"
#include "analysis/label.h"
#include "lib/log.h"
#include "lib/table.h"

#define NO_MASK UINT32_MAX

enum want { WANTS_NONE, WANTS, HAS };

struct demand_thread {
	bool has_mask;
	enum want want;
	uint32_t mask;
	/* oversubscribed time of its mask when it began to want a CPU */
	uint64_t over_before_ns;
	/* oversubscribed time of its current mask while it wanted a CPU */
	uint64_t over_ns;
};

static bool demand_within(const struct demand_mask *inner, const struct demand_mask *outer)
{
	if (inner->host_idx != outer->host_idx)
		return false;
	return !table_any(MODEL_MASK_WORDS, i, inner->cpus.word[i] & ~outer->cpus.word[i]);
}

static uint32_t cpus_in(const struct model_mask *cpus)
{
	return table_sum(MODEL_MASK_WORDS, i, (uint32_t)__builtin_popcountll(cpus->word[i]));
}

/* ---- time ---- */

static bool mask_is_over(const struct demand_mask *k)
{
	return k->now > k->nr && k->runs >= k->nr;
}

static uint64_t over_until(const struct demand_mask *k, uint64_t ts_ns)
{
	return k->over_ns + (mask_is_over(k) && ts_ns > k->since_ns ? ts_ns - k->since_ns : 0);
}

static void mask_count(struct demand_mask *k, uint64_t ts_ns, int by, int runs_by)
{
	uint64_t ns = ts_ns > k->since_ns ? ts_ns - k->since_ns : 0;
	bool was = mask_is_over(k);

	k->ran_ns += ns * (k->runs < k->nr ? k->runs : k->nr);
	if (was) {
		k->over_ns += ns;
		k->lost_ns += ns * (k->now - k->nr);
		k->want_ns += ns * k->now;
	}
	k->since_ns = ts_ns;
	k->now += (uint32_t)by;
	k->runs += (uint32_t)runs_by;
	if (mask_is_over(k) && k->now > k->most)
		k->most = k->now;
	if (!was)
		k->over_since_ns = ts_ns;
	if (!was || mask_is_over(k) || ts_ns - k->over_since_ns <= k->worst_ns)
		return;
	k->worst_ns = ts_ns - k->over_since_ns;
	k->worst_from_ns = k->over_since_ns;
}

/*
 * Adds `by` to the threads that want a CPU, and runs_by to those that run, in all masks that
 * contain this one.
 */
static void masks_count(struct demand *a, uint32_t mask, uint64_t ts_ns, int by, int runs_by)
{
	const struct demand_mask *k = &a->mask[mask];

	for (uint32_t i = 0; i < k->nwithin; i++)
		mask_count(&a->mask[k->within[i]], ts_ns, by, runs_by);
}

/* ---- threads ---- */

static struct demand_thread *row_of(struct demand *a, const struct model_thread *t)
{
	return table_row(a->thread, a->nthread, t->idx);
}

static void want_set(struct demand *a, struct demand_thread *row, uint64_t ts_ns, enum want want)
{
	if (!row->has_mask || row->want == want)
		return;
	if (row->want != WANTS_NONE)
		row->over_ns += over_until(&a->mask[row->mask], ts_ns) - row->over_before_ns;
	masks_count(a, row->mask, ts_ns, (want != WANTS_NONE) - (row->want != WANTS_NONE),
		    (want == HAS) - (row->want == HAS));
	row->want = want;
	row->over_before_ns = over_until(&a->mask[row->mask], ts_ns);
}

static void thread_look(struct demand *a, const struct model_thread *t, uint64_t ts_ns)
{
	if (t->proc->is_rank)
		want_set(a, row_of(a, t), ts_ns,
			 !windows_has(a->windows, t->proc, ts_ns) ? WANTS_NONE :
			 t->state == THREAD_RUNNING		  ? HAS :
			 t->state == THREAD_RUNNABLE		  ? WANTS :
								    WANTS_NONE);
}

/* Threads of a process begin and cease to count with the calls that begin and end MPI. */
static void on_call(void *ctx, const struct model_call *c)
{
	struct demand *a = ctx;
	const struct model_process *p = c->thread->proc;
	bool *counts, now;

	if (c->nested || !func_is_top(c->func))
		return;
	counts = table_row(a->counts, a->nprocess, p->idx);
	now = windows_has(a->windows, p, c->end_ns);
	if (now == *counts)
		return;
	*counts = now;
	for (uint32_t i = 0; i < model_thread_count(a->model); i++)
		if (model_thread_get(a->model, i)->proc == p)
			thread_look(a, model_thread_get(a->model, i), c->end_ns);
}

/* ---- masks ---- */

/* Initialises a mask, and counts the threads that already want a CPU of it. */
static void mask_fill(struct demand *a, uint32_t mask, uint64_t ts_ns)
{
	struct demand_mask *k = &a->mask[mask];

	k->nr = cpus_in(&k->cpus);
	k->since_ns = k->over_since_ns = ts_ns;
	for (uint32_t i = 0; i < a->nthread; i++)
		if (a->thread[i].want && demand_within(&a->mask[a->thread[i].mask], k))
			mask_count(k, ts_ns, 1, a->thread[i].want == HAS);
}

static void within_add(struct demand *a, uint32_t inner, uint32_t outer)
{
	struct demand_mask *k = &a->mask[inner];

	*table_append(k->within, k->nwithin) = outer;
}

/*
 * Links the mask to the masks that contain it and to those that it contains. The union contains all
 * masks of its host.
 */
static void mask_place(struct demand *a, uint32_t mask)
{
	const struct demand_mask *k = &a->mask[mask], *other;

	for (uint32_t i = 0; i < mask; i++) {
		other = &a->mask[i];
		if (other->host_idx != k->host_idx)
			continue;
		if (!other->all && (k->all || demand_within(other, k)))
			within_add(a, i, mask);
		if (!k->all && (other->all || demand_within(k, other)))
			within_add(a, mask, i);
	}
	within_add(a, mask, mask);
}

static uint32_t mask_add(struct demand *a, const struct model_affinity *f, bool all)
{
	if (a->nmask == DEMAND_MASKS_MAX)
		return NO_MASK;
	a->mask = xrealloc(a->mask, (a->nmask + 1) * sizeof(*a->mask));
	a->mask[a->nmask] = (struct demand_mask){
		.cpus = f->cpus, .host_idx = f->thread->proc->host_idx, .all = all};
	mask_place(a, a->nmask);
	mask_fill(a, a->nmask, f->ts_ns);
	return a->nmask++;
}

static uint32_t mask_find(struct demand *a, const struct model_affinity *f, bool all)
{
	for (uint32_t i = 0; i < a->nmask; i++) {
		const struct demand_mask *k = &a->mask[i];

		if (k->host_idx == f->thread->proc->host_idx && k->all == all &&
		    (all || !memcmp(&k->cpus, &f->cpus, sizeof(f->cpus))))
			return i;
	}
	return mask_add(a, f, all);
}

/*
 * Adds a thread's CPUs to the union of its host's masks. Earlier sums of the union stay as they
 * are.
 */
static void all_widen(struct demand *a, const struct model_affinity *f)
{
	uint32_t all = mask_find(a, f, true);
	struct demand_mask *k;
	bool same = true;

	if (all == NO_MASK)
		return;
	k = &a->mask[all];
	for (uint32_t i = 0; i < MODEL_MASK_WORDS; i++) {
		same &= !(f->cpus.word[i] & ~k->cpus.word[i]);
		k->cpus.word[i] |= f->cpus.word[i];
	}
	if (same)
		return;
	mask_count(k, f->ts_ns, 0, 0);
	k->nr = cpus_in(&k->cpus);
}

static void on_affinity(void *ctx, const struct model_affinity *f)
{
	struct demand_thread *row;
	uint32_t mask;

	if (!f->thread->proc->is_rank)
		return;
	row = row_of(ctx, f->thread);
	want_set(ctx, row, f->ts_ns, WANTS_NONE);
	mask = mask_find(ctx, f, false);
	all_widen(ctx, f);
	row->has_mask = mask != NO_MASK;
	if (mask != row->mask)
		row->over_ns = 0;
	row->mask = mask;
	thread_look(ctx, f->thread, f->ts_ns);
}

/* ---- the rest of the sink ---- */

static void on_switch(void *ctx, const struct model_switch *s)
{
	/* next before prev, so that the CPU does not count as free in between */
	thread_look(ctx, s->next, s->ts_ns);
	thread_look(ctx, s->prev, s->ts_ns);
}

static void on_waking(void *ctx, const struct model_waking *w)
{
	thread_look(ctx, w->target, w->ts_ns);
}

static void on_thread_exit(void *ctx, const struct model_thread *t, uint64_t ts_ns)
{
	struct demand *a = ctx;

	if (t->proc->is_rank)
		want_set(a, row_of(a, t), ts_ns, WANTS_NONE);
}

static void on_finish(void *ctx, const struct model *m)
{
	struct demand *a = ctx;

	for (uint32_t i = 0; i < a->nthread; i++)
		want_set(a, &a->thread[i], model_get_info(m)->end_ns, WANTS_NONE);
}

void demand_init(struct demand *a, const struct windows *windows)
{
	*a = (struct demand){
		.sink = {.ctx = a,
			 .model = &a->model,
			 .call = on_call,
			 .affinity = on_affinity,
			 .on_switch = on_switch,
			 .waking = on_waking,
			 .thread_exit = on_thread_exit,
			 .finish = on_finish},
		.windows = windows,
	};
}

void demand_release(struct demand *a)
{
	for (uint32_t i = 0; i < a->nmask; i++)
		free(a->mask[i].within);
	free(a->mask);
	free(a->thread);
	free(a->counts);
}

uint64_t demand_of_thread(const struct demand *a, const struct model_thread *t, uint32_t mask)
{
	if (t->idx >= a->nthread || !a->thread[t->idx].has_mask || a->thread[t->idx].mask != mask)
		return 0;
	return a->thread[t->idx].over_ns;
}

const struct demand_mask *demand_mask_of(const struct demand *a, const struct model_thread *t)
{
	return t->idx < a->nthread && a->thread[t->idx].has_mask ?
		       &a->mask[a->thread[t->idx].mask] :
		       NULL;
}

/*
 * Finds sets of CPUs that more threads want than there are CPUs (analysis/demand.h). Leaves out a
 * set if smaller sets inside it explain its cost.
 */

#define OVER_PART 10  /* demand must exceed a set for 1/OVER_PART of its busy time */
#define EXPLAINED 0.9 /* drop a set if sets within it explain more than this part of its cost */

/*
 * Finds the processes whose threads want CPUs of the set. Returns their number; *named gets the
 * first NAMED.
 */
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
	char *cpus = cpus_label(f->model, k->host_idx, &k->cpus, NAMED);
	char *text = xstrdup("");

	for (uint32_t i = 0; i < n && i < NAMED; i++)
		text = words(text, "%s%s", i ? ", " : "", phrase_process(f, named[i]).text);
	text = words(words_more(text, n),
		     " had more threads ready than CPUs for %s: %.1f on average, at most %u, for "
		     "%u CPU%s (%s). They took %s from each other (longest %s%s)",
		     phrase_ns(k->over_ns).text, (double)k->want_ns / (double)k->over_ns, k->most,
		     k->nr, k->nr == 1 ? "" : "s", cpus, phrase_ns(k->lost_ns).text,
		     phrase_ns(k->worst_ns).text, phrase_when(f, k->worst_from_ns).text);
	free(cpus);
	return text;
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
	return ranks > 1 ? advice_yield(f, text, "; let waiting ranks leave the core to others: ") :
			   text;
}

/* Sum of the costs of the outermost reported sets within a set. */
static uint64_t explained_ns(const struct findings *f, const bool *outermost, uint32_t mask)
{
	const struct demand_mask *m = f->demand.mask;
	uint64_t ns = 0;

	for (uint32_t i = 0; i < f->demand.nmask; i++)
		if (outermost[i] && demand_within(&m[i], &m[mask]))
			ns += m[i].lost_ns;
	return ns;
}

/* The cost of a set includes that of the sets within it. */
static void outermost_add(const struct demand *d, bool *outermost, uint32_t mask)
{
	for (uint32_t i = 0; i < d->nmask; i++)
		outermost[i] &= !demand_within(&d->mask[i], &d->mask[mask]);
	outermost[mask] = true;
}

static int size_compare(const void *va, const void *vb, void *ctx)
{
	const struct demand_mask *m = ctx, *a = &m[*(const uint32_t *)va],
				 *b = &m[*(const uint32_t *)vb];

	return u64_compare(a->nr, b->nr) ?: u64_compare(a->all, b->all);
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
	bool *outermost = xcalloc(n + 1, sizeof(*outermost));

	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	qsort_r(order, n, sizeof(*order), size_compare, (void *)m);
	for (uint32_t i = 0; i < n; i++) {
		const struct demand_mask *k = &m[order[i]];
		uint32_t *contest, ncontest;

		if (k->lost_ns < f->least_ns || k->over_ns * k->nr < k->ran_ns / OVER_PART ||
		    (double)explained_ns(f, outermost, order[i]) > EXPLAINED * (double)k->lost_ns)
			continue;
		outermost_add(&f->demand, outermost, order[i]);
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
	free(outermost);
}
