/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * See locks.h. Calls come in order of their end, whosever they are. So when one that may have waited comes, all who had the lock by then are
 * known, and since when; but whether they were about to unlock it, only when they have called again.
 */
#include "analysis/locks.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/table.h"
#include "lib/log.h"

/* Of a window: locks that are over, and may have been waited for by calls that have not ended; and calls of which that is not known yet. */
#define OVER_MAX 4096
#define WAITING_MAX 1024

/* A lock that a process has at a target, from lock to unlock. */
struct held {
	const struct model_process *process;
	int32_t target; /* or PEER_ANY */
	bool exclusive;
	bool local;	    /* the target is the process itself */
	bool of_all;	    /* made for a target of MPI_Win_lock_all that was accessed */
	bool accessed;	    /* something is to be done at the target */
	uint64_t called_ns; /* begin of the last call of the process on the window */
	uint64_t locked_ns; /* end of the call to lock; or UINT64_MAX: nothing is certain by that */
	uint64_t flushed_ns;	    /* end of the first flush of an access; or UINT64_MAX */
	struct arrival_call unlock; /* once it is over */
};

struct held_list {
	struct held *held; /* owned */
	uint32_t n, room;
};

/* A call that may have waited for a lock. */
struct waiting {
	struct arrival_call call;
	int32_t target;
	bool exclusive;
	bool locks;  /* MPI_Win_lock, or _all; or a later one */
	bool remote; /* the target is one other process */
};

struct lock_window {
	struct map open;	 /* process idx → struct held_list: what it has */
	uint32_t exclusive;	 /* of these */
	struct held_list over;	 /* in order of the end of unlock */
	struct waiting *waiting; /* owned; WAITING_MAX */
	uint32_t nwaiting;
};

/* ---- who waited ---- */

static bool targets_meet(int32_t a, int32_t b)
{
	return a == b || a == PEER_ANY || b == PEER_ANY;
}

static bool excludes(const struct held *h, const struct waiting *w)
{
	return h->process != w->call.thread->proc && (h->exclusive || w->exclusive) &&
	       targets_meet(h->target, w->target);
}

/* It excludes the call, and was unlocked while that waited. */
static bool stands_in_way(const struct held *h, const struct waiting *w)
{
	return excludes(h, w) && h->unlock.begin_ns > w->call.begin_ns &&
	       h->unlock.begin_ns <= w->call.end_ns;
}

/* Those that were not unlocked when the call began: i of these, from the last one on; or NULL. */
static const struct held *over_since(const struct lock_window *l, const struct waiting *w,
				     uint32_t i)
{
	const struct held *h = i < l->over.n ? &l->over.held[l->over.n - 1 - i] : NULL;

	return h && h->unlock.end_ns > w->call.begin_ns ? h : NULL;
}

/* Since when it was surely held, by which this call could not have it. */
static uint64_t held_since_ns(const struct held *h, const struct waiting *w)
{
	if (!w->locks && w->target == PEER_ANY)
		return UINT64_MAX;
	if (h->locked_ns < h->flushed_ns && (h->local || (w->locks && w->remote)))
		return h->locked_ns;
	return h->flushed_ns;
}

/* From a moment on these have it, until *to: who they are. */
static uint32_t holders_at(const struct lock_window *l, const struct waiting *w, uint64_t from_ns,
			   uint64_t *to_ns, struct arrival_call *call)
{
	const struct held *h;
	uint32_t n = 0;

	for (uint32_t i = 0; (h = over_since(l, w, i)); i++) {
		uint64_t since_ns = held_since_ns(h, w), until_ns = h->unlock.begin_ns;

		if (!stands_in_way(h, w) || since_ns >= until_ns || until_ns <= from_ns)
			continue;
		if (since_ns > from_ns)
			until_ns = since_ns;
		else
			call[n++] = h->unlock;
		if (until_ns < *to_ns)
			*to_ns = until_ns;
	}
	return n;
}

/* One stands in its way of which it is not known whether it was held by then. */
static bool is_doubtful(const struct lock_window *l, const struct waiting *w)
{
	const struct held *h;

	for (uint32_t i = 0; (h = over_since(l, w, i)); i++)
		if (stands_in_way(h, w) && held_since_ns(h, w) >= h->unlock.begin_ns)
			return true;
	return false;
}

static void waiting_settle(struct locks *a, const struct lock_window *l, const struct waiting *w)
{
	struct arrival_call *call;
	uint64_t from_ns, to_ns;
	bool waited = false;
	uint32_t n = 0;

	while (over_since(l, w, n))
		n++;
	if (!n)
		return;
	call = xmalloc((n + 1) * sizeof(*call));
	for (from_ns = w->call.begin_ns; from_ns < w->call.end_ns; from_ns = to_ns) {
		to_ns = w->call.end_ns;
		n = holders_at(l, w, from_ns, &to_ns, call + 1);
		if (!n)
			continue;
		call[0] = w->call;
		call[0].begin_ns = from_ns;
		for (uint32_t i = 1; i <= n; i++)
			call[i].begin_ns = to_ns; /* of this stretch */
		epochs_add(a->epochs, EPOCH_LOCKED, call, n + 1);
		waited = true;
	}
	if (!waited && is_doubtful(l, w))
		table_row(a->epochs->process, a->epochs->nprocess, w->call.thread->proc->idx)
			->doubtful++;
	free(call);
}

/* ---- as they come ---- */

/* Who has it may be about to unlock it: a call that does has begun, and has not ended. */
static bool is_open(const struct lock_window *l, const struct waiting *w)
{
	const struct held_list *own;

	if (!w->exclusive && !l->exclusive)
		return false;
	for (size_t at = 0; (own = map_next(&l->open, &at, NULL));)
		for (uint32_t i = 0; i < own->n; i++)
			if (excludes(&own->held[i], w) && own->held[i].called_ns <= w->call.end_ns)
				return true;
	return false;
}

/* Those of which it is known; and the first ones in any case. */
static void settle(struct locks *a, struct lock_window *l, uint32_t first)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < l->nwaiting; i++)
		if (i < first || !is_open(l, &l->waiting[i]))
			waiting_settle(a, l, &l->waiting[i]);
		else
			l->waiting[n++] = l->waiting[i];
	l->nwaiting = n;
}

static struct held *held_put(struct held_list *l, const struct held *h)
{
	if (l->n == l->room) {
		l->room = l->room ? l->room * 2 : 4;
		l->held = xrealloc(l->held, l->room * sizeof(*l->held));
	}
	l->held[l->n] = *h;
	return &l->held[l->n++];
}

static void unlock(struct lock_window *l, struct held_list *own, struct held *h,
		   const struct model_call *k)
{
	h->unlock = epoch_call(k, false);
	if (l->over.n == 2 * OVER_MAX) {
		l->over.n = OVER_MAX;
		memmove(l->over.held, l->over.held + OVER_MAX, OVER_MAX * sizeof(*h));
	}
	held_put(&l->over, h);
	l->exclusive -= h->exclusive;
	*h = own->held[--own->n];
}

/* Of those of a process the one at a target, or NULL. */
static struct held *held_find(const struct held_list *own, int32_t target)
{
	for (uint32_t i = 0; i < own->n; i++)
		if (own->held[i].target == target)
			return &own->held[i];
	return NULL;
}

static void waiting_add(struct locks *a, struct lock_window *l, const struct model_call *k,
			bool exclusive)
{
	const struct call_window *c = k->view->roles.window;

	if (!l->waiting)
		l->waiting = xmalloc(WAITING_MAX * sizeof(*l->waiting));
	if (l->nwaiting == WAITING_MAX)
		settle(a, l, WAITING_MAX / 2);
	l->waiting[l->nwaiting++] = (struct waiting){
		.call = epoch_call(k, true),
		.target = c->target,
		.exclusive = exclusive,
		.locks = c->event == WIN_LOCK,
		.remote = c->rank >= 0 && c->target >= 0 && c->rank != c->target,
	};
}

static void on_lock(struct locks *a, struct lock_window *l, struct held_list *own,
		    const struct model_call *k)
{
	const struct call_window *c = k->view->roles.window;
	const struct held h = {
		.process = k->thread->proc,
		.target = c->target,
		.exclusive = c->exclusive,
		.local = c->rank >= 0 && c->rank == c->target,
		.called_ns = k->begin_ns,
		.locked_ns = c->target == PEER_ANY ? UINT64_MAX : k->end_ns,
		.flushed_ns = UINT64_MAX,
	};
	struct held *old = held_find(own, h.target);

	table_row(a->epochs->process, a->epochs->nprocess, h.process->idx)->locks++;
	waiting_add(a, l, k, h.exclusive);
	l->exclusive += h.exclusive;
	if (!old) {
		held_put(own, &h);
		return;
	}
	l->exclusive -= old->exclusive; /* the record of its unlock was lost */
	*old = h;
}

/* Where all targets are locked each one is looked at by itself. */
static struct held *held_at(struct held_list *own, int32_t target)
{
	const struct held *all = held_find(own, PEER_ANY);
	struct held *h = held_find(own, target);

	if (h || !all)
		return h;
	return held_put(own, &(struct held){.process = all->process,
					    .target = target,
					    .of_all = true,
					    .called_ns = all->called_ns,
					    .locked_ns = UINT64_MAX,
					    .flushed_ns = UINT64_MAX});
}

static void on_later(struct locks *a, struct lock_window *l, struct held_list *own,
		     const struct model_call *k)
{
	const struct call_roles *r = &k->view->roles;
	const struct call_window *c = r->window;
	struct held *h = held_at(own, c->target);

	if (!h)
		return;
	waiting_add(a, l, k, h->exclusive);
	h->accessed |= c->event == WIN_ACCESS && (r->send_bytes || r->recv_bytes);
	for (uint32_t i = own->n; i-- > 0;) {
		h = &own->held[i];
		if (!targets_meet(c->target, h->target))
			continue;
		if (c->event == WIN_FLUSH && h->accessed && k->end_ns < h->flushed_ns)
			h->flushed_ns = k->end_ns;
		/* that of all is of none that was locked by itself */
		if (c->event == WIN_UNLOCK && (c->target == h->target || h->of_all))
			unlock(l, own, h, k);
	}
}

static void on_call(void *ctx, const struct model_call *k)
{
	const struct call_window *c = k->view->roles.window;
	struct locks *a = ctx;
	struct lock_window *l;
	struct held_list *own;

	if (!c || k->nested || c->event < WIN_LOCK || !c->number || c->target == PEER_NULL ||
	    model_ran_before(a->model, k->thread->proc))
		return;
	l = map_make(&a->windows, epoch_window_key(&k->view->roles), sizeof(*l));
	own = map_make(&l->open, k->thread->proc->idx, sizeof(*own));
	for (uint32_t i = 0; i < own->n; i++)
		own->held[i].called_ns = k->begin_ns;
	if (c->event == WIN_LOCK)
		on_lock(a, l, own, k);
	else
		on_later(a, l, own, k);
	settle(a, l, 0);
}

static void on_start(void *ctx, const struct model *m)
{
	((struct locks *)ctx)->model = m;
}

static int on_finish(void *ctx, const struct model *m)
{
	struct lock_window *l;
	struct locks *a = ctx;

	(void)m;
	for (size_t at = 0; (l = map_next(&a->windows, &at, NULL));)
		settle(a, l, l->nwaiting);
	return 0;
}

void locks_init(struct locks *a, struct epochs *epochs)
{
	*a = (struct locks){
		.sink = {.ctx = a, .start = on_start, .call = on_call, .finish = on_finish},
		.epochs = epochs,
	};
}

static void held_list_free(void *value)
{
	free(((struct held_list *)value)->held);
	free(value);
}

void locks_release(struct locks *a)
{
	struct lock_window *l;

	for (size_t at = 0; (l = map_next(&a->windows, &at, NULL));) {
		map_free(&l->open, held_list_free);
		free(l->over.held);
		free(l->waiting);
	}
	map_free(&a->windows, free);
}
