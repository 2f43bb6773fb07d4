/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* See app_time.h. */
#include "analysis/app_time.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/coverage.h"
#include "analysis/table.h"

/* What a thread had done when its process's MPI_Init ended, and when it began to finalize; and in calls between. */
struct app_mark {
	struct state_times from, to;
	struct state_times wait, work, io; /* in calls; running of polls is in wait */
	double outer_ns, inner_ns; /* recording calls that lie in no other one, and in others */
	uint64_t room_ns, taken_ns;
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

	uint64_t ns = c->end_ns - c->begin_ns - c->split.ns[THREAD_RUNNABLE];

	p->open_ns += ns;
	thread_row(a, c->thread)->open_ns += ns;
}

/* ---- what tracing took ---- */

static void recording_add(struct app_time *a, const struct model_thread *t, bool inner,
			  const struct coverage_made *made)
{
	struct app_mark *m = mark_row(a, t);

	if (!m->ended && a->coverage)
		*(inner ? &m->inner_ns : &m->outer_ns) += coverage_made_cost(a->coverage, made);
}

static void call_recorded(struct app_time *a, const struct model_call *c)
{
	recording_add(a, c->thread, c->depth > 0,
		      &(struct coverage_made){c->func, c->lib, c->preloaded, .calls = 1});
}

/* The part of a stretch that lies in the window, as far as that is known by now. */
static uint64_t within(struct app_time *a, const struct model_thread *t, uint64_t from_ns,
		       uint64_t to_ns)
{
	uint64_t begin_ns = thread_row(a, t)->from_ns;

	begin_ns = from_ns > begin_ns ? from_ns : begin_ns;
	return !mark_row(a, t)->ended && to_ns > begin_ns ? to_ns - begin_ns : 0;
}

static void on_room(void *ctx, const struct model_room *r)
{
	mark_row(ctx, r->thread)->room_ns += within(ctx, r->thread, r->begin_ns, r->end_ns);
}

static void on_held(void *ctx, const struct model_thread *waiter, const struct model_thread *holder,
		    uint64_t from_ns, uint64_t to_ns)
{
	struct app_time *a = ctx;
	uint64_t ns;

	if (a->held_tell)
		a->held_tell(a->held_ctx, waiter, holder, from_ns, to_ns);
	ns = within(a, waiter, from_ns, to_ns);
	if (holder && model_thread_records(a->model, holder))
		mark_row(a, waiter)->taken_ns += ns;
	else if (ns && waiter->proc->is_rank)
		held_add(&a->held, waiter, holder, ns);
}

/* ---- calls ---- */

static void on_call(void *ctx, const struct model_call *c)
{
	struct app_time *a = ctx;
	struct app_thread *row;
	struct app_mark *m;

	if (c->nested || !func_is_top(c->func)) {
		call_recorded(a, c);
		return;
	}
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
	call_recorded(a, c);
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

	for (uint32_t i = 0; i < s->nfuncs && s->computes; i++)
		recording_add(a, s->thread, s->depth > 0,
			      &(struct coverage_made){s->func[i].func, s->func[i].lib, s->preloaded,
						      .polls = s->func[i].cnt});
	if (s->nested || !func_is_top(s->func[0].func))
		return;
	if (windows_spin(&a->windows, s) == WINDOW_FOUND)
		found(a, s->thread, s->begin_ns, s->end_ns, &s->split);
	m = mark_row(a, s->thread);
	if (m->ended)
		return;
	m->wait.ns[THREAD_RUNNING] += s->computes ? s->running_ns : s->split.ns[THREAD_RUNNING];
	m->wait.ns[THREAD_RUNNABLE] += s->computes ? 0 : s->split.ns[THREAD_RUNNABLE];
	m->wait.ns[THREAD_UNKNOWN] += s->computes ? 0 : s->split.ns[THREAD_UNKNOWN];
	thread_row(a, s->thread)->mpi_ns += s->busy_ns;
	thread_row(a, s->thread)->calls += s->cnt;
}

/* They run: functions that wait are not counted. */
static void on_counted(void *ctx, const struct model_counted *c)
{
	struct app_time *a = ctx;
	struct app_mark *m = mark_row(a, c->thread);

	recording_add(a, c->thread, c->inner,
		      &(struct coverage_made){c->func, c->lib, c->preloaded, .counted = c->calls});
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

/* Takes so much, as far as it is there, from the first part, what is lacking from the next one, …: how much that is. */
static uint64_t take_from(uint64_t *const *parts, int cnt, uint64_t ns)
{
	uint64_t got = 0;

	for (int i = 0; i < cnt && got < ns; i++)
		got += part(ns - got, parts[i]);
	return got;
}

static uint64_t whole_ns(double ns)
{
	return ns > 0 && ns < 1e18 ? (uint64_t)ns : 0;
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

/* From the parts that it lies in. What is recorded at a call's begin and end is mostly outside of the time that is measured of it. */
static void tracing_part(struct app_thread *row, const struct app_mark *m)
{
	uint64_t *const outer[] = {&row->compute_ns, &row->unknown_ns};
	uint64_t *const inner[] = {&row->work_ns, &row->wait_ns, &row->unknown_ns};
	uint64_t *const room[] = {&row->asleep_ns, &row->no_core_ns, &row->compute_ns,
				  &row->unknown_ns};
	uint64_t *const taken[] = {&row->no_core_ns, &row->unknown_ns};

	row->recording_ns = take_from(outer, 2, whole_ns(m->outer_ns)) +
			    take_from(inner, 3, whole_ns(m->inner_ns));
	row->taken_ns = take_from(taken, 2, m->taken_ns);
	row->room_ns = take_from(room, 4, m->room_ns);
	row->tracing_ns = row->recording_ns + row->room_ns + row->taken_ns;
}

/* Which of the time without a core, and of that which is unknown, was in calls. */
static void in_calls_part(struct app_thread *row, const struct app_mark *m)
{
	uint64_t no_core_ns = row->no_core_ns, unknown_ns = row->unknown_ns;

	row->mpi_no_core_ns = part(m->wait.ns[THREAD_RUNNABLE] + m->work.ns[THREAD_RUNNABLE] +
					   m->io.ns[THREAD_RUNNABLE],
				   &no_core_ns);
	row->unknown_wait_ns = part(m->wait.ns[THREAD_UNKNOWN], &unknown_ns);
	row->unknown_work_ns = part(m->work.ns[THREAD_UNKNOWN], &unknown_ns);
	row->unknown_io_ns = part(m->io.ns[THREAD_UNKNOWN], &unknown_ns);
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
	tracing_part(row, m);
	in_calls_part(row, m);
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

void app_time_init(struct app_time *a, struct holders *holders)
{
	*a = (struct app_time){
		.sink = {.ctx = a,
			 .start = on_start,
			 .call = on_call,
			 .spin = on_spin,
			 .counted = on_counted,
			 .room = on_room,
			 .lost = on_lost,
			 .finish = on_finish},
		.held_tell = holders->tell,
		.held_ctx = holders->ctx,
	};
	holders->tell = on_held;
	holders->ctx = a;
}

void app_time_release(struct app_time *a)
{
	free(a->thread);
	free(a->process);
	free(a->mark);
	map_free(&a->held, free);
	windows_release(&a->windows);
}
