/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* See last_calls.h. */
#include "analysis/last_calls.h"

#include <stdlib.h>
#include <string.h>

#include "abi/event.h"
#include "analysis/table.h"

static struct last_calls_process *process_row(struct last_calls *a, const struct model_process *p)
{
	return table_row(a->process, a->nprocess, p->idx);
}

static struct last_calls_thread *thread_row(struct last_calls *a, const struct model_thread *t,
					    uint64_t ts_ns)
{
	struct last_calls_process *p = process_row(a, t->proc);

	if (ts_ns >= p->caller_ns) {
		p->caller = t;
		p->caller_ns = ts_ns;
	}
	return table_row(a->thread, a->nthread, t->idx);
}

static void on_call(void *ctx, const struct model_call *c)
{
	const struct last_call call = {c->func, c->begin_ns, c->end_ns, c->site, false};
	struct last_calls *a = ctx;
	struct last_calls_process *p;
	struct last_calls_thread *t;

	if (c->nested || !func_is_top(c->func))
		return;
	windows_call(&a->windows, c);
	t = thread_row(a, c->thread, c->end_ns);
	if (c->open)
		t->open = call;
	else
		t->returned = call;
	p = process_row(a, c->thread->proc);
	if (!p->aborter && !strcmp(c->func->name, "MPI_Abort")) {
		p->aborter = c->thread;
		p->abort = call;
	}
}

static void on_spin(void *ctx, const struct model_spin *s)
{
	struct last_calls *a = ctx;

	if (s->nested || !s->nfuncs || !func_is_top(s->func[0].func))
		return;
	windows_spin(&a->windows, s);
	thread_row(a, s->thread, s->end_ns)->returned =
		(struct last_call){s->func[0].func, s->begin_ns, s->end_ns, s->site, true};
}

static void on_counted(void *ctx, const struct model_counted *c)
{
	thread_row(ctx, c->thread, c->end_ns)->counted_ns = c->end_ns;
}

static void on_lost(void *ctx, const struct model_lost *l)
{
	struct last_calls *a = ctx;

	if (l->class != POV_CLASS_CALL && l->class != POV_CLASS_SPIN)
		return;
	if (l->ts_ns > a->lost_ns)
		a->lost_ns = l->ts_ns;
	/* calls that begin or end MPI are never left out */
	a->lost |= !l->left_out;
}

static void on_start(void *ctx, const struct model *m)
{
	((struct last_calls *)ctx)->windows.model = m;
}

void last_calls_init(struct last_calls *a)
{
	*a = (struct last_calls){.sink = {.ctx = a,
					  .start = on_start,
					  .call = on_call,
					  .spin = on_spin,
					  .counted = on_counted,
					  .lost = on_lost}};
}

void last_calls_release(struct last_calls *a)
{
	windows_release(&a->windows);
	free(a->thread);
	free(a->process);
}

const struct last_calls_thread *last_calls_of(const struct last_calls *a,
					      const struct model_thread *t)
{
	const struct last_calls_thread *row = t->idx < a->nthread ? &a->thread[t->idx] : NULL;

	return row && (row->open.func || row->returned.func || row->counted_ns) ? row : NULL;
}

const struct last_calls_process *last_calls_of_process(const struct last_calls *a,
						       const struct model_process *p)
{
	static const struct last_calls_process none;

	return p->idx < a->nprocess ? &a->process[p->idx] : &none;
}

static const struct window *window_of(const struct last_calls *a, const struct model_process *p)
{
	static const struct window none;

	return p->idx < a->windows.nprocess ? &a->windows.process[p->idx] : &none;
}

bool last_calls_unfinished(const struct last_calls *a, const struct model_process *p)
{
	const struct window *w = window_of(a, p);

	return w->is == WINDOW_OPEN && w->from_ns && !a->lost;
}

bool last_calls_finished(const struct last_calls *a, const struct model_process *p)
{
	return window_of(a, p)->is == WINDOW_OVER;
}
