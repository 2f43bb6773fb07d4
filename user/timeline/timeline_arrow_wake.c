/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Arrows from a call that woke a thread to the call in which that thread was sleeping: an instant
 * "wakes" at the wake-up, an instant "woken" when the thread is on a CPU again, and the arrow
 * between them. Calls are reported only once they have ended. So a wake-up waits here until both
 * threads have reported (or passed) the calls around it. Some never do (a helper thread may never
 * call MPI): the oldest wake-ups are forgotten first.
 * An arrow runs between instants, not between the slices of calls. Perfetto draws it from the slice
 * that begins first, and a waiting call usually begins before the one that ends its wait.
 */
#include <stdlib.h>

#include "lib/log.h"
#include "timeline/timeline_priv.h"

enum wake_place { PLACE_OPEN = 0, PLACE_IN_CALL, PLACE_NO_CALL };

/* One end of an arrow: the wake-up by the waker, or the target on a CPU again. */
struct wake_end {
	struct tl_thread *thread;
	uint64_t ts_ns;
	uint32_t cpu;
	uint8_t place; /* enum wake_place */
	bool brief;    /* the call around it is shorter than the resolution */
	bool queued;
	STAILQ_ENTRY(wake) next; /* in the thread's queue */
};

struct wake {
	struct wake_end end[WAKE_ENDS];
	TAILQ_ENTRY(wake) next; /* in the list of all */
};

/* Call once neither thread refers to it. */
static void wake_drop(struct timeline *tl, struct wake *w)
{
	struct tl_thread *target = w->end[WAKE_IN].thread;

	if (target->pending_run == w)
		target->pending_run = NULL;
	TAILQ_REMOVE(&tl->wakes, w, next);
	tl->nwakes--;
	free(w);
}

static void wake_queue_add(struct wake *w, enum wake_end_kind kind, uint64_t ts_ns, uint32_t cpu)
{
	struct wake_end *end = &w->end[kind];

	end->ts_ns = ts_ns;
	end->cpu = cpu;
	end->queued = true;
	STAILQ_INSERT_TAIL(&end->thread->wakes[kind], w, end[kind].next);
}

/* Removes the first one of a thread's queue. */
static void wake_queue_pop(struct tl_thread *t, enum wake_end_kind kind)
{
	STAILQ_FIRST(&t->wakes[kind])->end[kind].queued = false;
	STAILQ_REMOVE_HEAD(&t->wakes[kind], end[kind].next);
}

static void wake_end_write(struct timeline *tl, const struct wake_end *end, struct slice *s)
{
	s->begin_ns = s->end_ns = end->ts_ns;
	tl->ops->slice(tl->ctx, &end->thread->track, s);
	tl->totals->instants++;
}

static void wake_write(struct timeline *tl, const struct wake *w)
{
	const struct wake_end *waker = &w->end[WAKE_OUT], *target = &w->end[WAKE_IN];
	struct writer_args *a = &tl->args;
	struct slice wakes = {.instant = true, .name = "wakes", .category = "wakeup", .args = a};
	struct slice woken = {.instant = true, .name = "woken", .category = "wakeup", .args = a};

	wakes.flow_out = woken.flow_in = ++tl->flow_id;
	args_reset(a);
	args_add_uint(a, "thread", target->thread->track.tid);
	args_add_text(a, "name", target->thread->comm);
	args_add_uint(a, "cpu", waker->cpu);
	wake_end_write(tl, waker, &wakes);

	args_reset(a);
	args_add_uint(a, "by_thread", waker->thread->track.tid);
	args_add_text(a, "by_name", waker->thread->comm);
	args_add_uint(a, "cpu", target->cpu);
	args_add_us(a, "latency_us", target->ts_ns - waker->ts_ns);
	wake_end_write(tl, target, &woken);
	tl->totals->flows++;
}

static bool wake_any_end_is(const struct wake *w, enum wake_place place)
{
	return w->end[WAKE_OUT].place == place || w->end[WAKE_IN].place == place;
}

static bool wake_is_drawn(struct timeline *tl, const struct wake *w)
{
	const struct wake_end *waker = &w->end[WAKE_OUT];

	return tl_arrow_drawn(tl, waker->thread->model, ARROW_WAKE, waker->ts_ns,
			      waker->brief && w->end[WAKE_IN].brief);
}

/*
 * Call after a change: writes the arrow once both ends lie in calls, drops it once that is
 * impossible.
 */
static void wake_settle(struct timeline *tl, struct wake *w)
{
	bool no = wake_any_end_is(w, PLACE_NO_CALL), yes = !no && !wake_any_end_is(w, PLACE_OPEN);

	if (yes && wake_is_drawn(tl, w))
		wake_write(tl, w);
	/* A queued end is dropped when its queue passes it. */
	if ((yes || no) && !w->end[WAKE_OUT].queued && !w->end[WAKE_IN].queued)
		wake_drop(tl, w);
}

static void wake_forget_oldest(struct timeline *tl)
{
	struct wake *w = TAILQ_FIRST(&tl->wakes);

	if (!wake_any_end_is(w, PLACE_NO_CALL))
		w->end[WAKE_OUT].thread->forgotten++;
	/* The oldest of all heads both of its queues, which are sorted by time. */
	for (int kind = 0; kind < WAKE_ENDS; kind++)
		if (w->end[kind].queued)
			wake_queue_pop(w->end[kind].thread, kind);
	wake_drop(tl, w);
}

void tl_wake_add(struct timeline *tl, struct tl_thread *waker, struct tl_thread *target,
		 uint64_t ts_ns, uint32_t cpu)
{
	struct wake *w;

	/* Only the end of a sleep counts, and only its first wake-up. */
	if (!target->blocked || target->pending_run)
		return;
	if (tl->nwakes >= TIMELINE_WAKES_MAX)
		wake_forget_oldest(tl);
	w = xcalloc(1, sizeof(*w));
	TAILQ_INSERT_TAIL(&tl->wakes, w, next);
	tl->nwakes++;
	w->end[WAKE_OUT].thread = waker;
	w->end[WAKE_IN].thread = target;
	wake_queue_add(w, WAKE_OUT, ts_ns, cpu);
	target->pending_run = w;
}

void tl_wake_run(struct tl_thread *target, uint64_t ts_ns, uint32_t cpu)
{
	struct wake *w = target->pending_run;

	if (!w)
		return;
	target->pending_run = NULL;
	wake_queue_add(w, WAKE_IN, ts_ns, cpu);
}

/* Returns whether a time lies in a call, as far as the thread's next slice shows. */
static enum wake_place wake_place_of(uint64_t ts_ns, const struct wake_slice *s)
{
	if (ts_ns < s->begin_ns)
		return s->orphan ? PLACE_OPEN : PLACE_NO_CALL;
	return s->shown && ts_ns < s->end_ns ? PLACE_IN_CALL : PLACE_OPEN;
}

/* Settles the queue's ends that the slice decides. */
static inline void wake_queue_settle(struct timeline *tl, struct tl_thread *t,
				     enum wake_end_kind kind, const struct wake_slice *s)
{
	enum wake_place place;
	struct wake *w;

	while ((w = STAILQ_FIRST(&t->wakes[kind]))) {
		place = wake_place_of(w->end[kind].ts_ns, s);
		if (place == PLACE_OPEN)
			break;
		w->end[kind].place = place;
		w->end[kind].brief = s->end_ns - s->begin_ns < tl->opt.resolution_ns;
		wake_queue_pop(t, kind);
		wake_settle(tl, w);
	}
}

void tl_wake_slice(struct timeline *tl, struct tl_thread *t, const struct wake_slice *s)
{
	t->has_slices |= s->shown;
	wake_queue_settle(tl, t, WAKE_OUT, s);
	wake_queue_settle(tl, t, WAKE_IN, s);
}

void tl_wake_finish(struct timeline *tl)
{
	for (uint32_t i = 0; i < tl->nthreads; i++) {
		if (tl->thread[i]->has_slices)
			tl->totals->undecided += tl->thread[i]->forgotten;
	}
}

void tl_wakes_free(struct timeline *tl)
{
	struct wake *w;

	while ((w = TAILQ_FIRST(&tl->wakes)))
		wake_drop(tl, w);
}
