/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Finds who held the lock of a window at a target while another origin waited for it (MPI_Win_lock,
 * MPI_Win_lock_all). Calls do not show when a lock is acquired. Some libraries acquire it in
 * MPI_Win_lock. Others do that only if the target is the process itself; for another target they
 * acquire it with the first flush or unlock. MPI_Win_lock_all may also acquire it with the first
 * access to each target.
 *
 * Let two processes lock one target, at least one of them exclusively. If a call of one process
 * returns only after the other has begun to unlock, the call certainly waited
 *
 *	since the other process had flushed an access, which needs the lock;
 *	since the other process's MPI_Win_lock had returned, if that process is the target. The
 *	same holds if the call is MPI_Win_lock too, and its process is not the target: this library
 *	acquires locks of other processes there.
 *
 * Cases that only look like a wait are counted and blamed on no process. If several shared locks
 * are held, a moment is shared among their holders.
 *
 * After M.-A. Hermanns, M. Geimer, B. Mohr, F. Wolf: Trace-Based Detection of Lock Contention in
 * MPI One-Sided Communication (Tools for High Performance Computing 2016).
 *
 * Calls of all processes are reported in order of their end. So when a call is reported that may
 * have waited, all locks acquired by then are known. A holder's unlock may be in progress and not
 * reported yet. It is known only when the holder's next call is reported.
 */
#include "analysis/epochs.h"

#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "lib/table.h"

/*
 * Limits per window: ended locks that calls in progress may have waited for, and calls whose wait
 * is not yet decided.
 */
#define OVER_MAX 4096
#define WAITING_MAX 1024

/* A lock of a process at a target, from lock to unlock. */
struct held {
	const struct model_process *process;
	int32_t target; /* rank, or PEER_ANY */
	bool exclusive;
	bool local; /* the target is the process itself */
	/* entry for one accessed target of MPI_Win_lock_all */
	bool of_all;
	bool accessed; /* the target has been accessed */
	/* begin of the process's last call on the window */
	uint64_t called_ns;
	/* end of the call that locks. UINT64_MAX: the call does not show when it got the lock. */
	uint64_t locked_ns;
	/* end of the first flush after an access, or UINT64_MAX */
	uint64_t flushed_ns;
	struct arrival_call unlock; /* the call that unlocks, once there is one */
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
	/* the call is MPI_Win_lock or MPI_Win_lock_all; else a later call */
	bool locks;
	bool remote; /* the target is a single other process */
};

struct lock_window {
	struct map open;	 /* process idx → struct held_list: its locks */
	uint32_t exclusive;	 /* number of exclusive locks in `open` */
	struct held_list over;	 /* ended locks, in order of the end of unlock */
	struct waiting *waiting; /* WAITING_MAX entries; owned */
	uint32_t nwaiting;
};

/* ---- waits ---- */

static bool targets_meet(int32_t a, int32_t b)
{
	return a == b || a == PEER_ANY || b == PEER_ANY;
}

static bool lock_excludes(const struct held *h, const struct waiting *w)
{
	return h->process != w->call.thread->proc && (h->exclusive || w->exclusive) &&
	       targets_meet(h->target, w->target);
}

/* True if the lock excludes the call, and its unlock began during the call. */
static bool stands_in_way(const struct held *h, const struct waiting *w)
{
	return lock_excludes(h, w) && h->unlock.begin_ns > w->call.begin_ns &&
	       h->unlock.begin_ns <= w->call.end_ns;
}

/*
 * The i-th ended lock, counted from the last one, if it was still held when the call began; else
 * NULL.
 */
static const struct held *over_since(const struct lock_window *l, const struct waiting *w,
				     uint32_t i)
{
	const struct held *h = i < l->over.n ? &l->over.held[l->over.n - 1 - i] : NULL;

	return h && h->unlock.end_ns > w->call.begin_ns ? h : NULL;
}

/*
 * Time since which the lock was certainly held, so that the call could not acquire it. UINT64_MAX:
 * never.
 */
static uint64_t held_since_ns(const struct held *h, const struct waiting *w)
{
	if (!w->locks && w->target == PEER_ANY)
		return UINT64_MAX;
	if (h->locked_ns < h->flushed_ns && (h->local || (w->locks && w->remote)))
		return h->locked_ns;
	return h->flushed_ns;
}

/*
 * Finds the processes that hold the lock from from_ns on. Lowers *to_ns to the time at which that
 * set changes.
 */
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
		*to_ns = u64_min(*to_ns, until_ns);
	}
	return n;
}

/* True if a lock may have made the call wait, but it is unknown when the lock was acquired. */
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
	uint64_t to_ns;
	bool waited = false;
	uint32_t n = 0;

	while (over_since(l, w, n))
		n++;
	if (!n)
		return;
	call = xmalloc((n + 1) * sizeof(*call));
	for (uint64_t from_ns = w->call.begin_ns; from_ns < w->call.end_ns; from_ns = to_ns) {
		to_ns = w->call.end_ns;
		n = holders_at(l, w, from_ns, &to_ns, call + 1);
		if (!n)
			continue;
		call[0] = w->call;
		call[0].begin_ns = from_ns;
		for (uint32_t i = 1; i <= n; i++)
			/* end of this stretch */
			call[i].begin_ns = to_ns;
		epochs_add(a->epochs, EPOCH_LOCKED, call, n + 1);
		waited = true;
	}
	if (!waited && is_doubtful(l, w))
		table_row(a->epochs->process, a->epochs->nprocess, w->call.thread->proc->idx)
			->doubtful++;
	free(call);
}

/* ---- incoming calls ---- */

/* True if a holder may be in a call that unlocks and that has not been reported yet. */
static bool is_open(const struct lock_window *l, const struct waiting *w)
{
	const struct held_list *own;

	if (!w->exclusive && !l->exclusive)
		return false;
	for (size_t at = 0; (own = map_next(&l->open, &at, NULL));)
		for (uint32_t i = 0; i < own->n; i++)
			if (lock_excludes(&own->held[i], w) &&
			    own->held[i].called_ns <= w->call.end_ns)
				return true;
	return false;
}

/* Settles the calls that are decided, and the first `first` calls in any case. */
static void calls_settle(struct locks *a, struct lock_window *l, uint32_t first)
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
	struct held *own = table_add(l->held, l->n, l->room);

	*own = *h;
	return own;
}

static void lock_end(struct lock_window *l, struct held_list *own, struct held *h,
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

/* The process's lock at a target, or NULL. */
static struct held *held_find(const struct held_list *own, int32_t target)
{
	return table_where(own->held, own->n, i, own->held[i].target == target);
}

static void waiting_add(struct locks *a, struct lock_window *l, const struct model_call *k,
			bool exclusive)
{
	const struct call_window *c = k->view->roles.window;

	if (!l->waiting)
		l->waiting = xmalloc(WAITING_MAX * sizeof(*l->waiting));
	if (l->nwaiting == WAITING_MAX)
		calls_settle(a, l, WAITING_MAX / 2);
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

/* The process's lock at a target. If all targets are locked, it makes an entry for this target. */
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
		/* an unlock of all targets does not unlock a target that was locked separately */
		if (c->event == WIN_UNLOCK && (c->target == h->target || h->of_all))
			lock_end(l, own, h, k);
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
	calls_settle(a, l, 0);
}

static void on_finish(void *ctx, const struct model *m)
{
	struct lock_window *l;
	struct locks *a = ctx;

	for (size_t at = 0; (l = map_next(&a->windows, &at, NULL));)
		calls_settle(a, l, l->nwaiting);
}

void locks_init(struct locks *a, struct epochs *epochs)
{
	*a = (struct locks){
		.sink = {.ctx = a, .model = &a->model, .call = on_call, .finish = on_finish},
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
