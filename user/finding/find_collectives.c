/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Finds ranks that were late to collective calls (analysis/arrivals.h). */
#include "lib/log.h"
#include "finding/find.h"

static char *arrival_text(const struct findings *f, const struct model_process *p,
			  const struct arrival_row *a)
{
	char *text = words_process(f, xstrdup(""), p);

	text = words(text, " was late to collective calls");
	text = words_ns(text, "; others waited ", a->waited_ns, " for it");
	text = words(text, ", most for %s", a->worst.func->name);
	text = words_site(f, text, &a->worst.site);
	text = words_when(f, text, a->worst.begin_ns);
	text = words_ns(text, ": ", a->worst.waited_ns, "");
	text = words_ns(text, ", as it came ", a->worst.late_ns, " behind the first one");
	text = words(text, " (last to %llu of %llu)", (unsigned long long)a->last,
		     (unsigned long long)a->calls);
	return words_causes(f, text, CAUSE_COLLECTIVE, p->idx, a->waited_ns);
}

void find_collectives(struct findings *f)
{
	for (uint32_t i = 0; i < f->arrivals.nprocess && i < model_process_count(f->model); i++) {
		const struct model_process *p = model_process_get(f->model, i);
		const struct arrival_row *a = &f->arrivals.process[i];

		if (!a->waited_ns || !finding_counts(f, p))
			continue;
		finding_add(f, &(struct finding){
				       .kind = "late_in_collective",
				       .cost_ns = a->waited_ns,
				       .text = arrival_text(f, p, a),
				       .process = i,
				       .from_ns = a->worst.begin_ns - a->worst.late_ns,
				       .to_ns = a->worst.begin_ns,
			       });
	}
}
