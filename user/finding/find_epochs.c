/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Ranks that others waited for in one-sided communication, by analysis/epochs.h and analysis/locks.h. */
#include <stdlib.h>

#include "base/log.h"
#include "finding/find.h"

static const struct {
	const char *kind, *before, *behind; /* who was late */
} kinds[EPOCH_KINDS] = {
	[EPOCH_LATE_POST] = {"late_post", "to access memory of ",
			     ", which had not called MPI_Win_post yet"},
	[EPOCH_LATE_COMPLETE] = {"late_complete", "for the end of accesses to their memory by ",
				 ", which had not called MPI_Win_complete yet"},
	[EPOCH_LOCKED] = {"lock_contention", "for the lock of a window that ", " held"},
};

/* Those who waited for one process, n of them. */
static void epoch_add(struct findings *f, const struct epoch_wait *w, uint32_t n)
{
	const struct epoch_wait *worst = w;
	uint64_t ns = 0, cnt = 0;
	char *text;

	for (uint32_t i = 0; i < n; i++) {
		ns += w[i].ns;
		cnt += w[i].cnt;
		worst = w[i].worst_ns > worst->worst_ns ? &w[i] : worst;
	}
	text = words_ns(xstrdup("ranks waited "), "", ns, " ");
	text = words(text, "%s", kinds[w->kind].before);
	text = words_process(f, text, model_process_get(f->model, w->late));
	text = words(text, "%s", kinds[w->kind].behind);
	for (uint32_t i = 0; i < n && i < NAMED; i++) {
		text = words(text, i ? "; " : ": ");
		text = words_process(f, text, model_process_get(f->model, w[i].waiter));
		text = words_ns(text, " ", w[i].ns, "");
	}
	text = words_count(words(words_more(text, n), " ("), cnt, "time", "times");
	text = words_ns(text, ", most ", worst->worst_ns, "");
	text = words_when(f, words(text, " in %s", worst->worst_in->name), worst->worst_from_ns);
	finding_add(f, &(struct finding){
			       .kind = kinds[w->kind].kind,
			       .cost_ns = ns,
			       .text = words_causes(f, words(text, ")"), CAUSE_EPOCH + w->kind,
						    w->late, ns),
			       .process = w->late,
			       .from_ns = worst->worst_from_ns,
			       .to_ns = worst->worst_to_ns,
		       });
}

void find_epochs(struct findings *f)
{
	uint32_t n, kept = 0, end;
	struct epoch_wait *w = epochs_list(&f->epochs, &n);

	for (uint32_t i = 0; i < n; i++)
		if (finding_counts(f, model_process_get(f->model, w[i].waiter)))
			w[kept++] = w[i];
	for (uint32_t i = 0; i < kept; i = end) {
		for (end = i; end < kept && w[end].kind == w[i].kind && w[end].late == w[i].late;)
			end++;
		epoch_add(f, &w[i], end - i);
	}
	free(w);
}
