/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Arrows between calls, with instants of their own at both ends. */
#include "timeline/timeline_priv.h"

#include <stdlib.h>

#include "analysis/late.h"
#include "lib/log.h"

/* ---- MPI ---- */

/*
 * Arrows of MPI. Messages: from an instant "sent" at the begin of the call that posted the send, to
 * an instant "received" at the end of the call that completed the receive. Nonblocking operations:
 * from an instant "started" at the return of the call that started it, to an instant "finished" at
 * the end of the call that completed it. They have their own instants for two reasons. Which calls
 * belong together is known late, and an arrow between the calls would point backwards where a
 * receive waits for its send.
 */

/*
 * If a call has several ends of arrows at its begin or its end, they lie a nanosecond apart.
 * Otherwise the reader would nest one inside another.
 */
static uint64_t arrow_time_after(uint64_t begin_ns, uint64_t end_ns, uint64_t nth)
{
	return begin_ns + nth < end_ns ? begin_ns + nth : begin_ns;
}

static uint64_t arrow_time_before(uint64_t begin_ns, uint64_t end_ns, uint64_t nth)
{
	return begin_ns + nth < end_ns ? end_ns - 1 - nth : end_ns - 1;
}

static void arrow_end_write(struct timeline *tl, const struct model_thread *t, struct slice *s)
{
	tl_instant_write(tl, &tl_thread_of(tl, (struct model_thread *)t)->track, s);
}

static void args_add_peer(struct timeline *tl, const struct model_process *p, const char *name)
{
	if (p->rank >= 0)
		args_add_int(&tl->args, name, p->rank);
}

static void args_add_match(struct timeline *tl, const struct match *m)
{
	if (m->bytes >= 0)
		args_add_int(&tl->args, "bytes", m->bytes);
	args_add_int(&tl->args, "tag", m->tag);
	args_add_us(&tl->args, "latency_us", m->recv.end_ns - m->send.begin_ns);
	if (m->assumed) {
		args_add_bool(&tl->args, "assumed", true);
		return; /* no conclusions from an assumed match */
	}
	if (late_ns(m, LATE_SENDER))
		args_add_us(&tl->args, "receiver_waited_us", late_ns(m, LATE_SENDER));
	if (late_ns(m, LATE_RECEIVER))
		args_add_us(&tl->args, "sender_waited_us", late_ns(m, LATE_RECEIVER));
}

/* A receive or a send with a long wait keeps its arrow. */
static bool message_is_brief(const struct timeline *tl, const struct match *m)
{
	uint64_t ns = tl->opt.resolution_ns;

	return m->send.posted_ns - m->send.begin_ns < ns &&
	       m->send.end_ns - m->send.completing_ns < ns &&
	       m->recv.end_ns - m->recv.completing_ns < ns;
}

void tl_arrow_message(void *ctx, const void *event)
{
	const struct match *m = event;
	struct timeline *tl = ctx;
	uint64_t from_ns = m->send.begin_ns, to_ns = m->recv.end_ns - 1;
	uint64_t out_ns = arrow_time_after(from_ns, m->send.posted_ns, m->send.place);
	uint64_t in_ns = arrow_time_before(m->recv.completing_ns, m->recv.end_ns,
					   2 * (uint64_t)m->recv.end_place + 1);

	if (!m->recv.completer || !tl_call_shown(tl, m->send.process, m->send.func) ||
	    !tl_call_shown(tl, m->recv.process, m->recv.func) || !tl_in_window(tl, from_ns) ||
	    !tl_in_window(tl, to_ns))
		return;
	if (to_ns < from_ns) { /* the clocks of two hosts differ by more than the message took */
		tl->totals->arrows_reversed++;
		return;
	}
	if (!tl_arrow_drawn(tl, m->send.thread, ARROW_MESSAGE, from_ns, message_is_brief(tl, m)))
		return;
	if (in_ns < out_ns) {
		out_ns = from_ns;
		in_ns = to_ns;
	}
	tl->flow_id++;
	args_reset(&tl->args);
	args_add_peer(tl, m->recv.process, "to_rank");
	args_add_match(tl, m);
	arrow_end_write(tl, m->send.thread,
			&(struct slice){.name = "sent",
					.category = "message",
					.begin_ns = out_ns,
					.flow_out = tl->flow_id});
	args_reset(&tl->args);
	args_add_peer(tl, m->send.process, "from_rank");
	args_add_match(tl, m);
	arrow_end_write(tl, m->recv.completer,
			&(struct slice){.name = "received",
					.category = "message",
					.begin_ns = in_ns,
					.flow_in = tl->flow_id});
	tl->totals->flows++;
	tl->totals->arrows++;
}

static void operation_values_add(struct timeline *tl, const struct model_operation *o)
{
	int64_t send = o->roles->sends ? o->roles->send_bytes : 0;
	int64_t recv = o->roles->receives ? o->roles->recv_bytes : 0;

	args_add_text(&tl->args, "operation", o->func->name);
	if (o->completion->bytes >= 0)
		recv = o->completion->bytes;
	if (send >= 0 && recv >= 0)
		args_add_int(&tl->args, "bytes", send + recv);
}

static bool operation_is_drawn(struct timeline *tl, const struct model_operation *o,
			       uint64_t from_ns)
{
	uint64_t ns = tl->opt.resolution_ns;
	bool brief = o->posted_ns - o->begin_ns < ns && o->end_ns - o->completing_ns < ns;

	if (brief && o->end_ns - o->begin_ns < ns) { /* both ends are in one group */
		tl->totals->arrows_hidden++;
		return false;
	}
	return tl_arrow_drawn(tl, o->starter, ARROW_OPERATION, from_ns, brief);
}

void tl_arrow_operation(void *ctx, const struct model_operation *o)
{
	struct timeline *tl = ctx;
	uint64_t from_ns = arrow_time_before(o->begin_ns, o->posted_ns, o->place);
	uint64_t to_ns = arrow_time_before(o->completing_ns, o->end_ns, 2 * (uint64_t)o->end_place);

	if (!o->completion || !o->starter || from_ns < o->begin_ns || to_ns < o->completing_ns ||
	    to_ns < from_ns || !tl_call_shown(tl, o->thread->proc, o->func) ||
	    !tl_in_window(tl, from_ns) || !tl_in_window(tl, to_ns) ||
	    !operation_is_drawn(tl, o, from_ns))
		return;
	tl->flow_id++;
	args_reset(&tl->args);
	operation_values_add(tl, o);
	arrow_end_write(tl, o->starter,
			&(struct slice){.name = "started",
					.category = "operation",
					.begin_ns = from_ns,
					.flow_out = tl->flow_id});
	if (o->completing_ns > o->posted_ns)
		args_add_us(&tl->args, "between_us", o->completing_ns - o->posted_ns);
	args_add_us(&tl->args, "completing_us", o->end_ns - o->completing_ns);
	arrow_end_write(tl, o->thread,
			&(struct slice){.name = "finished",
					.category = "operation",
					.begin_ns = to_ns,
					.flow_in = tl->flow_id});
	tl->totals->flows++;
	tl->totals->operations++;
}

/* ---- wake-ups ---- */

/*
 * Arrows from a call that woke a thread to the call in which that thread was sleeping: an instant
 * "wakes" at the wake-up, an instant "woken" when the thread is on a CPU again, and the arrow
 * between them. Calls are reported only once they have ended. So a wake-up waits here until both
 * threads have reported (or passed) the calls around it. Some never do (a helper thread may never
 * call MPI): the oldest wake-ups are forgotten first.
 * An arrow runs between instants, not between the slices of calls. Perfetto draws it from the slice
 * that begins first, and a waiting call usually begins before the one that ends its wait.
 */

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
	/* queues are sorted by time, so the oldest wake-up is the first in both of its queues */
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
