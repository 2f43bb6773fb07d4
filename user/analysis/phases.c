/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Keeps a ring of changes per process, which is searched from the newest one on.
 */
#include "analysis/phases.h"

#include <stdlib.h>

#include "analysis/table.h"

#define CHANGES_KEPT 256

struct thread_phases {
	uint32_t open[PHASE_LEVELS]; /* numbers of names by level; 0: none */
	bool any;		     /* the thread ever had a phase */
};

struct phase_change {
	uint64_t ts_ns;
	uint32_t thread_idx;
	uint32_t innermost; /* innermost phase from then on */
};

struct process_phases {
	/* ring of the last changes */
	struct phase_change change[CHANGES_KEPT];
	uint64_t n; /* number of changes ever made */
};

static void change_add(struct phases *a, const struct model_thread *t, uint64_t ts_ns,
		       uint32_t innermost)
{
	struct process_phases **p = table_row(a->process, a->nprocess, t->proc->idx);

	if (!*p)
		*p = xcalloc(1, sizeof(**p));
	(*p)->change[(*p)->n++ % CHANGES_KEPT] = (struct phase_change){ts_ns, t->idx, innermost};
}

void phases_set(struct phases *a, const struct model_thread *t, uint64_t ts_ns, uint32_t level,
		uint32_t name)
{
	struct thread_phases *p = table_row(a->thread, a->nthread, t->idx);
	uint32_t innermost = 0;

	if (level >= PHASE_LEVELS)
		return;
	p->any = true;
	memset(&p->open[level], 0, (PHASE_LEVELS - level) * sizeof(*p->open));
	p->open[level] = name;
	for (uint32_t l = 0; l < PHASE_LEVELS; l++)
		innermost = p->open[l] ? p->open[l] : innermost;
	change_add(a, t, ts_ns, innermost);
}

uint32_t phases_at(struct phases *a, const struct model_thread *t, uint64_t ts_ns)
{
	const struct process_phases *p = t->proc->idx < a->nprocess ? a->process[t->proc->idx] :
								      NULL;
	bool own = t->idx < a->nthread && a->thread[t->idx].any;
	const struct phase_change *c;
	uint64_t i;

	if (!p)
		return 0;
	for (i = p->n; i > 0 && i + CHANGES_KEPT > p->n; i--) {
		c = &p->change[(i - 1) % CHANGES_KEPT];
		if (c->ts_ns <= ts_ns && (!own || c->thread_idx == t->idx))
			return c->innermost;
	}
	return i ? names_id(a->names, "?") : 0;
}

void phases_init(struct phases *a, struct names *names)
{
	*a = (struct phases){.names = names};
}

void phases_release(struct phases *a)
{
	for (uint32_t i = 0; i < a->nprocess; i++)
		free(a->process[i]);
	free(a->process);
	free(a->thread);
}
