/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* See sleeps.h. Whether a sleep was in a call is known when the call has ended. */
#include "analysis/sleeps.h"

#include <stdlib.h>

#include "analysis/table.h"
#include "lib/u64.h"

/* bits of a task's state in the kernel */
#define TASK_UNINTERRUPTIBLE 0x02
#define TASK_STOPPED 0x04
#define TASK_TRACED 0x08

#define PENDING_MAX 256 /* sleeps since the last call; earlier ones were outside MPI */

const char *const sleep_names[SLEEP_KINDS] = {
	[SLEEP_DEVICE] = "device",	   [SLEEP_STOPPED] = "stopped",
	[SLEEP_OWN_THREAD] = "own_thread", [SLEEP_OTHER_PROCESS] = "other_process",
	[SLEEP_INTERRUPT] = "interrupt",
};

struct sleep {
	uint64_t from_ns, ns;
	enum sleep_kind kind;
};

struct sleeps_thread {
	uint64_t ns[SLEEP_KINDS];
	uint64_t since_ns;     /* when it fell asleep; 0: it is awake */
	uint32_t state;	       /* task state bits then */
	struct sleep *pending; /* owned */
	uint32_t npending, room;
};

/* Counts the pending sleeps that began before a call did. Forgets all. */
static void pending_settle(struct sleeps *a, const struct model_thread *t, uint64_t call_ns)
{
	struct sleeps_thread *row = table_row(a->thread, a->nthread, t->idx);

	for (uint32_t i = 0; i < row->npending; i++) {
		const struct sleep *s = &row->pending[i];

		if (s->from_ns < call_ns && windows_has(a->windows, t->proc, s->from_ns))
			row->ns[s->kind] += s->ns;
	}
	row->npending = 0;
}

static void sleep_end(struct sleeps *a, const struct model_thread *t, uint64_t ts_ns,
		      enum sleep_kind by)
{
	struct sleeps_thread *row = table_row(a->thread, a->nthread, t->idx);
	enum sleep_kind kind = row->state & (TASK_STOPPED | TASK_TRACED) ? SLEEP_STOPPED :
			       row->state & TASK_UNINTERRUPTIBLE	 ? SLEEP_DEVICE :
									   by;

	if (!row->since_ns)
		return;
	if (row->npending == PENDING_MAX)
		pending_settle(a, t, UINT64_MAX);
	*table_row(row->pending, row->room, row->npending) =
		(struct sleep){row->since_ns, u64_minus(ts_ns, row->since_ns), kind};
	row->npending++;
	row->since_ns = 0;
}

static void on_switch(void *ctx, const struct model_switch *s)
{
	struct sleeps *a = ctx;
	struct sleeps_thread *row;

	if (s->next->proc->is_rank)
		sleep_end(a, s->next, s->ts_ns, SLEEP_UNKNOWN);
	if (!s->prev->proc->is_rank || s->preempted)
		return;
	row = table_row(a->thread, a->nthread, s->prev->idx);
	row->since_ns = s->ts_ns;
	row->state = s->prev_state;
}

static void on_waking(void *ctx, const struct model_waking *w)
{
	if (w->target->proc->is_rank)
		sleep_end(ctx, w->target, w->ts_ns,
			  w->by_interrupt		      ? SLEEP_INTERRUPT :
			  w->waker->proc == w->target->proc   ? SLEEP_OWN_THREAD :
			  w->waker->kthread || w->waker->idle ? SLEEP_INTERRUPT :
								SLEEP_OTHER_PROCESS);
}

static void on_call(void *ctx, const struct model_call *c)
{
	if (!c->nested && func_is_top(c->func))
		pending_settle(ctx, c->thread, c->begin_ns);
}

static int on_finish(void *ctx, const struct model *m)
{
	struct sleeps *a = ctx;

	for (uint32_t i = 0; i < a->nthread && i < model_thread_count(m); i++)
		pending_settle(a, model_thread_get(m, i), UINT64_MAX);
	return 0;
}

void sleeps_init(struct sleeps *a, const struct windows *w)
{
	*a = (struct sleeps){
		.sink = {.ctx = a,
			 .on_switch = on_switch,
			 .waking = on_waking,
			 .call = on_call,
			 .finish = on_finish},
		.windows = w,
	};
}

void sleeps_release(struct sleeps *a)
{
	for (uint32_t i = 0; i < a->nthread; i++)
		free(a->thread[i].pending);
	free(a->thread);
}

enum sleep_kind sleeps_mostly(const struct sleeps *a, uint32_t thread, uint64_t all_ns,
			      uint64_t *ns)
{
	enum sleep_kind most = SLEEP_UNKNOWN;

	*ns = 0;
	for (int i = SLEEP_UNKNOWN + 1; thread < a->nthread && i < SLEEP_KINDS; i++)
		if (a->thread[thread].ns[i] > *ns) {
			*ns = a->thread[thread].ns[i];
			most = i;
		}
	*ns = u64_min(*ns, all_ns);
	return *ns >= all_ns / 2 ? most : SLEEP_UNKNOWN;
}
