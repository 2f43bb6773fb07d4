/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* See cores.h. */
#include "analysis/cores.h"

#include <stdlib.h>

#include "abi/event.h"
#include "analysis/table.h"

static struct core_row *core_row(struct cores *a, uint32_t cpu)
{
	struct core_row *c = table_row(a->core, a->ncore, cpu);

	c->seen = true;
	return c;
}

static void on_state(void *ctx, const struct model_thread *t, uint64_t from_ns, uint64_t to_ns,
		     enum thread_state s, uint16_t cpu)
{
	struct cores *a = ctx;
	struct core_share *share;

	if (s != THREAD_RUNNING)
		return;
	if (t->idle) {
		core_row(a, cpu)->idle_ns += to_ns - from_ns;
		return;
	}
	share = table_row(a->process, a->nprocess, t->proc->idx);
	*table_row(share->ns, share->n, cpu) += to_ns - from_ns;
}

static void on_switch(void *ctx, const struct model_switch *s)
{
	core_row(ctx, s->cpu)->switches++;
}

static void process_add(struct cores *a, const struct model_process *p,
			const struct core_share *share)
{
	struct core_row *c;
	uint32_t cpu;

	for (cpu = 0; cpu < share->n; cpu++) {
		if (!share->ns[cpu])
			continue;
		c = core_row(a, cpu);
		if (p->is_rank)
			c->rank_ns += share->ns[cpu];
		else if (p->is_target)
			c->target_ns += share->ns[cpu];
		else
			c->other_ns += share->ns[cpu];
	}
}

static int on_finish(void *ctx, const struct model *m)
{
	const struct model_info *info = model_get_info(m);
	struct cores *a = ctx;
	uint64_t known_ns;
	uint32_t i;

	a->wall_ns = info->end_ns - info->start_ns;
	for (i = 0; i < info->nr_cpus; i++)
		core_row(a, i);
	for (i = 0; i < a->nprocess && i < model_process_count(m); i++)
		process_add(a, model_process_get(m, i), &a->process[i]);
	for (i = 0; i < a->ncore; i++) {
		struct core_row *c = &a->core[i];

		known_ns = c->rank_ns + c->target_ns + c->other_ns + c->idle_ns;
		if (c->seen)
			c->unknown_ns = a->wall_ns > known_ns ? a->wall_ns - known_ns : 0;
	}
	return 0;
}

uint64_t cores_share_ns(const struct cores *a, uint32_t process_idx, uint32_t cpu)
{
	if (process_idx >= a->nprocess || cpu >= a->process[process_idx].n)
		return 0;
	return a->process[process_idx].ns[cpu];
}

void cores_init(struct cores *a)
{
	*a = (struct cores){
		.sink = {.ctx = a, .state = on_state, .on_switch = on_switch, .finish = on_finish},
	};
}

void cores_release(struct cores *a)
{
	uint32_t i;

	for (i = 0; i < a->nprocess; i++)
		free(a->process[i].ns);
	free(a->process);
	free(a->core);
}

/* ---- totals up to a moment: the runs that have ended and the current one ---- */

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
