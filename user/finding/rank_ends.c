/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Finds the ranks that did not end well, their order, and where they were. rank_ends_text.c writes
 * the sentences.
 */
#include "finding/rank_ends.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "abi/event.h"
#include "lib/json_get.h"
#include "lib/log.h"
#include "trace/trace_read.h"

const char *const rank_end_kinds[] = {
	[RANK_END_ABORT] = "abort",	[RANK_END_SIGNAL] = "signal",
	[RANK_END_STATUS] = "status",	[RANK_END_UNFINISHED] = "unfinished",
	[RANK_END_RUNNING] = "running",
};

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
static bool crashed(const struct model_process *p)
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

static int order_compare(const void *va, const void *vb)
{
	const struct rank_end *a = va, *b = vb;
	bool a_runs = a->kind == RANK_END_RUNNING, b_runs = b->kind == RANK_END_RUNNING;

	if (a_runs != b_runs)
		return a_runs ? 1 : -1;
	if (a->at_ns != b->at_ns)
		return a->at_ns < b->at_ns ? -1 : 1;
	return a->process->idx < b->process->idx ? -1 : a->process->idx > b->process->idx;
}

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
				 crashed(p) && !ended_well(e, p, &e->end[e->n]))
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
