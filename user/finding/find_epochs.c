/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Finds ranks that others waited for in one-sided communication (analysis/epochs.h, locks.h). */
#include "lib/log.h"
#include "finding/find.h"

static const struct {
	const char *kind, *before, *behind; /* words around the late rank */
} kinds[EPOCH_KINDS] = {
	[EPOCH_LATE_POST] = {"late_post", "to access memory of ",
			     ", which had not called MPI_Win_post yet"},
	[EPOCH_LATE_COMPLETE] = {"late_complete", "for the end of accesses to their memory by ",
				 ", which had not called MPI_Win_complete yet"},
	[EPOCH_LOCKED] = {"lock_contention", "for the lock of a window that ", " held"},
	[EPOCH_NO_PROGRESS] = {"late_progress", "to access memory of ",
			       ", which was outside MPI until then"},
};

/* Adds a finding about the n ranks that waited for one process. */
static void epoch_add(struct findings *f, int kind, const struct waited_for *w, uint32_t n)
{
	const struct waited_for all = waited_for_sum(w, n);
	char *text = words_ns(xstrdup("ranks waited "), "", all.ns, " ");

	text = words(text, "%s", kinds[kind].before);
	text = words_process(f, text, model_process_get(f->model, all.late));
	text = words(text, "%s", kinds[kind].behind);
	text = words_causes(f, words_waiters(f, text, w, n), CAUSE_EPOCH + kind, all.late, all.ns);
	finding_add(f, &(struct finding){
			       .kind = kinds[kind].kind,
			       .cost_ns = all.ns,
			       .text = text,
			       .advice = kind == EPOCH_NO_PROGRESS ? advice_target(f) : NULL,
			       .process = all.late,
			       .from_ns = all.worst_from_ns,
			       .to_ns = all.worst_to_ns,
		       });
}

void find_epochs(struct findings *f)
{
	for (int kind = 0; kind < EPOCH_KINDS; kind++)
		waiters_each(f, &f->epochs.waits[kind], kind, epoch_add);
}
