/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Arrows from a call that woke a thread to the call that thread was sleeping in: an instant "wakes" at the
 * wake-up and an instant "woken" when the thread is on a CPU again, with the arrow between them. Calls are
 * told only once they have ended, so a wake-up waits here until both threads have told (or passed) the
 * calls around it. Not all do (a helper thread may never call MPI): the oldest are forgotten first.
 *
 * An arrow runs between instants, not between the calls' slices: Perfetto draws it from the slice that
 * begins first, and a call that waits usually began before the one that ends its wait.
 */
#include <stdlib.h>

#include "base/log.h"
#include "writer/timeline_priv.h"

enum wake_side { SIDE_OPEN = 0, SIDE_IN_CALL, SIDE_NO_CALL };

struct wake {
	struct tl_thread *waker, *target;
	uint64_t wake_ns, run_ns; /* run 0: not yet */
	uint32_t wake_cpu, run_cpu;
	struct wake *out_next, *in_next; /* in the threads' queues */
	struct wake *older, *newer;	 /* of all */
	uint8_t out, in;		 /* enum wake_side */
	bool out_queued, in_queued;
};

struct wake_pool {
	struct wake *oldest, *newest, *unused;
	struct wake **chunk;
	uint32_t nchunks, cnt;
};

#define CHUNK_WAKES 1024

struct wake_pool *tl_wake_pool_new(void)
{
	return xcalloc(1, sizeof(struct wake_pool));
}

void tl_wake_pool_free(struct wake_pool *pool)
{
	if (!pool)
		return;
	for (uint32_t i = 0; i < pool->nchunks; i++)
		free(pool->chunk[i]);
	free(pool->chunk);
	free(pool);
}

static struct wake *wake_new(struct wake_pool *pool)
{
	struct wake *w;

	if (!pool->unused) {
		struct wake *chunk = xcalloc(CHUNK_WAKES, sizeof(*chunk));

		pool->chunk = xrealloc(pool->chunk, (pool->nchunks + 1) * sizeof(struct wake *));
		pool->chunk[pool->nchunks++] = chunk;
		for (uint32_t i = 0; i < CHUNK_WAKES; i++) {
			chunk[i].newer = pool->unused;
			pool->unused = &chunk[i];
		}
	}
	w = pool->unused;
	pool->unused = w->newer;
	*w = (struct wake){.older = pool->newest};
	if (pool->newest)
		pool->newest->newer = w;
	else
		pool->oldest = w;
	pool->newest = w;
	pool->cnt++;
	return w;
}

/* Once neither thread refers to it. */
static void wake_drop(struct wake_pool *pool, struct wake *w)
{
	if (w->older)
		w->older->newer = w->newer;
	else
		pool->oldest = w->newer;
	if (w->newer)
		w->newer->older = w->older;
	else
		pool->newest = w->older;
	w->newer = pool->unused;
	pool->unused = w;
	pool->cnt--;
}

static void queue_pop_out(struct tl_thread *t)
{
	struct wake *w = t->out_head;

	t->out_head = w->out_next;
	if (!t->out_head)
		t->out_tail = NULL;
	w->out_queued = false;
}

static void queue_pop_in(struct tl_thread *t)
{
	struct wake *w = t->in_head;

	t->in_head = w->in_next;
	if (!t->in_head)
		t->in_tail = NULL;
	w->in_queued = false;
}

static void wake_write(struct timeline *tl, const struct wake *w)
{
	struct writer_args *a = &tl->wake_args;
	struct slice s = {.category = "wakeup", .args = a};

	tl->flow_id++;
	args_reset(a);
	args_add_uint(a, "thread", w->target->track.tid);
	args_add_text(a, "name", w->target->comm);
	args_add_uint(a, "cpu", w->wake_cpu);
	s.name = "wakes";
	s.begin_ns = s.end_ns = w->wake_ns;
	s.flow_out = tl->flow_id;
	tl->ops->instant(tl->ctx, &w->waker->track, &s);

	args_reset(a);
	args_add_uint(a, "by_thread", w->waker->track.tid);
	args_add_text(a, "by_name", w->waker->comm);
	args_add_uint(a, "cpu", w->run_cpu);
	args_add_us(a, "latency_us", w->run_ns - w->wake_ns);
	s.name = "woken";
	s.begin_ns = s.end_ns = w->run_ns;
	s.flow_out = 0;
	s.flow_in = tl->flow_id;
	tl->ops->instant(tl->ctx, &w->target->track, &s);
	tl->totals->instants += 2;
	tl->totals->flows++;
}

/* After a change: writes it once it lies in calls on both sides, drops it once it cannot. */
static void wake_settle(struct timeline *tl, struct wake *w)
{
	bool no = w->out == SIDE_NO_CALL || w->in == SIDE_NO_CALL;
	bool yes = w->out == SIDE_IN_CALL && w->in == SIDE_IN_CALL;

	if (yes)
		wake_write(tl, w);
	if (no && w->target->pending_run == w)
		w->target->pending_run = NULL;
	/* A queued one is dropped when its queue passes it. */
	if ((yes || no) && !w->out_queued && !w->in_queued)
		wake_drop(tl->wakes, w);
}

static void wake_forget_oldest(struct timeline *tl)
{
	struct wake *w = tl->wakes->oldest;

	if (w->out != SIDE_NO_CALL && w->in != SIDE_NO_CALL)
		w->waker->forgotten++;
	/* Being the oldest of all it heads both of its queues: it was put there by time. */
	if (w->out_queued)
		queue_pop_out(w->waker);
	if (w->in_queued)
		queue_pop_in(w->target);
	if (w->target->pending_run == w)
		w->target->pending_run = NULL;
	wake_drop(tl->wakes, w);
}

void tl_wake_add(struct timeline *tl, struct tl_thread *waker, struct tl_thread *target,
		 uint64_t ts_ns, uint32_t cpu)
{
	struct wake *w;

	/* Only what ends a sleep; the first wake-up counts. */
	if (!target->blocked || target->pending_run)
		return;
	if (tl->wakes->cnt >= TIMELINE_WAKES_MAX)
		wake_forget_oldest(tl);
	w = wake_new(tl->wakes);
	w->waker = waker;
	w->target = target;
	w->wake_ns = ts_ns;
	w->wake_cpu = cpu;
	w->out_queued = true;
	if (waker->out_tail)
		waker->out_tail->out_next = w;
	else
		waker->out_head = w;
	waker->out_tail = w;
	target->pending_run = w;
}

void tl_wake_run(struct timeline *tl, struct tl_thread *target, uint64_t ts_ns, uint32_t cpu)
{
	struct wake *w = target->pending_run;

	(void)tl;
	if (!w)
		return;
	target->pending_run = NULL;
	w->run_ns = ts_ns;
	w->run_cpu = cpu;
	w->in_queued = true;
	if (target->in_tail)
		target->in_tail->in_next = w;
	else
		target->in_head = w;
	target->in_tail = w;
}

/* Whether a time lies in a call, as far as the thread's next slice tells. */
static enum wake_side side_of(uint64_t ts_ns, const struct wake_slice *s)
{
	if (ts_ns < s->begin_ns)
		return s->orphan ? SIDE_OPEN : SIDE_NO_CALL;
	return s->shown && ts_ns < s->end_ns ? SIDE_IN_CALL : SIDE_OPEN;
}

void tl_wake_slice(struct timeline *tl, struct tl_thread *t, const struct wake_slice *s)
{
	enum wake_side side;
	struct wake *w;

	t->has_slices |= s->shown;
	while ((w = t->out_head)) {
		side = side_of(w->wake_ns, s);
		if (side == SIDE_OPEN)
			break;
		w->out = side;
		queue_pop_out(t);
		wake_settle(tl, w);
	}
	while ((w = t->in_head)) {
		side = side_of(w->run_ns, s);
		if (side == SIDE_OPEN)
			break;
		w->in = side;
		queue_pop_in(t);
		wake_settle(tl, w);
	}
}

void tl_wake_finish(struct timeline *tl)
{
	for (uint32_t i = 0; i < tl->nthreads; i++) {
		if (tl->thread[i]->has_slices)
			tl->totals->undecided += tl->thread[i]->forgotten;
	}
}
