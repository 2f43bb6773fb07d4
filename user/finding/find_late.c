/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Finds ranks that others waited for because they sent or received late (analysis/late.h). */
#include "lib/log.h"
#include "finding/find.h"

/* Adds a finding about the n ranks that waited for one process. */
static void late_add(struct findings *f, int kind, const struct waited_for *w, uint32_t n)
{
	const struct waited_for all = waited_for_sum(w, n);
	bool sender = kind == LATE_SENDER;
	char *text = words_ns(xstrdup("ranks waited "), "", all.ns, " for ");

	text = words(text, "%s that ", sender ? "messages" : "receives");
	text = words_process(f, text, model_process_get(f->model, all.late));
	text = words(text, " had not %s yet", sender ? "sent" : "posted");
	text = words_causes(f, words_waiters(f, text, w, n),
			    sender ? CAUSE_LATE_SENDER : CAUSE_LATE_RECEIVER, all.late, all.ns);
	finding_add(f, &(struct finding){
			       .kind = sender ? "late_sender" : "late_receiver",
			       .cost_ns = all.ns,
			       .text = text,
			       .process = all.late,
			       .from_ns = all.worst_from_ns,
			       .to_ns = all.worst_to_ns,
		       });
}

void find_late(struct findings *f)
{
	for (int kind = 0; kind < LATE_KINDS; kind++)
		waiters_each(f, &f->late.pairs[kind], kind, late_add);
}
