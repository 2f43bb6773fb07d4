/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Shared by the findings about ranks that waited for another rank. */
#include <stdlib.h>

#include "finding/find.h"

char *words_waiters(const struct findings *f, char *text, const struct waited_for *w, uint32_t n)
{
	const struct waited_for all = waited_for_sum(w, n);

	for (uint32_t i = 0; i < n && i < NAMED; i++) {
		text = words_process(f, words(text, i ? "; " : ": "),
				     model_process_get(f->model, w[i].waiter));
		text = words_ns(text, " ", w[i].ns, "");
	}
	text = words_count(words(words_more(text, n), " ("), all.cnt, "time", "times");
	text = words_ns(text, ", most ", all.worst_ns, "");
	if (all.worst_in)
		text = words(text, " in %s", all.worst_in->name);
	return words(words_when(f, text, all.worst_from_ns), ")");
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
