/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Explains why ranks were late (analysis/causes.h). Provides words for the findings about late
 * ranks. Finds ranks that made others wait indirectly, through further ranks.
 */
#include <stdlib.h>

#include "analysis/find.h"
#include "lib/log.h"
#include "lib/table.h"

#define CAUSE_PART 20 /* names no cause below 1/CAUSE_PART of the finding's cost */

static const char *const did[CAUSE_KINDS] = {
	[CAUSE_COMPUTED] = "computed",
	[CAUSE_NO_CORE] = "had no core",
	[CAUSE_SLEPT] = "slept or was blocked outside MPI",
	[CAUSE_OUTSIDE] = "was outside MPI",
	[CAUSE_MPI] = "was in MPI calls to which nobody is known to have been late",
	[CAUSE_POLLED] = "polled",
	[CAUSE_UNKNOWN] = "did what is not known",
	[CAUSE_WAITED] = "waited itself",
};

/* Appends the process that had the core, or the process waited for. */
static char *other_words(const struct findings *f, char *text, const struct cause *c)
{
	const struct model_process *p = model_process_get(f->model, c->other);

	if (c->kind == CAUSE_WAITED)
		return words(text, "for %s", phrase_process(f, p).text);
	if (c->other == c->process)
		return words(text, "another thread of it had it");
	if (!p->host_pid)
		return words(text, "its core was idle");
	return words(text, "%s had it", phrase_process(f, p).text);
}

/* Finds the causes of a process in a list sorted by process. */
static const struct cause *causes_of(const struct cause *list, uint32_t n, uint32_t process,
				     uint32_t *found, uint64_t *sum_ns)
{
	const struct cause *first = list, *c;

	while (first < list + n && first->process < process)
		first++;
	*sum_ns = 0;
	for (c = first; c < list + n && c->process == process; c++)
		*sum_ns += c->ns;
	*found = (uint32_t)(c - first);
	return first;
}

/* Sum of the causes of one kind. */
struct kind_sum {
	enum cause_kind kind;
	uint64_t ns;
	const struct cause *most; /* first one with an `other`, or NULL */
	uint32_t others;	  /* number of causes */
};

static int kind_compare(const void *va, const void *vb)
{
	const struct kind_sum *a = va, *b = vb;

	return u64_compare(b->ns, a->ns) ?: u64_compare(a->kind, b->kind);
}

/* Sums n causes by kind, costliest kind first. */
static void kinds_sum(const struct cause *c, uint32_t n, struct kind_sum *sum)
{
	for (int kind = 0; kind < CAUSE_KINDS; kind++)
		sum[kind] = (struct kind_sum){.kind = (enum cause_kind)kind};
	for (uint32_t i = 0; i < n; i++) {
		struct kind_sum *s = &sum[c[i].kind];

		s->ns += c[i].ns;
		s->others++;
		if (!s->most && c[i].other != CAUSE_NOBODY)
			s->most = &c[i];
	}
	qsort(sum, CAUSE_KINDS, sizeof(*sum), kind_compare);
}

/*
 * Prints a share, because the time is the sum over all waiters. In ns it would look like the late
 * rank's own time.
 */
static char *words_share(char *text, const char *before, uint64_t ns, uint64_t sum_ns)
{
	return words(text, "%s%.0f %%", before, 100 * (double)ns / (double)sum_ns);
}

/* "computed: 80 %, had no core: 20 % (sh (pid 4711) had it)" */
static char *causes_words(const struct findings *f, char *text, const struct cause *c, uint32_t n,
			  uint64_t sum_ns)
{
	struct kind_sum sum[CAUSE_KINDS];

	kinds_sum(c, n, sum);
	for (int i = 0; i < CAUSE_KINDS && sum[i].ns && sum[i].ns >= sum_ns / CAUSE_PART; i++) {
		text = words(text, "%s%s", i ? ", " : "", did[sum[i].kind]);
		text = words_share(text, ": ", sum[i].ns, sum_ns);
		if (!sum[i].most)
			continue;
		text = other_words(f, words(text, sum[i].others > 1 ? " (most: " : " ("),
				   sum[i].most);
		if (sum[i].others > 1)
			text = words_share(text, ", ", sum[i].most->ns, sum_ns);
		text = words(text, ")");
	}
	return text;
}

char *words_causes(const struct findings *f, char *text, enum cause_wait how, uint32_t process,
		   uint64_t cost_ns)
{
	uint64_t sum_ns;
	uint32_t n;
	const struct cause *c = causes_of(f->direct[how], f->ndirect[how], process, &n, &sum_ns);

	/* Causes cover all waiters, cost_ns only those that count. Skips causes if both differ. */
	if (sum_ns != cost_ns)
		return text;
	return causes_words(f, words(text, "; meanwhile it "), c, n, sum_ns);
}

/*
 * "; most, 200.000 ms, when rank 2 waited for rank 1, that for rank 0, which computed before
 * MPI_Send at 0.620 s"
 */
static char *farthest_words(const struct findings *f, char *text, const struct cause *c)
{
	const struct cause_worst *w = &c->farthest;

	text = words_ns(text, "; most, ", w->ns, ", when ");
	if (w->how == CAUSE_COLLECTIVE)
		text = words(text, "a collective call waited for ");
	for (uint32_t i = 0; i < w->nchain; i++) {
		bool waiter = i == 1 && w->how != CAUSE_COLLECTIVE;

		text = words(text, "%s%s",
			     !i	    ? "" :
			     waiter ? " waited for " :
				      ", that for ",
			     phrase_process(f, model_process_get(f->model, w->chain[i])).text);
	}
	return words(text, ", which %s%s%s%s", did[c->kind], w->after ? " before " : "",
		     w->after ? w->after->name : "",
		     phrase_when(f, w->after ? w->after_ns : w->from_ns).text);
}

/* Returns the cause with the most time lost through further ranks. */
static const struct cause *cause_farthest(const struct cause *c, uint32_t n)
{
	const struct cause *most = c;

	for (uint32_t i = 1; i < n; i++)
		if (c[i].through_ns > most->through_ns)
			most = &c[i];
	return most;
}

static void root_add(struct findings *f, const struct cause *c, uint32_t n)
{
	const struct model_process *p = model_process_get(f->model, c->process);
	const struct cause *most = cause_farthest(c, n);
	uint64_t ns = 0, through_ns = 0;
	char *text;

	for (uint32_t i = 0; i < n; i++) {
		ns += c[i].ns;
		through_ns += c[i].through_ns;
	}
	if (through_ns < f->least_ns || !finding_counts(f, p))
		return;
	text = xasprintf("%s made others wait %s, %s of it indirectly: it ",
			 phrase_process(f, p).text, phrase_ns(ns).text, phrase_ns(through_ns).text);
	text = causes_words(f, text, c, n, ns);
	finding_add(f, &(struct finding){
			       .kind = "root_of_waits",
			       .cost_ns = ns,
			       .text = farthest_words(f, text, most),
			       .process = c->process,
			       .from_ns = most->farthest.from_ns,
			       .to_ns = most->farthest.to_ns,
		       });
}

void find_roots(struct findings *f)
{
	for (uint32_t i = 0, n; i < f->nroot; i += n) {
		uint64_t sum_ns;

		(void)causes_of(f->root + i, f->nroot - i, f->root[i].process, &n, &sum_ns);
		root_add(f, &f->root[i], n);
	}
}
