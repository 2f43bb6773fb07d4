/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* See moves.h. */
#include "analysis/moves.h"

#include <stdlib.h>

#include "analysis/table.h"

static struct moves_thread *row_of(struct moves *a, const struct model_thread *t)
{
	return table_row(a->thread, a->nthread, t->idx);
}

static uint64_t idle_until(const struct moves_core *c, uint64_t ts_ns)
{
	return c->idle_ns +
	       (c->idle_since_ns && c->idle_since_ns < ts_ns ? ts_ns - c->idle_since_ns : 0);
}

static void wants_set(struct moves *a, const struct model_thread *t, uint64_t ts_ns, uint16_t cpu,
		      bool woken)
{
	struct moves_thread *row = row_of(a, t);

	row->wants_ns = ts_ns;
	row->wants_cpu = cpu;
	row->wants_idle_ns = idle_until(table_row(a->core, a->ncore, cpu), ts_ns);
	row->wants_woken = woken;
}

static void on_waking(void *ctx, const struct model_waking *w)
{
	if (!w->target->proc->is_rank || w->target->state != THREAD_RUNNABLE)
		return;
	row_of(ctx, w->target)->woken_ns = w->ts_ns;
	wants_set(ctx, w->target, w->ts_ns, w->target->cpu, true);
}

/* A thread that was woken runs now. */
static void woken_add(struct moves *a, const struct model_switch *s, uint64_t woken_ns,
		      uint64_t idle_since_ns)
{
	struct moves_process *p = table_row(a->process, a->nprocess, s->next->proc->idx);
	uint64_t ns = s->ts_ns - woken_ns;

	histogram_add(&p->wakeups, ns);
	if (ns < WAKEUP_SLOW_NS || !idle_since_ns || idle_since_ns > woken_ns)
		return;
	p->slow++;
	p->slow_ns += ns;
	if (ns <= p->worst_ns)
		return;
	p->worst_ns = ns;
	p->worst_from_ns = woken_ns;
	p->worst_cpu = s->cpu;
}

static void on_switch(void *ctx, const struct model_switch *s)
{
	struct moves *a = ctx;
	struct moves_core *core = table_row(a->core, a->ncore, s->cpu);
	struct moves_thread *row;

	if (s->next->proc->is_rank) {
		row = row_of(a, s->next);
		if (row->woken_ns)
			woken_add(a, s, row->woken_ns, core->idle_since_ns);
		row->woken_ns = 0;
	}
	core->idle_ns = idle_until(core, s->ts_ns);
	core->idle_since_ns = s->next->idle ? s->ts_ns : 0;
	if (s->prev->proc->is_rank)
		wants_set(a, s->prev, s->ts_ns, s->cpu, false);
}

/* The thread was runnable from wants_ns to to_ns. */
static void held_back_add(struct moves *a, const struct model_thread *t, uint64_t to_ns)
{
	struct moves_process *p = table_row(a->process, a->nprocess, t->proc->idx);
	const struct moves_thread *row = row_of(a, t);
	uint64_t ns = idle_until(&a->core[row->wants_cpu], to_ns) - row->wants_idle_ns;

	if (ns < HELD_BACK_NS)
		return;
	*(row->wants_woken ? &p->held_back_woken : &p->held_back) += 1;
	*(row->wants_woken ? &p->held_back_woken_ns : &p->held_back_ns) += ns;
	if (row->wants_woken || ns <= p->held_worst_ns)
		return;
	p->held_worst_ns = ns;
	p->held_worst_from_ns = row->wants_ns;
	p->held_worst_cpu = row->wants_cpu;
}

static void on_migrate(void *ctx, const struct model_migrate *g)
{
	struct moves_thread *row;

	if (!g->thread->proc->is_rank || g->orig_cpu == g->dest_cpu)
		return;
	row = row_of(ctx, g->thread);
	if (row->wants_ns && g->thread->state == THREAD_RUNNABLE &&
	    g->thread->since_ns == row->wants_ns)
		held_back_add(ctx, g->thread, g->ts_ns);
	row->wants_ns = 0;
	row->back += row->moves && row->from_cpu == g->dest_cpu;
	row->moves++;
	row->from_cpu = g->orig_cpu;
	row->moved = true;
}

static void on_state(void *ctx, const struct model_thread *t, uint64_t from_ns, uint64_t to_ns,
		     enum thread_state s, uint16_t cpu)
{
	struct moves_thread *row;
	uint64_t ns = to_ns - from_ns;

	(void)cpu;
	if (s != THREAD_RUNNABLE || !t->proc->is_rank)
		return;
	row = row_of(ctx, t);
	if (row->wants_ns && row->wants_ns == from_ns)
		held_back_add(ctx, t, to_ns);
	if (!row->moved)
		return;
	row->moved = false;
	row->moves_wait_ns += ns;
	if (ns <= row->worst_ns)
		return;
	row->worst_ns = ns;
	row->worst_from_ns = from_ns;
}

static int on_finish(void *ctx, const struct model *m)
{
	struct moves *a = ctx;

	/* make all rows valid */
	(void)table_row(a->thread, a->nthread, model_thread_count(m));
	(void)table_row(a->process, a->nprocess, model_process_count(m));
	return 0;
}

void moves_init(struct moves *a)
{
	*a = (struct moves){
		.sink = {.ctx = a,
			 .on_switch = on_switch,
			 .waking = on_waking,
			 .migrate = on_migrate,
			 .state = on_state,
			 .finish = on_finish},
	};
}

void moves_release(struct moves *a)
{
	for (uint32_t i = 0; i < a->nprocess; i++)
		histogram_release(&a->process[i].wakeups);
	free(a->process);
	free(a->thread);
	free(a->core);
}
