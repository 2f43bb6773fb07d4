/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * See holders.h. A ring per CPU keeps its last runs. When a thread gets its core, the ring is
 * searched from the newest run on.
 */
#include "analysis/holders.h"

#include <stdlib.h>

#include "abi/event.h"
#include "lib/table.h"

/* A stretch in which one thread ran. */
struct run {
	uint64_t from_ns, to_ns;
	const struct model_thread *thread;
};

struct holders_core {
	/* ring of the last runs; its size is a power of two; owned */
	struct run *run;
	uint32_t room;
	uint64_t cnt; /* runs ever added; the last ones are kept */
	/* the current run, without an end; thread NULL: unknown */
	struct run now;
};

static struct holders_core *core_of(struct holders *a, uint16_t cpu)
{
	return table_row(a->core, a->ncore, cpu);
}

static void run_add(struct holders_core *c, const struct run *r)
{
	/* the ring has not wrapped yet, so it is in order */
	if (c->cnt >= c->room && c->room < HOLDERS_RUNS_MAX) {
		c->room = c->room ? c->room * 2 : 64;
		c->run = xrealloc(c->run, c->room * sizeof(*c->run));
	}
	c->run[c->cnt++ % c->room] = *r;
}

static void on_switch(void *ctx, const struct model_switch *s)
{
	core_of(ctx, s->cpu)->now = (struct run){.from_ns = s->ts_ns, .thread = s->next};
}

/* ---- waiting ---- */

/* Adds a stretch in which `thread` held the core. NULL: no known thread ran. */
static void holder_add(struct holders *a, const struct model_thread *waiter,
		       const struct model_thread *thread, uint64_t from_ns, uint64_t to_ns)
{
	struct holders_row *row = &a->thread[waiter->idx];
	struct holder *h;

	if (from_ns >= to_ns)
		return;
	observers_notify(&a->stretches, &(struct held_stretch){waiter, thread, from_ns, to_ns});
	if (!thread) {
		row->unknown_ns += to_ns - from_ns;
		return;
	}
	if (thread->idle) {
		row->idle_ns += to_ns - from_ns;
		return;
	}
	h = map_make(&a->pairs, map_pair(waiter->idx, thread->idx), sizeof(*h));
	h->waiter = waiter->idx;
	h->thread = thread->idx;
	h->ns += to_ns - from_ns;
}

/*
 * Adds the part of a run that lies in the waiting. Lowers *to_ns to where the rest of the waiting
 * ends.
 */
static void run_take(struct holders *a, const struct model_thread *waiter, const struct run *r,
		     uint64_t from_ns, uint64_t *to_ns)
{
	uint64_t begin_ns = u64_max(r->from_ns, from_ns);
	uint64_t end_ns = u64_min(r->to_ns, *to_ns);

	if (begin_ns >= end_ns)
		return;
	holder_add(a, waiter, NULL, end_ns, *to_ns);
	holder_add(a, waiter, r->thread == waiter ? NULL : r->thread, begin_ns, end_ns);
	*to_ns = begin_ns;
}

/*
 * Finds the holders for a stretch of waiting for a CPU. The thread that runs there now is not in
 * the ring yet.
 */
static void waiting_settle(struct holders *a, const struct model_thread *t, uint64_t from_ns,
			   uint64_t to_ns, uint16_t cpu)
{
	struct holders_core *c = core_of(a, cpu);
	struct holders_row *row = table_row(a->thread, a->nthread, t->idx);
	uint64_t left_ns = to_ns;

	from_ns = u64_max(from_ns, row->counted_ns);
	if (from_ns >= to_ns)
		return;
	row->counted_ns = to_ns;
	row->runnable_ns += to_ns - from_ns;
	if (c->now.thread && c->now.from_ns < to_ns) {
		struct run now = c->now;

		now.to_ns = to_ns;
		run_take(a, t, &now, from_ns, &left_ns);
	}
	for (uint64_t i = c->cnt; i && c->cnt - i < c->room && left_ns > from_ns; i--) {
		const struct run *r = &c->run[(i - 1) % c->room];

		if (r->to_ns <= from_ns)
			break;
		run_take(a, t, r, from_ns, &left_ns);
	}
	holder_add(a, t, NULL, from_ns, left_ns);
}

static void on_state(void *ctx, const struct model_thread *t, uint64_t from_ns, uint64_t to_ns,
		     enum thread_state s, uint16_t cpu)
{
	struct holders_core *c = core_of(ctx, cpu);

	if (s == THREAD_RUNNING) {
		if (c->now.thread == t)
			c->now.thread = NULL;
		run_add(c, &(struct run){from_ns, to_ns, t});
	} else if (s == THREAD_RUNNABLE && t->proc->is_target) {
		waiting_settle(ctx, t, from_ns, to_ns, cpu);
	}
}

/* From here on, the thread waits for another CPU. */
static void on_migrate(void *ctx, const struct model_migrate *g)
{
	if (g->thread->state == THREAD_RUNNABLE && g->thread->proc->is_target)
		waiting_settle(ctx, g->thread, g->thread->since_ns, g->ts_ns, g->orig_cpu);
}

/* Scheduler records are missing, so the running threads are unknown. */
static void on_lost(void *ctx, const struct model_lost *l)
{
	struct holders *a = ctx;

	for (uint32_t i = 0; l->class == POV_CLASS_SCHED && i < a->ncore; i++)
		a->core[i].now.thread = NULL;
}

/* ---- init and release ---- */

void held_add(struct map *held, const struct model_thread *waiter,
	      const struct model_thread *holder, uint64_t ns)
{
	uint32_t by = holder ? holder->proc->idx : HELD_UNKNOWN;
	struct held *h = map_make(held, map_pair(waiter->idx, by), sizeof(*h));

	h->waiter = waiter->idx;
	h->holder = by;
	h->ns += ns;
}

uint64_t held_get(const struct map *held, uint32_t waiter, uint32_t holder)
{
	const struct held *h = map_get(held, map_pair(waiter, holder));

	return h ? h->ns : 0;
}

void holders_init(struct holders *a)
{
	*a = (struct holders){
		.sink = {.ctx = a,
			 .on_switch = on_switch,
			 .state = on_state,
			 .migrate = on_migrate,
			 .lost = on_lost},
	};
}

void holders_release(struct holders *a)
{
	for (uint32_t i = 0; i < a->ncore; i++)
		free(a->core[i].run);
	free(a->core);
	free(a->thread);
	map_free(&a->pairs, free);
}

static int holder_compare(const void *va, const void *vb, void *model)
{
	const struct holder *a = va, *b = vb;
	uint32_t pa = model_thread_get(model, a->waiter)->proc->idx;
	uint32_t pb = model_thread_get(model, b->waiter)->proc->idx;
	int order = u64_compare(pa, pb) ?: u64_compare(a->waiter, b->waiter);

	return order ?: u64_compare(b->ns, a->ns) ?: u64_compare(a->thread, b->thread);
}

struct holder *holders_list(const struct holders *a, const struct model *m, uint32_t *n)
{
	struct holder *list = xmalloc((a->pairs.cnt + 1) * sizeof(*list)), *h;

	*n = 0;
	for (size_t at = 0; (h = map_next(&a->pairs, &at, NULL));)
		list[(*n)++] = *h;
	qsort_r(list, *n, sizeof(*list), holder_compare, (void *)m);
	return list;
}
