/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Cores that others had while threads of ranks wanted them, by analysis/holders.h. */
#include <stdlib.h>

#include "base/log.h"
#include "finding/find.h"

enum core_kind { CORE_OTHERS, CORE_RANKS, CORE_OWN };

/* What one process lost to another one. */
struct loser {
	enum core_kind kind;
	uint32_t culprit, waiter;		    /* idx; culprit 0 but for CORE_OTHERS */
	const struct model_thread *holder, *thread; /* of the longest part */
	uint64_t ns, part_ns;
};

static bool loser_is(const struct loser *l, enum core_kind kind, const struct model_thread *waiter,
		     const struct model_thread *holder)
{
	if (l->kind != kind || l->waiter != waiter->proc->idx)
		return false;
	return kind == CORE_OWN || l->holder->proc == holder->proc;
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

static struct loser *losers_find(const struct findings *f, uint32_t *n)
{
	struct loser *list = xmalloc((f->nheld + 1) * sizeof(*list));
	uint32_t first = 0; /* of the same waiting process */

	*n = 0;
	for (uint32_t i = 0; i < f->nheld; i++) {
		const struct model_thread *w = model_thread_get(f->model, f->held[i].waiter);
		const struct model_thread *h = model_thread_get(f->model, f->held[i].thread);
		enum core_kind kind = h->proc == w->proc ? CORE_OWN :
				      h->proc->is_rank	 ? CORE_RANKS :
							   CORE_OTHERS;
		uint32_t k = first;

		if (!finding_counts(f, w->proc))
			continue;
		if (*n && list[*n - 1].waiter != w->proc->idx)
			k = first = *n;
		while (k < *n && !loser_is(&list[k], kind, w, h))
			k++;
		if (k == *n)
			list[(*n)++] = (struct loser){
				.kind = kind,
				.culprit = kind == CORE_OTHERS ? h->proc->idx : 0,
				.waiter = w->proc->idx,
				.holder = h,
			};
		list[k].ns += f->held[i].ns;
		if (f->held[i].ns <= list[k].part_ns)
			continue;
		list[k].part_ns = f->held[i].ns;
		list[k].holder = h;
		list[k].thread = w;
	}
	qsort(list, *n, sizeof(*list), loser_compare);
	return list;
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

/* Those who lost for one reason, n of them. */
static char *losers_text(const struct findings *f, const struct loser *l, uint32_t n, uint64_t ns)
{
	static const char *const what[] = {
		[CORE_OTHERS] = " held cores that ranks wanted, for ",
		[CORE_RANKS] = "ranks wanted the same cores, for ",
		[CORE_OWN] = "threads of one rank wanted the same cores, for ",
	};
	char *text = xstrdup("");

	if (l->kind == CORE_OTHERS)
		text = words_process(f, text, l->holder->proc);
	text = words_ns(text, what[l->kind], ns, "");
	for (uint32_t i = 0; i < n && i < NAMED; i++)
		text = loser_text(f, words(text, i ? "; " : ": "), &l[i]);
	return words_more(text, n);
}

void find_cores(struct findings *f)
{
	static const char *const kind[] = {
		[CORE_OTHERS] = "core_held_by_others",
		[CORE_RANKS] = "ranks_share_cores",
		[CORE_OWN] = "threads_share_cores",
	};
	uint32_t n, end;
	struct loser *l = losers_find(f, &n);

	for (uint32_t i = 0; i < n; i = end) {
		uint64_t ns = 0;

		for (end = i; end < n && l[end].kind == l[i].kind && l[end].culprit == l[i].culprit;
		     end++)
			ns += l[end].ns;
		finding_add(f, &(struct finding){
				       .kind = kind[l[i].kind],
				       .cost_ns = ns,
				       .text = losers_text(f, &l[i], end - i, ns),
				       .process = l[i].kind == CORE_OTHERS ? l[i].culprit :
									     FINDING_NOBODY,
			       });
	}
	free(l);
}
