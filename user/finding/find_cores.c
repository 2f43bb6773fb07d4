/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Finds cores that other threads held while threads of ranks wanted them (analysis/contests.h). All
 * kernel threads count as one culprit. So do all processes that cost too little for a finding of
 * their own.
 */
#include <stdlib.h>

#include "analysis/label.h"
#include "lib/log.h"
#include "finding/find.h"

enum core_kind { CORE_OTHERS, CORE_RANKS, CORE_OWN };

/* Culprits of CORE_OTHERS other than a single process. */
enum { CULPRIT_KERNEL = -1, CULPRIT_SMALL = -2 };

/* Time that one process lost to one culprit. */
struct loser {
	enum core_kind kind;
	int64_t culprit; /* process index or CULPRIT_*; 0 unless CORE_OTHERS */
	uint32_t waiter; /* process index */
	const struct model_thread *holder, *thread; /* threads of the costliest contest */
	uint64_t ns, part_ns;			    /* sum; costliest contest */
};

static bool loser_is(const struct loser *l, const struct loser *other)
{
	if (l->kind != other->kind || l->waiter != other->waiter || l->culprit != other->culprit)
		return false;
	return l->kind != CORE_RANKS || l->holder->proc == other->holder->proc;
}

static int loser_compare(const void *va, const void *vb)
{
	const struct loser *a = va, *b = vb;

	if (a->kind != b->kind)
		return (int)a->kind - (int)b->kind;
	if (a->culprit != b->culprit)
		return a->culprit < b->culprit ? -1 : 1;
	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	return a->waiter < b->waiter ? -1 : a->waiter > b->waiter;
}

/* Cost of each process as a holder, by process index. Caller frees. */
static uint64_t *costs_sum(const struct findings *f)
{
	uint64_t *ns = xcalloc(model_process_count(f->model) + 1, sizeof(*ns));

	for (uint32_t i = 0; i < f->ncontest; i++)
		if (finding_counts(f, f->contest[i].waiter->proc))
			ns[f->contest[i].holder->proc->idx] += f->contest[i].ns;
	return ns;
}

/* The loser that a contest belongs to, without times. */
static struct loser loser_of(const struct findings *f, const struct contest *part,
			     const uint64_t *cost_ns)
{
	struct loser l = {.thread = part->waiter, .holder = part->holder};
	const struct model_process *p = l.holder->proc;

	l.waiter = l.thread->proc->idx;
	l.kind = p == l.thread->proc ? CORE_OWN : p->is_rank ? CORE_RANKS : CORE_OTHERS;
	if (l.kind == CORE_OTHERS)
		l.culprit = l.holder->kthread		  ? CULPRIT_KERNEL :
			    cost_ns[p->idx] < f->least_ns ? CULPRIT_SMALL :
							    (int64_t)p->idx;
	return l;
}

static struct loser *losers_find(const struct findings *f, const uint64_t *cost_ns, uint32_t *n)
{
	struct loser *list = xmalloc((f->ncontest + 1) * sizeof(*list));
	uint32_t first = 0; /* first entry of this waiting process */

	*n = 0;
	for (uint32_t i = 0; i < f->ncontest; i++) {
		struct loser l = loser_of(f, &f->contest[i], cost_ns);
		uint32_t k;

		if (!finding_counts(f, f->contest[i].waiter->proc))
			continue;
		if (*n && list[*n - 1].waiter != l.waiter)
			first = *n;
		for (k = first; k < *n && !loser_is(&list[k], &l);)
			k++;
		if (k == *n)
			list[(*n)++] = l;
		list[k].ns += f->contest[i].ns;
		if (f->contest[i].ns <= list[k].part_ns)
			continue;
		list[k].part_ns = f->contest[i].ns;
		list[k].holder = l.holder;
		list[k].thread = l.thread;
	}
	qsort(list, *n, sizeof(*list), loser_compare);
	return list;
}

/* Appends the CPU on which the n losers lost most. */
static char *words_most_cpu(const struct findings *f, char *text, const struct loser *l, uint32_t n)
{
	uint32_t cpu = 0, cpus = model_get_info(f->model)->nr_cpus;
	uint64_t *ns = xcalloc(cpus + 1, sizeof(*ns));
	char label[CPU_LABEL_BYTES];

	for (uint32_t i = 0; i < f->ncontest; i++)
		for (uint32_t k = 0; k < n && f->contest[i].cpu < cpus; k++)
			if (f->contest[i].holder == l[k].holder &&
			    f->contest[i].waiter->proc->idx == l[k].waiter)
				ns[f->contest[i].cpu] += f->contest[i].ns;
	for (uint32_t i = 0; i < cpus; i++)
		cpu = ns[i] > ns[cpu] ? i : cpu;
	if (cpus && ns[cpu])
		text = words(text, ", most on cpu %s", cpu_label(f->model, cpu, label));
	free(ns);
	return text;
}

static char *loser_text(const struct findings *f, char *text, const struct loser *l)
{
	text = words_process(f, text, model_process_get(f->model, l->waiter));
	if (l->kind == CORE_RANKS) {
		text = words_ns(text, " had none for ", l->ns, " while ");
		return words(words_process(f, text, l->holder->proc), " ran");
	}
	text = words_ns(text, " ", l->ns, "");
	if (l->kind == CORE_OWN)
		text = words(text, ", most thread %u for thread %u", l->thread->tid,
			     l->holder->tid);
	return text;
}

/* Sentence about n losers with the same kind and culprit. */
static char *losers_text(const struct findings *f, const struct loser *l, uint32_t n, uint64_t ns)
{
	static const char *const what[] = {
		[CORE_OTHERS] = " held cores that ranks wanted, for ",
		[CORE_RANKS] = "ranks wanted the same cores, for ",
		[CORE_OWN] = "threads of one rank wanted the same cores, for ",
	};
	char *text = xstrdup("");

	if (l->culprit == CULPRIT_KERNEL)
		text = words(text, "kernel threads (most ");
	else if (l->culprit == CULPRIT_SMALL)
		text = words(text, "other processes (most ");
	if (l->kind == CORE_OTHERS)
		text = words_process(f, text, l->holder->proc);
	text = words_ns(words(text, "%s", l->culprit < 0 ? ")" : ""), what[l->kind], ns, "");
	text = words_most_cpu(f, text, l, n);
	for (uint32_t i = 0; i < n && i < NAMED; i++)
		text = loser_text(f, words(text, i ? "; " : ": "), &l[i]);
	return words_more(text, n);
}

/* Sets the contests of a finding, and the time of the longest stretch. */
static void parts_take(const struct findings *f, const uint64_t *cost_ns, const struct loser *l,
		       struct finding *found)
{
	uint64_t worst_ns = 0;

	found->contest = xmalloc((f->ncontest + 1) * sizeof(*found->contest));
	for (uint32_t i = 0; i < f->ncontest; i++) {
		const struct contest *c = &f->contest[i];
		struct loser part = loser_of(f, c, cost_ns);

		if (!finding_counts(f, c->waiter->proc) || part.kind != l->kind ||
		    part.culprit != l->culprit)
			continue;
		found->contest[found->ncontest++] = i;
		if (c->worst_ns <= worst_ns)
			continue;
		worst_ns = c->worst_ns;
		found->from_ns = c->worst_from_ns;
		found->to_ns = c->worst_from_ns + worst_ns;
	}
}

void find_cores(struct findings *f)
{
	static const char *const kind[] = {
		[CORE_OTHERS] = "core_held_by_others",
		[CORE_RANKS] = "ranks_share_cores",
		[CORE_OWN] = "threads_share_cores",
	};
	uint32_t n, end;
	uint64_t *cost_ns = costs_sum(f);
	struct loser *l = losers_find(f, cost_ns, &n);

	for (uint32_t i = 0; i < n; i = end) {
		struct finding found = {.kind = kind[l[i].kind], .process = FINDING_NOBODY};

		for (end = i; end < n && l[end].kind == l[i].kind && l[end].culprit == l[i].culprit;
		     end++)
			found.cost_ns += l[end].ns;
		found.text = losers_text(f, &l[i], end - i, found.cost_ns);
		found.advice = l[i].kind == CORE_OWN ? advice_threads(f) :
						       advice_against(f, l[i].thread, l[i].holder);
		if (l[i].kind == CORE_OTHERS && l[i].culprit >= 0)
			found.process = (uint32_t)l[i].culprit;
		parts_take(f, cost_ns, &l[i], &found);
		if (l[i].kind == CORE_OTHERS && l[i].culprit != CULPRIT_SMALL)
			printing_add(f, l[i].culprit == CULPRIT_KERNEL ? NULL : l[i].holder->proc,
				     &found);
		finding_add(f, &found);
	}
	free(cost_ns);
	free(l);
}
