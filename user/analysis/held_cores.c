/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Finds cores that other threads held while threads of ranks wanted them (analysis/contests.h). All
 * kernel threads count as one culprit. So do all processes that cost too little for a finding of
 * their own.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/advice.h"
#include "analysis/find.h"
#include "lib/json_get.h"
#include "lib/log.h"
#include "lib/table.h"

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

TABLE_ORDER(loser_compare, struct loser, table_compare(a->kind, b->kind),
	    table_compare(a->culprit, b->culprit), u64_compare(b->ns, a->ns),
	    u64_compare(a->waiter, b->waiter))

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
	uint32_t first = 0; /* first entry for the contest's waiting process */

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

	for (uint32_t i = 0; i < f->ncontest; i++)
		for (uint32_t k = 0; k < n && f->contest[i].cpu < cpus; k++)
			if (f->contest[i].holder == l[k].holder &&
			    f->contest[i].waiter->proc->idx == l[k].waiter)
				ns[f->contest[i].cpu] += f->contest[i].ns;
	for (uint32_t i = 0; i < cpus; i++)
		cpu = ns[i] > ns[cpu] ? i : cpu;
	if (cpus && ns[cpu])
		text = words(text, ", most on cpu %s", phrase_cpu(f, cpu).text);
	free(ns);
	return text;
}

static char *loser_text(const struct findings *f, char *text, const struct loser *l)
{
	text = words_process(f, text, model_process_get(f->model, l->waiter));
	if (l->kind == CORE_RANKS)
		return words(text, " had none for %s while %s ran", phrase_ns(l->ns).text,
			     phrase_process(f, l->holder->proc).text);
	text = words(text, " %s", phrase_ns(l->ns).text);
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

/* ---- printing ---- */

/*
 * Extends findings about held cores if the holder may have forwarded output of ranks: the launcher,
 * or the kernel's workers that serve terminals. The kernel's write counters include files and
 * sockets. It is unknown how much of a holder's time printing cost, so the sentence puts both
 * figures side by side.
 */

#define WRITES_LEAST 1000 /* a rank with fewer write calls does not print much */
/* Forwarding one write takes less than this. If a holder cost more, other work held the cores. */
#define WRITE_COST_NS 100000
#define ANCESTORS_MAX 64

static const char *stdout_of(const struct model_process *p)
{
	return json_get_text(p->meta, "stdout");
}

static uint64_t writes_of(const struct model_process *p)
{
	return p->written_known ? p->write_calls : 0;
}

static bool is_recorder(const struct model_process *p)
{
	return !strncmp(p->name, "povtrace", strlen("povtrace"));
}

/*
 * Returns launcher if the rank descends from it, else NULL. With launcher NULL, returns the rank's
 * ancestor with the most write calls.
 */
static const struct model_process *ancestor_find(const struct model *m,
						 const struct model_process *rank,
						 const struct model_process *launcher)
{
	const struct model_process *up = rank, *most = NULL;

	for (int i = 0; i < ANCESTORS_MAX && (up = model_parent(m, up)); i++) {
		if (up->is_rank || is_recorder(up))
			continue;
		if (up == launcher)
			return up;
		if (!launcher && (!most || writes_of(up) > writes_of(most)))
			most = up;
	}
	return most;
}

/*
 * True if unbound workers took most of the time that kernel threads held cores. These workers
 * forward terminal output.
 */
static bool workers_held(const struct findings *f, const struct finding *found)
{
	uint64_t workers_ns = 0;

	for (uint32_t i = 0; i < found->ncontest; i++) {
		const struct contest *c = &f->contest[found->contest[i]];

		if (!strncmp(c->holder->comm, "kworker/u", strlen("kworker/u")))
			workers_ns += c->ns;
	}
	return 2 * workers_ns > found->cost_ns;
}

/* True if the rank prints through launcher, or through the kernel's workers if launcher is NULL. */
static bool prints_by(const struct findings *f, const struct model_process *p,
		      const struct model_process *launcher)
{
	bool terminal = !strcmp(stdout_of(p), "terminal");

	if (!p->is_rank || writes_of(p) < WRITES_LEAST)
		return false;
	if (!launcher)
		return terminal;
	return (terminal || !strcmp(stdout_of(p), "pipe")) && ancestor_find(f->model, p, launcher);
}

TABLE_ORDER(writer_compare, struct model_process *, u64_compare(writes_of(*b), writes_of(*a)),
	    u64_compare((*a)->idx, (*b)->idx))

/* "rank 0 wrote 1.9 MiB by 20,031 calls of write" */
static char *writer_words(const struct findings *f, char *text, const struct model_process *p)
{
	return words(text, "%s wrote %s by %s", phrase_process(f, p).text,
		     phrase_bytes(p->written_bytes).text,
		     phrase_count(p->write_calls, "call of write", "calls of write").text);
}

static char *printing_words(const struct findings *f, char *text,
			    const struct model_process *const *writer, uint32_t n,
			    const struct model_process *forwarder)
{
	text = words(text, "; in all, files and sockets included, ");
	for (uint32_t i = 0; i < n && i < NAMED; i++) {
		text = writer_words(f, words(text, i ? "; " : ""), writer[i]);
		text = words(text, " (its standard output is a %s)", stdout_of(writer[i]));
	}
	text = words_more(text, n);
	return forwarder ? writer_words(f, words(text, "; "), forwarder) : text;
}

static char *printing_advice(const struct findings *f)
{
	char *setting = setting_output(model_get_trace(f->model)), *text;

	text = xasprintf(
		"if this is what ranks print: print less often, or let each rank write a file of "
		"its own%s, and compare; options of the launcher for files leave the work with "
		"the launcher",
		setting);
	free(setting);
	return text;
}

/*
 * Extends a finding about cores that a process held, or kernel threads if holder is NULL. If the
 * holder may have forwarded the output of ranks, adds how much they wrote, and advice to print
 * less. FINDINGS_CORES.md has the rule.
 */
static void printing_add(struct findings *f, const struct model_process *holder,
			 struct finding *found)
{
	uint32_t n = 0, all = model_process_count(f->model);
	const struct model_process **writer, *forwarder = NULL;
	uint64_t writes = 0;

	if (holder ? is_recorder(holder) : !workers_held(f, found))
		return;
	writer = xmalloc((all + 1) * sizeof(*writer));
	for (uint32_t i = 0; i < all; i++) {
		const struct model_process *p = model_process_get(f->model, i);

		if (!prints_by(f, p, holder))
			continue;
		writer[n++] = p;
		writes += writes_of(p);
		forwarder = forwarder ?: holder ?: ancestor_find(f->model, p, NULL);
	}
	if (forwarder && !forwarder->written_known)
		forwarder = NULL;
	if (forwarder && writes_of(forwarder) < writes)
		writes = writes_of(forwarder);
	if (n && writes * WRITE_COST_NS >= found->cost_ns) {
		qsort(writer, n, sizeof(*writer), writer_compare);
		found->text = printing_words(f, found->text, writer, n, forwarder);
		free(found->advice);
		found->advice = printing_advice(f);
	}
	free(writer);
}

/* ---- the finding ---- */

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
