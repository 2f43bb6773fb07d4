/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* See app_time.h. */
#include "analysis/app_time.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/coverage.h"
#include "lib/table.h"
#include "lib/u64.h"

/*
 * A thread's times when its process's MPI_Init ended and when it began to finalize, and its sums in
 * between.
 */
struct app_mark {
	struct state_times from, to;
	struct app_sums sums; /* sums.life is unused */
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

/* Forgets who had cores before the process's window began. */
static void held_forget(struct app_time *a, const struct model_process *p)
{
	struct held *h;

	for (size_t at = 0; (h = map_next(&a->held, &at, NULL));)
		if (model_thread_get(a->model, h->waiter)->proc == p)
			h->ns = 0;
}

static void init_ends(struct app_time *a, const struct model_call *c)
{
	struct app_process *p = table_row(a->process, a->nprocess, c->thread->proc->idx);

	p->main = c->thread->idx;
	p->has_main = true;
	p->init_ns = c->end_ns - c->begin_ns;
	held_forget(a, c->thread->proc);
	for (uint32_t i = 0; i < model_thread_count(a->model); i++) {
		const struct model_thread *t = model_thread_get(a->model, i);

		if (t->proc != c->thread->proc || t->start_ns >= c->end_ns)
			continue;
		memset(mark_row(a, t), 0, sizeof(struct app_mark));
		mark_row(a, t)->from = times_at(t, c->end_ns);
		*thread_row(a, t) = (struct app_thread){.from_ns = c->end_ns};
	}
}

/*
 * Ends the window. Threads other than the one that finalizes count until MPI_Finalize is over, as
 * their time meanwhile is not library shutdown.
 */
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

/*
 * Starts the window at the first call or poll of a process whose begin of MPI was not seen. The
 * thread's own time counts from the begin of that call, that of other threads from its end.
 */
static void window_found(struct app_time *a, const struct model_thread *self, uint64_t begin_ns,
			 uint64_t end_ns, const struct state_times *split)
{
	held_forget(a, self->proc);
	for (uint32_t i = 0; i < model_thread_count(a->model); i++) {
		const struct model_thread *t = model_thread_get(a->model, i);
		struct app_mark *m;

		if (t->proc != self->proc || t->start_ns >= end_ns)
			continue;
		m = mark_row(a, t);
		m->sums.taken_ns = m->sums.room_ns = 0;
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

/* ---- tracing overhead ---- */

static void recording_add(struct app_time *a, const struct model_thread *t, bool inner,
			  const struct coverage_made *made)
{
	struct app_mark *m = mark_row(a, t);

	if (!m->ended && a->coverage)
		*(inner ? &m->sums.inner_ns : &m->sums.outer_ns) += coverage_made_cost(a->coverage,
										       made);
}

static void call_recorded(struct app_time *a, const struct model_call *c)
{
	recording_add(a, c->thread, c->depth > 0,
		      &(struct coverage_made){c->func, c->lib, c->preloaded, .calls = 1});
}

/*
 * The kernel half first reads a switch's time and then records the switch. So the recording's cost
 * is part of the next thread's time.
 */
static void on_switch(void *ctx, const struct model_switch *s)
{
	struct app_time *a = ctx;

	if (s->next->proc->is_rank && a->coverage &&
	    windows_has(&a->windows, s->next->proc, s->ts_ns))
		mark_row(a, s->next)->sums.switch_ns += a->coverage->switch_ns;
}

/* The part of a stretch that lies in the window, as far as the window is known now. */
static uint64_t in_window_ns(struct app_time *a, const struct model_thread *t, uint64_t from_ns,
			     uint64_t to_ns)
{
	uint64_t begin_ns = thread_row(a, t)->from_ns;

	begin_ns = u64_max(from_ns, begin_ns);
	return !mark_row(a, t)->ended && to_ns > begin_ns ? to_ns - begin_ns : 0;
}

static void on_room(void *ctx, const struct model_room *r)
{
	mark_row(ctx, r->thread)->sums.room_ns += in_window_ns(ctx, r->thread, r->begin_ns,
							       r->end_ns);
}

static void on_held(void *ctx, const void *event)
{
	const struct held_stretch *h = event;
	struct app_time *a = ctx;
	uint64_t ns = in_window_ns(a, h->waiter, h->from_ns, h->to_ns);

	if (h->holder && model_thread_records(a->model, h->holder))
		mark_row(a, h->waiter)->sums.taken_ns += ns;
	else if (ns && h->waiter->proc->is_rank)
		held_add(&a->held, h->waiter, h->holder, ns);
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
		window_found(a, c->thread, c->begin_ns, c->end_ns, &c->split);
		break;
	case WINDOW_STAYS:
		break;
	}
	call_recorded(a, c);
	m = mark_row(a, c->thread);
	if (m->ended)
		return;
	table_row_add(c->func->file_io ? &m->sums.io :
		      c->func->waits   ? &m->sums.wait :
					 &m->sums.work,
		      &c->split, ns);
	row = thread_row(a, c->thread);
	row->mpi_ns += c->end_ns - c->begin_ns;
	row->calls++;
	if (c->open)
		open_add(a, c);
}

static void polling_add(struct app_thread *row, const struct model_spin *s)
{
	if (s->computes) {
		row->between_ns += u64_minus(s->split.ns[THREAD_RUNNING], s->running_ns);
		row->polls_between += s->cnt;
		return;
	}
	row->polling_ns += s->split.ns[THREAD_RUNNING] + s->split.ns[THREAD_UNKNOWN];
	row->polls += s->cnt;
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
		window_found(a, s->thread, s->begin_ns, s->end_ns, &s->split);
	m = mark_row(a, s->thread);
	if (m->ended)
		return;
	m->sums.wait.ns[THREAD_RUNNING] += s->computes ? s->running_ns :
							 s->split.ns[THREAD_RUNNING];
	m->sums.wait.ns[THREAD_RUNNABLE] += s->computes ? 0 : s->split.ns[THREAD_RUNNABLE];
	m->sums.wait.ns[THREAD_UNKNOWN] += s->computes ? 0 : s->split.ns[THREAD_UNKNOWN];
	thread_row(a, s->thread)->mpi_ns += s->busy_ns;
	thread_row(a, s->thread)->calls += s->cnt;
	polling_add(thread_row(a, s->thread), s);
}

/* Counted calls count as running: functions that wait are never just counted. */
static void on_counted(void *ctx, const struct model_counted *c)
{
	struct app_time *a = ctx;
	struct app_mark *m = mark_row(a, c->thread);

	recording_add(a, c->thread, c->inner,
		      &(struct coverage_made){c->func, c->lib, c->preloaded, .counted = c->calls});
	if (c->nested || !func_is_top(c->func) || m->ended)
		return;
	m->sums.work.ns[THREAD_RUNNING] += c->busy_ns;
	thread_row(a, c->thread)->mpi_ns += c->busy_ns;
	thread_row(a, c->thread)->calls += c->calls;
}

static void on_lost(void *ctx, const struct model_lost *l)
{
	((struct app_time *)ctx)->lost = true;
}

static void on_start(void *ctx, const struct model *m)
{
	struct app_time *a = ctx;

	a->model = a->windows.model = m;
}

/* ---- stretches ---- */

/* Sums up to a moment inside the window, or up to the window's end. */
static struct app_sums sums_at(const struct app_mark *m, const struct model_thread *t,
			       uint64_t ts_ns)
{
	struct app_sums sums = m->sums;

	sums.life = m->ended ? m->to : times_at(t, ts_ns);
	return sums;
}

static const struct app_mark *mark_find(const struct app_time *a, const struct model_thread *t)
{
	return table_get(a->mark, a->nmark, t->idx);
}

void app_time_enter(const struct app_time *a, const struct model_thread *t, uint64_t ts_ns,
		    struct app_entry *out)
{
	*out = (struct app_entry){ts_ns, sums_at(mark_find(a, t), t, ts_ns)};
}

static void states_add(struct state_times *to, const struct state_times *from,
		       const struct state_times *until)
{
	for (int s = 0; s < THREAD_STATE_CNT; s++)
		to->ns[s] += u64_minus(until->ns[s], from->ns[s]);
}

/* If the window has begun since the entry, counts from the window's begin. */
void app_time_leave(const struct app_time *a, const struct model_thread *t,
		    const struct app_entry *entry, uint64_t ts_ns, struct app_sums *sums)
{
	const struct app_mark *m = mark_find(a, t);
	bool begun_since = t->idx < a->nthread && a->thread[t->idx].from_ns > entry->ts_ns;
	const struct app_sums at_window = {.life = m->from};
	const struct app_sums *from = begun_since ? &at_window : &entry->sums;
	const struct app_sums until = sums_at(m, t, ts_ns);

	states_add(&sums->life, &from->life, &until.life);
	states_add(&sums->wait, &from->wait, &until.wait);
	states_add(&sums->work, &from->work, &until.work);
	states_add(&sums->io, &from->io, &until.io);
	sums->outer_ns += until.outer_ns - from->outer_ns;
	sums->inner_ns += until.inner_ns - from->inner_ns;
	sums->switch_ns += until.switch_ns - from->switch_ns;
	sums->room_ns += u64_minus(until.room_ns, from->room_ns);
	sums->taken_ns += u64_minus(until.taken_ns, from->taken_ns);
}

/* ---- the end ---- */

/*
 * True if the process may use MPI. If records are missing, a process without calls may have made
 * some.
 */
static bool uses_mpi(const struct app_time *a, const struct model_process *p)
{
	return a->lost || model_ran_before(a->model, p) ||
	       (p->idx < a->windows.nprocess && a->windows.process[p->idx].is != WINDOW_NONE);
}

/* Computes a thread's times once the window's begin and end are known. */
static void row_finish(struct app_thread *row, const struct app_sums *sums)
{
	const struct app_thread was = *row;

	*row = app_time_of(sums, u64_minus(was.to_ns, was.from_ns));
	row->from_ns = was.from_ns;
	row->to_ns = was.to_ns;
	row->open_ns = was.open_ns;
	row->mpi_ns = was.mpi_ns;
	row->calls = was.calls;
	row->polling_ns = was.polling_ns;
	row->polls = was.polls;
	row->between_ns = was.between_ns;
	row->polls_between = was.polls_between;
}

static void thread_finish(struct app_time *a, const struct model_thread *t)
{
	struct app_thread *row = thread_row(a, t);
	struct app_mark *m = mark_row(a, t);
	struct app_process *p;

	if (!uses_mpi(a, t->proc)) {
		*row = (struct app_thread){0};
		return;
	}
	if (!m->ended) {
		m->to = t->times;
		row->to_ns = t->end_ns;
	}
	row->from_ns = u64_max(row->from_ns, t->start_ns);
	m->sums.life = (struct state_times){{0}};
	states_add(&m->sums.life, &m->from, &m->to);
	row_finish(row, &m->sums);
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

static void on_finish(void *ctx, const struct model *m)
{
	struct app_time *a = ctx;

	for (uint32_t i = 0; i < model_thread_count(m); i++)
		thread_finish(a, model_thread_get(m, i));
	for (uint32_t i = 0; i < model_thread_count(m); i++)
		main_choose(a, model_thread_get(m, i));
	(void)table_row(a->process, a->nprocess, model_process_count(m));
}

void app_time_init(struct app_time *a, struct holders *holders)
{
	*a = (struct app_time){
		.sink = {.ctx = a,
			 .start = on_start,
			 .on_switch = on_switch,
			 .call = on_call,
			 .spin = on_spin,
			 .counted = on_counted,
			 .room = on_room,
			 .lost = on_lost,
			 .finish = on_finish},
	};
	observers_add(&holders->stretches, on_held, a);
}

void app_time_release(struct app_time *a)
{
	free(a->thread);
	free(a->process);
	free(a->mark);
	map_free(&a->held, free);
	windows_release(&a->windows);
}

/* ---- splitting the sums of a thread into its times ---- */

/* Takes at most ns out of *left. Returns what it took. */
static uint64_t part_take(uint64_t ns, uint64_t *left)
{
	uint64_t got = ns < *left ? ns : *left;

	*left -= got;
	return got;
}

/* Takes ns from the parts in turn, as far as they suffice. Returns what it took. */
static uint64_t take_from(uint64_t *const *parts, int cnt, uint64_t ns)
{
	uint64_t got = 0;

	for (int i = 0; i < cnt && got < ns; i++)
		got += part_take(ns - got, parts[i]);
	return got;
}

static uint64_t whole_ns(double ns)
{
	return ns > 0 && ns < 1e18 ? (uint64_t)ns : 0;
}

/*
 * Takes the overhead out of the parts that contain it. The recording at a call's begin and end lies
 * mostly outside the measured time of the call.
 */
static void tracing_part(struct app_thread *row, const struct app_sums *s)
{
	uint64_t *const outer[] = {&row->compute_ns, &row->unknown_ns};
	uint64_t *const inner[] = {&row->work_ns, &row->wait_ns, &row->unknown_ns};
	uint64_t *const switches[] = {&row->wait_ns, &row->work_ns, &row->compute_ns,
				      &row->unknown_ns};
	uint64_t *const room[] = {&row->asleep_ns, &row->no_core_ns, &row->compute_ns,
				  &row->unknown_ns};
	uint64_t *const taken[] = {&row->no_core_ns, &row->unknown_ns};

	row->recording_ns = take_from(outer, 2, whole_ns(s->outer_ns)) +
			    take_from(inner, 3, whole_ns(s->inner_ns));
	row->switches_ns = take_from(switches, 4, whole_ns(s->switch_ns));
	row->recording_ns += row->switches_ns;
	row->recorded_ns = s->outer_ns + s->inner_ns + s->switch_ns;
	row->taken_ns = take_from(taken, 2, s->taken_ns);
	row->room_ns = take_from(room, 4, s->room_ns);
	row->tracing_ns = row->recording_ns + row->room_ns + row->taken_ns;
}

/* Finds which part of no_core_ns and of unknown_ns was in calls. */
static void in_calls_part(struct app_thread *row, const struct app_sums *s)
{
	uint64_t no_core_ns = row->no_core_ns, unknown_ns = row->unknown_ns;

	row->mpi_no_core_ns = part_take(s->wait.ns[THREAD_RUNNABLE] + s->work.ns[THREAD_RUNNABLE] +
						s->io.ns[THREAD_RUNNABLE],
					&no_core_ns);
	row->unknown_wait_ns = part_take(s->wait.ns[THREAD_UNKNOWN], &unknown_ns);
	row->unknown_work_ns = part_take(s->work.ns[THREAD_UNKNOWN], &unknown_ns);
	row->unknown_io_ns = part_take(s->io.ns[THREAD_UNKNOWN], &unknown_ns);
}

/*
 * Later records may have corrected the states at the window's begin, so the sums may exceed
 * window_ns. So each part takes at most what is left.
 */
struct app_thread app_time_of(const struct app_sums *s, uint64_t window_ns)
{
	struct app_thread out = {.window_ns = window_ns}, *row = &out;
	const uint64_t *ns = s->life.ns;
	uint64_t left = window_ns, in_mpi_ns;

	in_mpi_ns = s->wait.ns[THREAD_RUNNING] + s->work.ns[THREAD_RUNNING] +
		    s->io.ns[THREAD_RUNNING];
	row->no_core_ns = part_take(ns[THREAD_RUNNABLE], &left);
	row->work_ns = part_take(s->work.ns[THREAD_RUNNING], &left);
	row->wait_ns = part_take(s->wait.ns[THREAD_RUNNING], &left);
	row->io_ns = part_take(s->io.ns[THREAD_RUNNING], &left);
	row->compute_ns = part_take(u64_minus(ns[THREAD_RUNNING], in_mpi_ns), &left);
	in_mpi_ns = s->wait.ns[THREAD_BLOCKED] + s->work.ns[THREAD_BLOCKED];
	row->wait_ns += part_take(in_mpi_ns, &left);
	row->io_ns += part_take(s->io.ns[THREAD_BLOCKED], &left);
	in_mpi_ns += s->io.ns[THREAD_BLOCKED];
	row->asleep_ns = part_take(u64_minus(ns[THREAD_BLOCKED], in_mpi_ns), &left);
	row->unknown_ns = left;
	tracing_part(row, s);
	in_calls_part(row, s);
	return out;
}
