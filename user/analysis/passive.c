/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Waits in passive-target synchronisation (MPI_Win_lock, _unlock, _flush, and their _all and
 * _local) for a target that was outside MPI. Some libraries carry out accesses only while the
 * target is in MPI calls. A call certainly waited for that if
 *
 *	- the target was outside MPI with all its threads, from some moment of the call on, and
 *	- the target called MPI during the call, and the call returned soon after that: within a
 *	  tenth of the waiting, or within PASSIVE_SOON_NS.
 *
 * For a call that covers all targets, the accessed target that called MPI last counts. Windows that
 * several processes lock, one of them exclusively, are left to locks.c. Waits are reported through
 * epochs.h.
 *
 * Calls are reported in order of their end. So the target's call that ended a wait may be reported
 * after the call that waited. A wait is settled once no earlier call of the target can be reported
 * any more.
 */
#include "analysis/epochs.h"

#include <stdlib.h>

#include "lib/log.h"
#include "lib/table.h"

#define PASSIVE_SOON_NS 20000
#define PASSIVE_CALLS_KEPT 64 /* last calls kept of each process */
/* Most calls that are pending, because their targets may still be in calls that began before. */
#define PASSIVE_WAITING_MAX 256
/* Targets kept per process and window. With more targets, calls for all targets are ignored. */
#define PASSIVE_ACCESSED_MAX 64

struct span {
	uint64_t begin_ns, end_ns;
	const struct model_thread *thread;
};

struct passive_process {
	/* ring of the last outermost calls and merged polls */
	struct span call[PASSIVE_CALLS_KEPT];
	uint64_t calls; /* number of calls ever added */
};

/* The targets that one process accesses on one window. */
struct accessed {
	const struct model_process **target; /* owned */
	uint32_t n, room;
	bool unknown; /* there were further or unknown targets */
};

struct passive_window {
	/* process idx → struct accessed, since its last synchronisation */
	struct map accessed;
	const struct model_process *locker; /* process that locked the window last */
	bool others;			    /* several processes lock the window */
	bool exclusive;			    /* some lock is exclusive */
};

/* State of one target of a call. */
struct target {
	const struct model_process *process;
	/* end of the target's calls that began before this call; at least the begin of this call */
	uint64_t in_until_ns;
	/* begin of the target's first later call, or UINT64_MAX */
	uint64_t called_ns;
	const struct model_thread *caller;
	/* earlier calls of the target are not kept any more */
	bool unknown;
};

struct passive_call {
	struct arrival_call call;
	const struct passive_window *window;
	uint32_t n;
	struct target target[];
};

/* ---- the target's calls ---- */

static void target_add_call(struct target *t, const struct arrival_call *c, const struct span *of)
{
	if (of->begin_ns <= c->begin_ns) {
		t->in_until_ns = u64_max(t->in_until_ns, of->end_ns);
	} else if (of->begin_ns < t->called_ns) {
		t->called_ns = of->begin_ns;
		t->caller = of->thread;
	}
}

static void target_begin(struct passive *a, struct target *t, const struct model_process *process,
			 const struct arrival_call *c)
{
	const struct passive_process *row = table_row(a->process, a->nprocess, process->idx);
	bool reaches = row->calls < PASSIVE_CALLS_KEPT;

	*t = (struct target){process, c->begin_ns, UINT64_MAX, NULL, false};
	for (uint64_t i = 0; i < row->calls && i < PASSIVE_CALLS_KEPT; i++) {
		reaches |= row->call[i].begin_ns <= c->begin_ns;
		target_add_call(t, c, &row->call[i]);
	}
	t->unknown = !reaches;
}

/* For a call with several targets: the target that called last, which let this call return. */
static const struct target *target_last(const struct passive_call *w)
{
	const struct target *last = NULL;

	for (uint32_t i = 0; i < w->n; i++) {
		const struct target *t = &w->target[i];

		if (t->unknown)
			return NULL;
		if (t->called_ns <= w->call.end_ns && (!last || t->called_ns > last->called_ns))
			last = t;
	}
	return last;
}

static void call_settle(struct passive *a, const struct passive_call *w)
{
	const struct target *t = target_last(w);
	struct arrival_call call[2] = {w->call};
	uint64_t ns, behind_ns;

	if (a->lost || !t || t->called_ns <= t->in_until_ns ||
	    (w->window->exclusive && w->window->others))
		return;
	ns = t->called_ns - t->in_until_ns;
	behind_ns = w->call.end_ns - t->called_ns;
	if (behind_ns > ns / 10 && behind_ns > PASSIVE_SOON_NS)
		return;
	call[0].begin_ns = t->in_until_ns;
	call[1] = (struct arrival_call){
		.thread = t->caller,
		.begin_ns = t->called_ns,
		.end_ns = t->called_ns,
	};
	epochs_add(a->epochs, EPOCH_NO_PROGRESS, call, 2);
}

/* ---- calls that may have waited ---- */

static bool may_change(const struct passive *a, const struct passive_call *w)
{
	return table_any(w->n, i,
			 model_calls_reported_until(a->model, w->target[i].process) <=
				 w->call.end_ns);
}

/* Settles the calls that later records cannot change, and the first `first` calls in any case. */
static void calls_settle(struct passive *a, uint32_t first)
{
	uint32_t left = 0;

	for (uint32_t i = 0; i < a->nwaiting; i++) {
		struct passive_call *w = a->waiting[i];

		if (i >= first && may_change(a, w)) {
			a->waiting[left++] = w;
			continue;
		}
		call_settle(a, w);
		free(w);
	}
	a->nwaiting = left;
}

static void waiting_add(struct passive *a, const struct passive_window *l,
			const struct model_call *k, const struct model_process *const *target,
			uint32_t n)
{
	struct passive_call *w = xcalloc(1, sizeof(*w) + n * sizeof(w->target[0]));

	w->call = epoch_call(k, true);
	w->window = l;
	for (uint32_t i = 0; i < n; i++)
		if (target[i] != k->thread->proc)
			target_begin(a, &w->target[w->n++], target[i], &w->call);
	if (!w->n) {
		free(w);
		return;
	}
	if (!a->waiting)
		a->waiting = xmalloc(PASSIVE_WAITING_MAX * sizeof(struct passive_call *));
	if (a->nwaiting == PASSIVE_WAITING_MAX)
		calls_settle(a, PASSIVE_WAITING_MAX / 2);
	a->waiting[a->nwaiting++] = w;
}

/* ---- windows ---- */

static const struct model_process *target_of(const struct passive *a, const struct model_call *k)
{
	const struct call_window *c = k->view->roles.window;

	return c->target_world < 0 ?
		       NULL :
		       model_peer(a->model, k->thread->proc, c->target_job, c->target_world);
}

static void accessed_add(struct accessed *s, const struct model_process *target)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (s->target[i] == target)
			return;
	if (!target || s->n == PASSIVE_ACCESSED_MAX) {
		s->unknown = true;
		return;
	}
	*table_add(s->target, s->n, s->room) = target;
}

static void window_lock(struct passive_window *l, const struct model_call *k)
{
	l->exclusive |= k->view->roles.window->exclusive;
	l->others |= l->locker && l->locker != k->thread->proc;
	l->locker = k->thread->proc;
}

/*
 * Clears the list after a synchronisation of all targets. Synchronisation of a single target leaves
 * its entry in the list, so that fewer waits are certain.
 */
static void accesses_done(struct passive *a, struct passive_window *l, const struct model_call *k,
			  struct accessed *s)
{
	if (!s->unknown)
		waiting_add(a, l, k, s->target, s->n);
	s->n = 0;
	s->unknown = false;
}

static void on_window(struct passive *a, const struct model_call *k)
{
	const struct call_window *c = k->view->roles.window;
	struct passive_window *l = map_make(&a->windows, epoch_window_key(&k->view->roles),
					    sizeof(*l));
	const struct model_process *target = target_of(a, k);
	struct accessed *s = map_make(&l->accessed, k->thread->proc->idx, sizeof(*s));

	if (c->event == WIN_LOCK)
		window_lock(l, k);
	if (c->event == WIN_ACCESS)
		accessed_add(s, target);
	else if (c->target == PEER_ANY && c->event != WIN_LOCK)
		accesses_done(a, l, k, s);
	else if (target)
		waiting_add(a, l, k, &target, 1);
}

/* ---- incoming calls ---- */

static void process_add_call(struct passive *a, const struct model_thread *t, struct span of)
{
	struct passive_process *row = table_row(a->process, a->nprocess, t->proc->idx);
	bool waited_for = false;

	row->call[row->calls++ % PASSIVE_CALLS_KEPT] = of;
	for (uint32_t i = 0; i < a->nwaiting; i++)
		for (uint32_t k = 0; k < a->waiting[i]->n; k++) {
			if (a->waiting[i]->target[k].process != t->proc)
				continue;
			target_add_call(&a->waiting[i]->target[k], &a->waiting[i]->call, &of);
			waited_for = true;
		}
	if (waited_for)
		calls_settle(a, 0);
}

static void on_call(void *ctx, const struct model_call *k)
{
	const struct call_window *c = k->view->roles.window;
	struct passive *a = ctx;

	if (k->nested || !func_is_top(k->func))
		return;
	process_add_call(a, k->thread, (struct span){k->begin_ns, k->end_ns, k->thread});
	if (c && c->event >= WIN_LOCK && c->number && c->target != PEER_NULL && !k->open &&
	    !k->unwound && !k->end_only)
		on_window(a, k);
}

static void on_spin(void *ctx, const struct model_spin *s)
{
	if (!s->nested && func_is_top(s->func[0].func))
		process_add_call(ctx, s->thread, (struct span){s->begin_ns, s->end_ns, s->thread});
}

static void on_lost(void *ctx, const struct model_lost *l)
{
	((struct passive *)ctx)->lost = true;
}

static void on_finish(void *ctx, const struct model *m)
{
	struct passive *a = ctx;

	calls_settle(a, a->nwaiting);
}

void passive_init(struct passive *a, struct epochs *epochs)
{
	*a = (struct passive){
		.sink = {.ctx = a,
			 .model = &a->model,
			 .call = on_call,
			 .spin = on_spin,
			 .lost = on_lost,
			 .finish = on_finish},
		.epochs = epochs,
	};
}

static void accessed_free(void *value)
{
	free(((struct accessed *)value)->target);
	free(value);
}

void passive_release(struct passive *a)
{
	struct passive_window *l;

	for (size_t at = 0; (l = map_next(&a->windows, &at, NULL));)
		map_free(&l->accessed, accessed_free);
	map_free(&a->windows, free);
	while (a->nwaiting)
		free(a->waiting[--a->nwaiting]);
	free(a->waiting);
	free(a->process);
}
