/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Adds up the runs that have ended and the current one. */
#include "analysis/core_totals.h"

#include <stdlib.h>

#include "abi/event.h"
#include "analysis/table.h"

struct core_run {
	/* all processes; own_ns is kept in core_run_process */
	struct core_total ended;
	const struct model_thread *now; /* thread that runs now; NULL: unknown */
	uint64_t since_ns;
};

struct core_run_process {
	uint64_t *ns; /* by CPU; owned */
	uint32_t n;
};

/* The sum that a thread's time belongs to. */
static uint64_t *sum_of(struct core_total *t, const struct model_thread *thread)
{
	return thread->idle ? &t->idle_ns : thread->proc->is_rank ? &t->ranks_ns : &t->other_ns;
}

void core_totals_switch(struct core_totals *a, const struct model_switch *s)
{
	struct core_run *c = table_row(a->core, a->ncore, s->cpu);
	struct core_run_process *p;

	if (c->now && c->now == s->prev) {
		*sum_of(&c->ended, c->now) += s->ts_ns - c->since_ns;
		if (c->now->proc->is_target) {
			p = table_row(a->process, a->nprocess, c->now->proc->idx);
			*table_row(p->ns, p->n, s->cpu) += s->ts_ns - c->since_ns;
		}
	}
	c->now = s->next;
	c->since_ns = s->ts_ns;
}

void core_totals_lost(struct core_totals *a, const struct model_lost *l)
{
	for (uint32_t i = 0; l->class == POV_CLASS_SCHED && i < a->ncore; i++)
		a->core[i].now = NULL;
}

struct core_total core_totals_at(struct core_totals *a, uint16_t cpu,
				 const struct model_process *own, uint64_t ts_ns)
{
	const struct core_run *c = table_row(a->core, a->ncore, cpu);
	const struct core_run_process *p = table_row(a->process, a->nprocess, own->idx);
	struct core_total sum = c->ended;

	sum.own_ns = cpu < p->n ? p->ns[cpu] : 0;
	*(own->is_rank ? &sum.ranks_ns : &sum.other_ns) -= sum.own_ns;
	if (c->now && ts_ns > c->since_ns)
		*(c->now->proc == own ? &sum.own_ns : sum_of(&sum, c->now)) += ts_ns - c->since_ns;
	return sum;
}

void core_totals_release(struct core_totals *a)
{
	for (uint32_t i = 0; i < a->nprocess; i++)
		free(a->process[i].ns);
	free(a->process);
	free(a->core);
}
