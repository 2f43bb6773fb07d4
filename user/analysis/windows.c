/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* See windows.h. */
#include "analysis/windows.h"

#include <stdlib.h>

#include "lib/table.h"

/*
 * True if the window has begun already, or is over. An open window without a begin has not: the
 * program only queried MPI so far. But in a process that ran before the recording it has, and this
 * call opens another session.
 */
static bool was_open(const struct windows *w, const struct window *row,
		     const struct model_process *p)
{
	return row->is == WINDOW_OVER ||
	       (row->is == WINDOW_OPEN && (row->from_ns || model_ran_before(w->model, p)));
}

static enum window_change window_begun(const struct windows *w, struct window *row,
				       const struct model_call *c)
{
	if (row->begun++ || was_open(w, row, c->thread->proc))
		return WINDOW_STAYS;
	row->is = WINDOW_OPEN;
	row->from_ns = c->end_ns;
	return WINDOW_OPENS;
}

static enum window_change window_ended(struct window *row, const struct model_call *c)
{
	row->begun -= row->begun != 0;
	if (row->begun || row->is == WINDOW_OVER)
		return WINDOW_STAYS;
	row->is = WINDOW_OVER;
	row->to_ns = c->begin_ns;
	return WINDOW_CLOSES;
}

static enum window_change window_used(struct window *row, bool ran_before, uint64_t begin_ns)
{
	if (row->is != WINDOW_NONE)
		return WINDOW_STAYS;
	row->is = WINDOW_OPEN;
	row->first_ns = begin_ns;
	return ran_before ? WINDOW_STAYS : WINDOW_FOUND;
}

enum window_change windows_spin(struct windows *w, const struct model_spin *s)
{
	struct window *row = table_row(w->process, w->nprocess, s->thread->proc->idx);

	/* for a process that ran before the recording, polls add nothing new */
	return model_ran_before(w->model, s->thread->proc) ? WINDOW_STAYS :
							     window_used(row, false, s->begin_ns);
}

enum window_change windows_call(struct windows *w, const struct model_call *c)
{
	struct window *row = table_row(w->process, w->nprocess, c->thread->proc->idx);

	if (c->func->setup == FUNC_BEGINS)
		return window_begun(w, row, c);
	if (c->func->setup == FUNC_ENDS)
		return window_ended(row, c);
	return window_used(row, model_ran_before(w->model, c->thread->proc), c->begin_ns);
}

bool windows_found(const struct windows *w, const struct model_process *p)
{
	const struct window *row = p->idx < w->nprocess ? &w->process[p->idx] : NULL;

	return row && row->first_ns && !row->from_ns && !model_ran_before(w->model, p);
}

bool windows_has(const struct windows *w, const struct model_process *p, uint64_t ts_ns)
{
	const struct window *row = p->idx < w->nprocess ? &w->process[p->idx] : NULL;

	if (!row || row->is == WINDOW_NONE)
		return model_ran_before(w->model, p);
	return ts_ns >= (windows_found(w, p) ? row->first_ns : row->from_ns) &&
	       (row->is == WINDOW_OPEN || ts_ns < row->to_ns);
}

void windows_release(struct windows *w)
{
	free(w->process);
}
