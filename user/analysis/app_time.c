/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* See app_time.h. */
#include "analysis/app_time.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/table.h"

/* What a thread had done when its process's MPI_Init ended, and when it began to finalize; and in calls between. */
struct app_mark {
	struct state_times from, to;
	struct state_times wait, work, io; /* in calls; running of polls is in wait */
	bool ended;
};

static struct app_thread *thread_row(struct app_time *a, const struct model_thread *t)
{
	return table_row(a->thread, a->nthread, t->idx);
}

static struct app_mark *mark_row(struct app_time *a, const struct model_thread *t)
{
	return table_row(a->mark, a->nmark, t->idx);
}

static struct state_times times_at(const struct model_thread *t, uint64_t ts_ns)
{
	struct state_times times = t->times;

	if (ts_ns > t->since_ns)
		times.ns[t->state] += ts_ns - t->since_ns;
	return times;
}

static void times_less(struct state_times *times, const struct state_times *by)
{
	for (int s = 0; s < THREAD_STATE_CNT; s++)
		times->ns[s] -= by->ns[s] < times->ns[s] ? by->ns[s] : times->ns[s];
}

static void init_ends(struct app_time *a, const struct model_call *c)
{
	struct app_process *p = table_row(a->process, a->nprocess, c->thread->proc->idx);

	p->main = c->thread->idx;
	p->has_main = true;
	p->init_ns = c->end_ns - c->begin_ns;
	for (uint32_t i = 0; i < model_thread_count(a->model); i++) {
		const struct model_thread *t = model_thread_get(a->model, i);

		if (t->proc != c->thread->proc || t->start_ns >= c->end_ns)
			continue;
		memset(mark_row(a, t), 0, sizeof(struct app_mark));
		mark_row(a, t)->from = times_at(t, c->end_ns);
		*thread_row(a, t) = (struct app_thread){.from_ns = c->end_ns};
	}
}

/* Other threads than the one that finalizes count until that is over, for what they did meanwhile is not their library's end. */
static void finalize_ends(struct app_time *a, const struct model_call *c)
{
	struct app_process *p = table_row(a->process, a->nprocess, c->thread->proc->idx);

	p->finalize_ns = c->end_ns - c->begin_ns;
	for (uint32_t i = 0; i < model_thread_count(a->model); i++) {
		const struct model_thread *t = model_thread_get(a->model, i);
		bool self = t == c->thread;
		struct app_mark *m;

		if (t->proc != c->thread->proc || t->state == THREAD_DEAD ||
		    t->start_ns >= c->end_ns)
			continue;
		m = mark_row(a, t);
		m->ended = true;
		m->to = times_at(t, c->end_ns);
		if (self)
			times_less(&m->to, &c->split);
		thread_row(a, t)->to_ns = self ? c->begin_ns : c->end_ns;
	}
}

/* The first that is seen of a process: from there on its time counts; of other threads, from when it is over. */
static void found(struct app_time *a, const struct model_thread *self, uint64_t begin_ns,
		  uint64_t end_ns, const struct state_times *split)
{
	for (uint32_t i = 0; i < model_thread_count(a->model); i++) {
		const struct model_thread *t = model_thread_get(a->model, i);
		struct app_mark *m;

		if (t->proc != self->proc || t->start_ns >= end_ns)
			continue;
		m = mark_row(a, t);
		m->from = times_at(t, end_ns);
		if (t == self)
			times_less(&m->from, split);
		thread_row(a, t)->from_ns = t == self ? begin_ns : end_ns;
	}
}

static void open_add(struct app_time *a, const struct model_call *c)
{
	struct app_process *p = table_row(a->process, a->nprocess, c->thread->proc->idx);

	p->open_ns += c->end_ns - c->begin_ns - c->split.ns[THREAD_RUNNABLE];
}

static void on_call(void *ctx, const struct model_call *c)
{
	struct app_time *a = ctx;
	struct app_thread *row;
	struct app_mark *m;

	if (c->nested || !func_is_top(c->func))
		return;
	switch (windows_call(&a->windows, c)) {
	case WINDOW_OPENS:
		init_ends(a, c);
		return;
	case WINDOW_CLOSES:
		finalize_ends(a, c);
		return;
	case WINDOW_FOUND:
		found(a, c->thread, c->begin_ns, c->end_ns, &c->split);
		break;
	case WINDOW_STAYS:
		break;
	}
	m = mark_row(a, c->thread);
	if (m->ended)
		return;
	table_row_add(c->func->file_io ? &m->io :
		      c->func->waits   ? &m->wait :
					 &m->work,
		      &c->split, ns);
	row = thread_row(a, c->thread);
	row->mpi_ns += c->end_ns - c->begin_ns;
	row->calls++;
	if (c->open)
		open_add(a, c);
}

static void on_spin(void *ctx, const struct model_spin *s)
{
	struct app_time *a = ctx;
	struct app_mark *m;

	if (s->nested || !func_is_top(s->func[0].func))
		return;
	if (windows_spin(&a->windows, s) == WINDOW_FOUND)
		found(a, s->thread, s->begin_ns, s->end_ns, &s->split);
	m = mark_row(a, s->thread);
	if (m->ended)
		return;
	m->wait.ns[THREAD_RUNNING] += s->computes ? s->running_ns : s->split.ns[THREAD_RUNNING];
	thread_row(a, s->thread)->mpi_ns += s->busy_ns;
	thread_row(a, s->thread)->calls += s->cnt;
}

/* They run: functions that wait are not counted. */
static void on_counted(void *ctx, const struct model_counted *c)
{
	struct app_time *a = ctx;
	struct app_mark *m = mark_row(a, c->thread);

	if (c->nested || !func_is_top(c->func) || m->ended)
		return;
	m->work.ns[THREAD_RUNNING] += c->busy_ns;
	thread_row(a, c->thread)->mpi_ns += c->busy_ns;
	thread_row(a, c->thread)->calls += c->calls;
}

static void on_lost(void *ctx, const struct model_lost *l)
{
	(void)l;
	((struct app_time *)ctx)->lost = true;
}

static void on_start(void *ctx, const struct model *m)
{
	struct app_time *a = ctx;

	a->model = a->windows.model = m;
}

/* ---- the account ---- */

/* *left is what is not given away yet. */
static uint64_t part(uint64_t ns, uint64_t *left)
{
	uint64_t got = ns < *left ? ns : *left;

	*left -= got;
	return got;
}

static uint64_t minus(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* As far as is known: of one that nothing was seen of, calls may have been lost. */
static bool uses_mpi(const struct app_time *a, const struct model_process *p)
{
	return a->lost || model_ran_before(a->model, p) ||
	       (p->idx < a->windows.nprocess && a->windows.process[p->idx].is != WINDOW_NONE);
}

/* What was known when the window began may have been refuted since: no part is more than what is left. */
static void thread_finish(struct app_time *a, const struct model_thread *t)
{
	struct app_thread *row = thread_row(a, t);
	struct app_mark *m = mark_row(a, t);
	struct app_process *p;
	const struct state_times *in_wait = &m->wait, *in_work = &m->work, *in_io = &m->io;
	uint64_t ns[THREAD_STATE_CNT], left, in_mpi_ns;

	if (!uses_mpi(a, t->proc)) {
		*row = (struct app_thread){0};
		return;
	}
	if (!m->ended) {
		m->to = t->times;
		row->to_ns = t->end_ns;
	}
	if (row->from_ns < t->start_ns)
		row->from_ns = t->start_ns;
	row->window_ns = left = minus(row->to_ns, row->from_ns);
	for (int s = 0; s < THREAD_STATE_CNT; s++)
		ns[s] = minus(m->to.ns[s], m->from.ns[s]);
	in_mpi_ns = in_wait->ns[THREAD_RUNNING] + in_work->ns[THREAD_RUNNING] +
		    in_io->ns[THREAD_RUNNING];
	row->no_core_ns = part(ns[THREAD_RUNNABLE], &left);
	row->work_ns = part(in_work->ns[THREAD_RUNNING], &left);
	row->wait_ns = part(in_wait->ns[THREAD_RUNNING], &left);
	row->io_ns = part(in_io->ns[THREAD_RUNNING], &left);
	row->compute_ns = part(minus(ns[THREAD_RUNNING], in_mpi_ns), &left);
	in_mpi_ns = in_wait->ns[THREAD_BLOCKED] + in_work->ns[THREAD_BLOCKED];
	row->wait_ns += part(in_mpi_ns, &left);
	row->io_ns += part(in_io->ns[THREAD_BLOCKED], &left);
	in_mpi_ns += in_io->ns[THREAD_BLOCKED];
	row->asleep_ns = part(minus(ns[THREAD_BLOCKED], in_mpi_ns), &left);
	row->unknown_ns = left;
	p = table_row(a->process, a->nprocess, t->proc->idx);
	p->computed_ns += row->compute_ns;
	p->in_mpi_ns += row->work_ns + row->wait_ns;
}

static void main_choose(struct app_time *a, const struct model_thread *t)
{
	struct app_process *p = table_row(a->process, a->nprocess, t->proc->idx);
	const struct app_thread *best = p->has_main ? &a->thread[p->main] : NULL;

	if (p->init_ns || !uses_mpi(a, t->proc) || (best && best->calls > thread_row(a, t)->calls))
		return;
	if (best && best->calls == thread_row(a, t)->calls && t->tid != t->proc->pid)
		return;
	p->main = t->idx;
	p->has_main = true;
}

static int on_finish(void *ctx, const struct model *m)
{
	struct app_time *a = ctx;

	for (uint32_t i = 0; i < model_thread_count(m); i++)
		thread_finish(a, model_thread_get(m, i));
	for (uint32_t i = 0; i < model_thread_count(m); i++)
		main_choose(a, model_thread_get(m, i));
	(void)table_row(a->process, a->nprocess, model_process_count(m));
	return 0;
}

void app_time_init(struct app_time *a)
{
	*a = (struct app_time){
		.sink = {.ctx = a,
			 .start = on_start,
			 .call = on_call,
			 .spin = on_spin,
			 .counted = on_counted,
			 .lost = on_lost,
			 .finish = on_finish},
	};
}

void app_time_release(struct app_time *a)
{
	free(a->thread);
	free(a->process);
	free(a->mark);
	windows_release(&a->windows);
}
