/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* See waited_for.h. */
#include "analysis/waited_for.h"

#include <stdlib.h>

#include "analysis/find.h"
#include "analysis/table.h"
#include "lib/log.h"

static uint64_t pair_key(uint32_t waiter, uint32_t late)
{
	return (uint64_t)waiter << 32 | late;
}

static void worst_take(struct waited_for *to, const struct waited_for *from)
{
	if (from->worst_ns <= to->worst_ns)
		return;
	to->worst_ns = from->worst_ns;
	to->worst_from_ns = from->worst_from_ns;
	to->worst_to_ns = from->worst_to_ns;
	to->worst_in = from->worst_in;
}

void waited_for_add(struct map *pairs, const struct model_process *waiter,
		    const struct model_process *late, uint64_t ns, uint64_t from_ns, uint64_t to_ns,
		    const struct func_info *in)
{
	struct waited_for *w = map_make(pairs, pair_key(waiter->idx, late->idx), sizeof(*w));

	w->waiter = waiter->idx;
	w->late = late->idx;
	w->cnt++;
	w->ns += ns;
	worst_take(w, &(struct waited_for){.worst_ns = ns,
					   .worst_from_ns = from_ns,
					   .worst_to_ns = to_ns,
					   .worst_in = in});
}

const struct waited_for *waited_for_get(const struct map *pairs, uint32_t waiter, uint32_t late)
{
	return map_get(pairs, pair_key(waiter, late));
}

static int waited_compare(const void *va, const void *vb)
{
	const struct waited_for *a = va, *b = vb;
	int order = u64_compare(a->late, b->late);

	return order ?: u64_compare(b->ns, a->ns) ?: u64_compare(a->waiter, b->waiter);
}

struct waited_for *waited_for_list(const struct map *pairs, uint32_t *n)
{
	struct waited_for *list = xmalloc((pairs->cnt + 1) * sizeof(*list)), *w;

	*n = 0;
	for (size_t at = 0; (w = map_next(pairs, &at, NULL));)
		list[(*n)++] = *w;
	qsort(list, *n, sizeof(*list), waited_compare);
	return list;
}

struct waited_for waited_for_sum(const struct waited_for *w, uint32_t n)
{
	struct waited_for sum = *w;

	for (uint32_t i = 1; i < n; i++) {
		sum.cnt += w[i].cnt;
		sum.ns += w[i].ns;
		worst_take(&sum, &w[i]);
	}
	return sum;
}

/* ---- findings about ranks that waited for another rank ---- */

char *words_waiters(const struct findings *f, char *text, const struct waited_for *w, uint32_t n)
{
	const struct waited_for all = waited_for_sum(w, n);

	for (uint32_t i = 0; i < n && i < NAMED; i++)
		text = words(text, "%s%s %s", i ? "; " : ": ",
			     phrase_process(f, model_process_get(f->model, w[i].waiter)).text,
			     phrase_ns(w[i].ns).text);
	return words(words_more(text, n), " (%s, most %s%s%s%s)",
		     phrase_count(all.cnt, "time", "times").text, phrase_ns(all.worst_ns).text,
		     all.worst_in ? " in " : "", all.worst_in ? all.worst_in->name : "",
		     phrase_when(f, all.worst_from_ns).text);
}

void waiters_each(struct findings *f, const struct map *pairs, int kind,
		  void (*add)(struct findings *f, int kind, const struct waited_for *w, uint32_t n))
{
	uint32_t n, kept = 0, end;
	struct waited_for *w = waited_for_list(pairs, &n);

	for (uint32_t i = 0; i < n; i++)
		if (finding_counts(f, model_process_get(f->model, w[i].waiter)))
			w[kept++] = w[i];
	for (uint32_t i = 0; i < kept; i = end) {
		for (end = i; end < kept && w[end].late == w[i].late;)
			end++;
		add(f, kind, &w[i], end - i);
	}
	free(w);
}
