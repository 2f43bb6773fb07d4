/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* See interrupts.h. */
#include "analysis/interrupts.h"

#include <stdlib.h>

#include "analysis/table.h"

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

struct interrupts_core {
	struct interrupt_ring hard;
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
	struct interrupts_core *core = table_row(a->core, a->ncore, i->cpu);
	uint64_t ns = i->end_ns - i->begin_ns, within_ns;
	struct interrupts_thread *t;

	a->recorded = true;
	if (i->soft) {
		within_ns = ring_within(&core->hard, i->begin_ns, UINT64_MAX).ns;
		ns -= within_ns < ns ? within_ns : ns;
	} else {
		ring_add(&core->hard, i->begin_ns, ns);
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
