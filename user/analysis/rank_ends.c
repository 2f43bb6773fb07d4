/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Finds the ranks that failed or did not finish, their order, and where they were. rank_ends_text.c
 * writes the sentences.
 */
#include "analysis/rank_ends.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "abi/event.h"
#include "analysis/functions.h"
#include "lib/json_get.h"
#include "lib/log.h"
#include "lib/table.h"
#include "trace/trace_read.h"

const char *const rank_end_kinds[] = {
	[RANK_END_ABORT] = "abort",	[RANK_END_SIGNAL] = "signal",
	[RANK_END_STATUS] = "status",	[RANK_END_UNFINISHED] = "unfinished",
	[RANK_END_RUNNING] = "running",
};

static const struct last_calls_process *last_calls_of_process(const struct last_calls *a,
							      const struct model_process *p)
{
	return table_get(a->process, a->nprocess, p->idx);
}

static const struct window *window_of(const struct last_calls *a, const struct model_process *p)
{
	return table_get(a->windows.process, a->windows.nprocess, p->idx);
}

/*
 * True if the process was seen to begin MPI and did not end it, and no record of the end can be
 * lost.
 */
static bool last_calls_unfinished(const struct last_calls *a, const struct model_process *p)
{
	const struct window *w = window_of(a, p);

	return w->is == WINDOW_OPEN && w->from_ns && !a->lost;
}

/* True if the process ended MPI. */
static bool last_calls_finished(const struct last_calls *a, const struct model_process *p)
{
	return window_of(a, p)->is == WINDOW_OVER;
}

/* Returns true if the process ended well. Otherwise, fills end except for the location. */
static bool ended_well(const struct rank_ends *e, const struct model_process *p,
		       struct rank_end *end)
{
	const struct last_calls_process *calls = last_calls_of_process(e->calls, p);
	const struct model_signal *s = p->killed_by;
	bool unfinished = last_calls_unfinished(e->calls, p);

	*end = (struct rank_end){.process = p, .at_ns = p->ended_ns};
	if (calls->aborter) {
		end->kind = RANK_END_ABORT;
		end->at_ns = calls->abort.begin_ns;
	} else if (s || (p->ended_ns && WIFSIGNALED(p->exit_code))) {
		end->kind = RANK_END_SIGNAL;
		end->at_ns = s ? s->ts_ns : p->ended_ns;
	} else if (p->ended_ns) {
		end->kind = p->exit_code ? RANK_END_STATUS : RANK_END_UNFINISHED;
		return !p->exit_code && !unfinished;
	} else {
		end->kind = RANK_END_RUNNING;
		end->at_ns = model_get_info(e->model)->end_ns;
		return last_calls_finished(e->calls, p);
	}
	return false;
}

static bool is_ancestor(const struct model *m, const struct model_process *old,
			const struct model_process *p)
{
	const struct model_process *at = model_parent(m, p);

	for (uint32_t depth = 0; at && depth < 64; depth++, at = model_parent(m, at))
		if (at == old)
			return true;
	return false;
}

static bool killed_by_launcher(const struct rank_ends *e, const struct rank_end *end)
{
	const struct model_signal *s = end->process->killed_by;

	return end->kind == RANK_END_SIGNAL && s && s->sender && !s->sender->is_rank &&
	       is_ancestor(e->model, s->sender, end->process);
}

/* ---- where ---- */

static const struct model_thread *main_thread(const struct model *m, const struct model_process *p)
{
	for (uint32_t i = 0; i < model_thread_count(m); i++) {
		const struct model_thread *t = model_thread_get(m, i);

		if (t->proc == p && t->tid == p->pid)
			return t;
	}
	return NULL;
}

/* NULL: the thread made no calls. */
static const struct last_calls_thread *last_calls_of(const struct last_calls *a,
						     const struct model_thread *t)
{
	const struct last_calls_thread *row = t->idx < a->nthread ? &a->thread[t->idx] : NULL;

	return row && (row->open.func || row->returned.func || row->counted_ns) ? row : NULL;
}

/* For a signal to the whole process, or an exit, prefers the main thread: its calls say most. */
static const struct model_thread *thread_of(const struct rank_ends *e, const struct rank_end *end)
{
	const struct last_calls_process *calls = last_calls_of_process(e->calls, end->process);
	const struct model_signal *s = end->process->killed_by;
	const struct model_thread *t;

	if (end->kind == RANK_END_ABORT)
		return calls->aborter;
	if (end->kind == RANK_END_SIGNAL && s && s->thread && s->thread->proc == end->process)
		return s->thread;
	t = main_thread(e->model, end->process);
	return t && (last_calls_of(e->calls, t) || !calls->caller) ? t : calls->caller;
}

static void place_find(const struct rank_ends *e, struct rank_end *end)
{
	const struct model_signal *s = end->process->killed_by;
	const struct last_calls_thread *row;

	end->thread = thread_of(e, end);
	if (end->kind == RANK_END_SIGNAL && s && s->from == POV_SIGNAL_FROM_FAULT)
		end->at = s->at;
	if (end->kind == RANK_END_ABORT) {
		end->call = last_calls_of_process(e->calls, end->process)->abort;
		end->in_call = true;
		return;
	}
	row = end->thread ? last_calls_of(e->calls, end->thread) : NULL;
	if (!row)
		return;
	end->in_call = row->open.func && row->open.begin_ns <= end->at_ns;
	if (end->in_call)
		end->call = row->open;
	else if (row->returned.end_ns <= end->at_ns && row->counted_ns <= row->returned.end_ns &&
		 e->calls->lost_ns <= row->returned.end_ns)
		end->call = row->returned;
}

/* ---- all ---- */

/* Detects processes that may have failed before MPI_Init. Other signals than these are ordinary. */
static bool process_crashed(const struct model_process *p)
{
	if (p->is_rank || !p->is_target || !p->ended_ns || !WIFSIGNALED(p->exit_code))
		return false;
	switch (WTERMSIG(p->exit_code)) {
	case SIGSEGV:
	case SIGBUS:
	case SIGILL:
	case SIGFPE:
	case SIGABRT:
	case SIGSYS:
		return true;
	default:
		return p->out_of_memory;
	}
}

TABLE_ORDER(order_compare, struct rank_end,
	    table_compare(a->kind == RANK_END_RUNNING, b->kind == RANK_END_RUNNING),
	    u64_compare(a->at_ns, b->at_ns), u64_compare(a->process->idx, b->process->idx))

/*
 * True if all ranks still ran and the recording simply ended before them, not because the launcher
 * ended.
 */
static bool only_running(const struct rank_ends *e, uint32_t nranks)
{
	const json_t *over = trace_meta_find(model_get_trace((struct model *)e->model), "end");

	return e->n == nranks && e->n && e->end[0].kind == RANK_END_RUNNING &&
	       strcmp(json_get_text(over, "reason"), "command ended");
}

void rank_ends_make(struct rank_ends *e, const struct model *m, const struct last_calls *calls,
		    struct sites *sites)
{
	uint32_t n = model_process_count(m), nranks = 0;

	*e = (struct rank_ends){.model = m, .calls = calls, .sites = sites};
	e->end = xcalloc(n + 1, sizeof(*e->end));
	for (uint32_t i = 0; i < n; i++) {
		const struct model_process *p = model_process_get(m, i);

		nranks += p->is_rank;
		if (p->is_rank ? !ended_well(e, p, &e->end[e->n]) :
				 process_crashed(p) && !ended_well(e, p, &e->end[e->n]))
			e->n++;
	}
	qsort(e->end, e->n, sizeof(*e->end), order_compare);
	if (only_running(e, nranks))
		e->n = 0;
	for (uint32_t i = 0; i < e->n; i++) {
		place_find(e, &e->end[i]);
		e->end[i].by_launcher = i && killed_by_launcher(e, &e->end[i]);
	}
}

void rank_ends_release(struct rank_ends *e)
{
	free(e->end);
}

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
	a->lost_ns = u64_max(a->lost_ns, l->ts_ns);
	/* calls that begin or end MPI are never left out */
	a->lost |= !l->left_out;
}

void last_calls_init(struct last_calls *a)
{
	*a = (struct last_calls){.sink = {.ctx = a,
					  .model = &a->windows.model,
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

/* ---- calls that failed ---- */

bool failed_alike(const struct failed_row *a, const struct failed_row *b)
{
	return a->func == b->func &&
	       (a->error || b->error ? a->error == b->error : a->code == b->code) &&
	       !site_compare(&a->site, &b->site);
}

/* Uses the error class if it is known, as MPICH's codes differ from one failure to the next. */
static uint64_t key_of(const struct model_call *c)
{
	const struct call_roles *r = &c->view->roles;
	uint64_t error = r->error_name ? (uintptr_t)r->error_name : (uint32_t)r->error;
	uint64_t hash = ((uint64_t)c->thread->proc->idx << 16 | c->func->id) *
			UINT64_C(0x9e3779b97f4a7c15);

	return hash ^ (c->site.offset + c->site.address + error) * UINT64_C(0xff51afd7ed558ccd);
}

/* NULL: another row has the same hash, or there is no room. Then the call is left out. */
static struct failed_row *row_of(struct failed *a, const struct model_call *c)
{
	const struct failed_row own = {
		.func = c->func,
		.error = c->view->roles.error_name,
		.code = c->view->roles.error,
		.site = c->site,
		.process = c->thread->proc,
		.first_ns = c->end_ns,
	};
	uint64_t key = key_of(c);
	uintptr_t at = (uintptr_t)map_get(&a->by_key, key);

	if (at)
		return failed_alike(&a->row[at - 1], &own) &&
				       a->row[at - 1].process == own.process ?
			       &a->row[at - 1] :
			       NULL;
	if (a->nrow == FAILED_KEPT_MAX)
		return NULL;
	*table_append(a->row, a->nrow) = own;
	map_set(&a->by_key, key, (void *)(uintptr_t)a->nrow);
	return &a->row[a->nrow - 1];
}

static void on_call_failed(void *ctx, const struct model_call *c)
{
	struct failed *a = ctx;
	struct failed_row *r;

	if (c->nested || c->open || c->unwound || !func_is_top(c->func) || !c->view->roles.error)
		return;
	r = row_of(a, c);
	a->cnt++;
	if (r)
		r->cnt++;
	else
		a->left_out++;
}

TABLE_ORDER(row_compare, struct failed_row, strcmp(a->func->name, b->func->name),
	    strcmp(a->error ?: "", b->error ?: ""),
	    (a->error ? 0 : table_compare(a->code, b->code)), site_compare(&a->site, &b->site),
	    table_compare(a->process->idx, b->process->idx))

static void on_finish(void *ctx, const struct model *m)
{
	struct failed *a = ctx;

	table_sort(a->row, a->nrow, row_compare);
}

void failed_init(struct failed *a)
{
	*a = (struct failed){.sink = {.ctx = a, .call = on_call_failed, .finish = on_finish}};
}

void failed_release(struct failed *a)
{
	free(a->row);
	map_release(&a->by_key);
}
