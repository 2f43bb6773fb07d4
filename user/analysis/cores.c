/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* See cores.h. */
#include "analysis/cores.h"

#include <stdlib.h>

#include "abi/event.h"
#include "lib/table.h"

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

	for (uint32_t cpu = 0; cpu < share->n; cpu++) {
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

static void on_finish(void *ctx, const struct model *m)
{
	const struct model_info *info = model_get_info(m);
	struct cores *a = ctx;
	uint64_t known_ns;

	a->wall_ns = info->end_ns - info->start_ns;
	for (uint32_t i = 0; i < info->nr_cpus; i++)
		core_row(a, i);
	for (uint32_t i = 0; i < a->nprocess && i < model_process_count(m); i++)
		process_add(a, model_process_get(m, i), &a->process[i]);
	for (uint32_t i = 0; i < a->ncore; i++) {
		struct core_row *c = &a->core[i];

		known_ns = c->rank_ns + c->target_ns + c->other_ns + c->idle_ns;
		if (c->seen)
			c->unknown_ns = a->wall_ns > known_ns ? a->wall_ns - known_ns : 0;
	}
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

static void shares_free(struct core_share *share, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		free(share[i].ns);
	free(share);
}

void cores_release(struct cores *a)
{
	shares_free(a->process, a->nprocess);
	free(a->core);
}

/* ---- totals up to a moment: the runs that have ended and the current one ---- */

struct core_run {
	/* all processes; own_ns is kept in core_totals.process */
	struct core_total ended;
	const struct model_thread *now; /* thread that runs now; NULL: unknown */
	uint64_t since_ns;
};

/* The sum that a thread's time belongs to. */
static uint64_t *sum_of(struct core_total *t, const struct model_thread *thread)
{
	return thread->idle ? &t->idle_ns : thread->proc->is_rank ? &t->ranks_ns : &t->other_ns;
}

void core_totals_switch(struct core_totals *a, const struct model_switch *s)
{
	struct core_run *c = table_row(a->core, a->ncore, s->cpu);
	struct core_share *p;

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
	const struct core_share *p = table_row(a->process, a->nprocess, own->idx);
	struct core_total sum = c->ended;

	sum.own_ns = cpu < p->n ? p->ns[cpu] : 0;
	*(own->is_rank ? &sum.ranks_ns : &sum.other_ns) -= sum.own_ns;
	if (c->now && ts_ns > c->since_ns)
		*(c->now->proc == own ? &sum.own_ns : sum_of(&sum, c->now)) += ts_ns - c->since_ns;
	return sum;
}

void core_totals_release(struct core_totals *a)
{
	shares_free(a->process, a->nprocess);
	free(a->core);
}

/* ---- interrupts ---- */

struct interrupt {
	uint64_t begin_ns, ns;
};

/* A ring of the last interrupts. */
struct interrupt_ring {
	struct interrupt kept[INTERRUPTS_KEPT];
	uint32_t n; /* number of interrupts ever added */
};

struct interrupts_thread {
	struct interrupts_row row;
	struct interrupt_ring last;
};

static void ring_add(struct interrupt_ring *r, uint64_t begin_ns, uint64_t ns)
{
	r->kept[r->n++ % INTERRUPTS_KEPT] = (struct interrupt){begin_ns, ns};
}

/* Interrupts that began within these times, both included. */
static struct interrupts_row ring_within(const struct interrupt_ring *r, uint64_t from_ns,
					 uint64_t to_ns)
{
	struct interrupts_row sum = {0};

	for (uint32_t i = r->n; i > 0 && i + INTERRUPTS_KEPT > r->n; i--) {
		const struct interrupt *k = &r->kept[(i - 1) % INTERRUPTS_KEPT];

		if (k->begin_ns < from_ns)
			break;
		if (k->begin_ns > to_ns)
			continue;
		sum.cnt++;
		sum.ns += k->ns;
	}
	return sum;
}

static void on_irq(void *ctx, const struct model_irq *i)
{
	struct interrupts *a = ctx;
	struct interrupt_ring *core = table_row(a->core, a->ncore, i->cpu);
	uint64_t ns = i->end_ns - i->begin_ns, within_ns;
	struct interrupts_thread *t;

	a->recorded = true;
	if (i->soft) {
		within_ns = ring_within(core, i->begin_ns, UINT64_MAX).ns;
		ns -= within_ns < ns ? within_ns : ns;
	} else {
		ring_add(core, i->begin_ns, ns);
	}
	if (!i->thread->proc->is_rank)
		return;
	t = table_row(a->thread, a->nthread, i->thread->idx);
	ring_add(&t->last, i->begin_ns, ns);
	if (!windows_has(a->windows, i->thread->proc, i->begin_ns))
		return;
	t->row.cnt++;
	t->row.ns += ns;
}

/* Takes back the interrupts inside MPI_Finalize, which were counted before that call was known. */
static void on_call(void *ctx, const struct model_call *c)
{
	struct interrupts *a = ctx;
	const uint32_t idx = c->thread->proc->idx;
	struct interrupts_row late;
	struct interrupts_thread *t;

	if (c->nested || !func_is_top(c->func) || idx >= a->windows->nprocess ||
	    a->windows->process[idx].is != WINDOW_OVER ||
	    c->begin_ns != a->windows->process[idx].to_ns || c->thread->idx >= a->nthread)
		return;
	t = &a->thread[c->thread->idx];
	late = ring_within(&t->last, c->begin_ns, UINT64_MAX);
	t->row.cnt -= late.cnt;
	t->row.ns -= late.ns;
}

void interrupts_init(struct interrupts *a, const struct windows *windows)
{
	*a = (struct interrupts){
		.sink = {.ctx = a, .irq = on_irq, .call = on_call},
		.windows = windows,
	};
}

void interrupts_release(struct interrupts *a)
{
	free(a->thread);
	free(a->core);
}

struct interrupts_row interrupts_within(const struct interrupts *a, uint32_t thread,
					uint64_t from_ns, uint64_t to_ns)
{
	if (thread >= a->nthread)
		return (struct interrupts_row){0};
	return ring_within(&a->thread[thread].last, from_ns, to_ns);
}

struct interrupts_row interrupts_of(const struct interrupts *a, uint32_t thread)
{
	return thread < a->nthread ? a->thread[thread].row : (struct interrupts_row){0};
}
