/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Ranks that others waited for with messages, by analysis/late.h. */
#include <stdlib.h>

#include "base/log.h"
#include "finding/find.h"

static uint64_t waited_from_ns(const struct late *l)
{
	return l->kind == LATE_SENDER ? l->worst.recv.completing_ns : l->worst.send.completing_ns;
}

static char *waiters_text(const struct findings *f, char *text, const struct late *l, uint32_t n)
{
	for (uint32_t i = 0; i < n && i < NAMED; i++) {
		text = words(text, i ? "; " : ": ");
		text = words_process(f, text, model_process_get(f->model, l[i].waiter));
		text = words_ns(text, " ", l[i].ns, "");
	}
	return words_more(text, n);
}

/* Those who waited for one process, n of them. */
static void late_add(struct findings *f, const struct late *l, uint32_t n)
{
	bool sender = l->kind == LATE_SENDER;
	const struct late *worst = l;
	uint64_t ns = 0, cnt = 0;
	char *text;

	for (uint32_t i = 0; i < n; i++) {
		ns += l[i].ns;
		cnt += l[i].cnt;
		worst = l[i].worst_ns > worst->worst_ns ? &l[i] : worst;
	}
	text = words_ns(xstrdup("ranks waited "), "", ns, " for ");
	text = words(text, "%s that ", sender ? "messages" : "receives");
	text = words_process(f, text, model_process_get(f->model, l->late));
	text = words(text, " had not %s yet", sender ? "sent" : "posted");
	text = waiters_text(f, text, l, n);
	text = words_count(words(text, " ("), cnt, "time", "times");
	text = words_ns(text, ", most ", worst->worst_ns, "");
	text = words_when(f, text, waited_from_ns(worst));
	finding_add(f,
		    &(struct finding){
			    .kind = sender ? "late_sender" : "late_receiver",
			    .cost_ns = ns,
			    .text = words_causes(f, words(text, ")"),
						 sender ? CAUSE_LATE_SENDER : CAUSE_LATE_RECEIVER,
						 l->late, ns),
			    .process = l->late,
			    .from_ns = waited_from_ns(worst),
			    .to_ns = waited_from_ns(worst) + worst->worst_ns,
		    });
}

void find_late(struct findings *f)
{
	uint32_t n, kept = 0, end;
	struct late *l = late_list(&f->late, &n);

	for (uint32_t i = 0; i < n; i++)
		if (finding_counts(f, model_process_get(f->model, l[i].waiter)))
			l[kept++] = l[i];
	for (uint32_t i = 0; i < kept; i = end) {
		for (end = i; end < kept && l[end].kind == l[i].kind && l[end].late == l[i].late;)
			end++;
		late_add(f, &l[i], end - i);
	}
	free(l);
}
