/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Scheduler events as a chain of switches per CPU. Perfetto infers from that chain what ran, so a
 * missing switch would give its time to the wrong thread. The chain is known to be broken where
 * only some tasks were recorded, or events were lost. There a stand-in thread "(not recorded)", one
 * per CPU, fills the unknown interval.
 *
 * At a break, two facts are known: the thread last switched in was running then, and the thread
 * that leaves next was running at that moment. Nothing else is claimed. The first thread's interval
 * ends at the last time that is known. Its state from then on is "parked", which user threads
 * otherwise hardly ever have.
 */
#include "timeline/timeline_priv.h"

#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "lib/table.h"

/* Recorded values: bits of the kernel's task_struct.__state. */
#define TASK_UNINTERRUPTIBLE 0x0002
#define TASK_DEAD 0x0080
#define TASK_NOLOAD 0x0400
#define TASK_RTLOCK_WAIT 0x1000
/* Bits of these that the kernel's own sched_switch shows since 4.14 (8ef9925b02c2). */
#define STATE_DISK_SLEEP 0x02
#define STATE_DEAD 0x10
#define STATE_PARKED 0x40
#define STATE_IDLE 0x80
#define STATE_PLAIN_BITS 0x7f /* shown unchanged */

static const char unrecorded_comm[] = "(not recorded)";

/* One bit: the highest shown one. */
static uint32_t state_report(const struct model_switch *s)
{
	uint32_t raw = s->prev_state, plain = raw & STATE_PLAIN_BITS;

	if (s->prev->idle)
		return 0;
	if (s->preempted)
		return SCHED_PREEMPTED;
	if (raw & TASK_DEAD)
		return STATE_DEAD;
	if ((raw & (TASK_UNINTERRUPTIBLE | TASK_NOLOAD)) == (TASK_UNINTERRUPTIBLE | TASK_NOLOAD))
		return STATE_IDLE;
	if (raw & TASK_RTLOCK_WAIT)
		return STATE_DISK_SLEEP;
	return plain ? 1u << (31 - __builtin_clz(plain)) : 0;
}

static struct sched_task task_of(const struct model_thread *t)
{
	const struct tl_thread *th = t->user;

	if (t->idle)
		return (struct sched_task){.comm = "swapper"};
	return (struct sched_task){.tid = t->out_tid,
				   .tgid = t->proc ? t->proc->out_pid : t->out_tid,
				   .comm = t->comm,
				   .unannounced = !th || !th->announced};
}

/* The stand-in thread of a CPU. */
static struct sched_task task_unrecorded(struct timeline *tl, uint32_t cpu)
{
	struct sched_task task = {.tid = TIMELINE_UNRECORDED_TID + cpu,
				  .tgid = TIMELINE_PID,
				  .comm = unrecorded_comm,
				  .unannounced = true};
	struct tl_cpu *c = tl_cpu_of(tl, cpu);

	if (!c->unrecorded_reported) {
		tl_self_tell(tl);
		tl->ops->thread(tl->ctx, &task, (int32_t)(tl->nthreads + cpu), tl->opt.start_ns);
		c->unrecorded_reported = true;
	}
	return task;
}

/* Emits one switch and advances the chain. thread: that of next; NULL if idle or a stand-in. */
static void chain_emit(struct timeline *tl, struct sched_switch *s, struct tl_thread *thread)
{
	struct tl_cpu *c = tl_cpu_of(tl, s->cpu);

	if (c->thread && c->thread->run_cpu == (int32_t)s->cpu)
		c->thread->run_cpu = -1;
	s->first = !c->seen;
	tl->ops->sched_switch(tl->ctx, s);
	tl->totals->switches++;
	c->seen = true;
	c->next = s->next;
	strncpy(c->next_comm, s->next.comm, sizeof(c->next_comm) - 1);
	c->next.comm = c->next_comm;
	c->next_prio = s->next_prio;
	c->last_ns = s->ts_ns;
	c->thread = thread;
	if (thread)
		thread->run_cpu = (int32_t)s->cpu;
}

/* From ts_ns on it is unknown what this CPU ran. */
static void chain_break(struct timeline *tl, uint32_t cpu, uint64_t ts_ns)
{
	struct tl_cpu *c = tl_cpu_of(tl, cpu);
	struct sched_switch s = {.cpu = cpu,
				 .ts_ns = ts_ns > c->last_ns ? ts_ns : c->last_ns,
				 .prev = c->next,
				 .prev_prio = c->next_prio,
				 .next_prio = 120};
	char comm[sizeof(c->next_comm)];

	if (!c->seen || c->next.tid == TIMELINE_UNRECORDED_TID + cpu)
		return;
	memcpy(comm, c->next_comm, sizeof(comm));
	s.prev.comm = comm;
	s.prev_state = c->next.tid ? STATE_PARKED : 0;
	s.next = task_unrecorded(tl, cpu);
	chain_emit(tl, &s, NULL);
	tl->totals->synthetic++;
}

/* prev leaves a CPU without having been seen to arrive: it ran there at that moment at least. */
static void chain_mend(struct timeline *tl, const struct sched_switch *real, struct tl_thread *prev)
{
	struct sched_switch s = {.cpu = real->cpu,
				 .ts_ns = real->ts_ns,
				 .prev_state = STATE_PARKED,
				 .prev_prio = 120,
				 .next = real->prev,
				 .next_prio = real->prev_prio};

	chain_break(tl, real->cpu, 0);
	if (real->prev.tid == TIMELINE_UNRECORDED_TID + real->cpu)
		return;
	if (prev && prev->run_cpu >= 0 && prev->run_cpu != (int32_t)real->cpu)
		chain_break(tl, (uint32_t)prev->run_cpu, 0);
	s.prev = task_unrecorded(tl, real->cpu);
	chain_emit(tl, &s, prev);
	tl->totals->synthetic++;
}

/* If only some tasks are recorded, it is unknown how long another task stayed. */
static bool task_recorded(const struct timeline *tl, const struct model_thread *t)
{
	return tl->opt.sched_all || (!t->idle && t->proc && t->proc->is_target);
}

/* ---- timeline_sched.c ---- */
static void tl_switch_write(struct timeline *tl, const struct model_switch *m)
{
	struct tl_thread *prev = m->prev->idle ? NULL : tl_thread_of(tl, m->prev);
	struct tl_thread *next = m->next->idle ? NULL : tl_thread_of(tl, m->next);
	struct tl_cpu *c;
	struct sched_switch s = {.ts_ns = m->ts_ns,
				 .cpu = m->cpu,
				 .prev = task_of(m->prev),
				 .next = task_of(m->next),
				 .prev_prio = m->prev_prio,
				 .next_prio = m->next_prio,
				 .prev_state = state_report(m)};

	if (!task_recorded(tl, m->prev)) {
		s.prev = task_unrecorded(tl, m->cpu);
		s.prev_state = STATE_PARKED;
		prev = NULL;
	}
	if (!task_recorded(tl, m->next)) {
		s.next = task_unrecorded(tl, m->cpu);
		next = NULL;
	}
	c = tl_cpu_of(tl, m->cpu);
	if (!prev && !next && s.prev.tid && s.prev.tid == s.next.tid) {
		chain_break(tl, m->cpu, 0);
		return; /* between two tasks that are not recorded */
	}
	if (c->seen && c->next.tid != s.prev.tid)
		chain_mend(tl, &s, prev);
	else if (!c->seen && prev && prev->run_cpu >= 0)
		chain_break(tl, (uint32_t)prev->run_cpu, 0);
	if (next && next->run_cpu >= 0 && next->run_cpu != (int32_t)m->cpu)
		chain_break(tl, (uint32_t)next->run_cpu, 0);
	chain_emit(tl, &s, next);
}

/* Follows sleep, wake-up and run of the targets' threads, for the arrows. */
static void wake_follow(struct timeline *tl, const struct model_switch *m)
{
	if (!m->prev->idle && m->prev->proc && m->prev->proc->is_target)
		tl_thread_of(tl, m->prev)->blocked = !m->preempted && m->prev_state;
	if (!m->next->idle && m->next->proc && m->next->proc->is_target) {
		struct tl_thread *next = tl_thread_of(tl, m->next);

		tl_wake_run(next, m->ts_ns, m->cpu);
		next->blocked = false;
	}
}

void tl_sched_lost(struct timeline *tl, const struct model_lost *l)
{
	uint32_t per_ring = tl->opt.cpus_per_ring;
	bool known = per_ring && l->ring < tl->opt.rings; /* the rescue ring serves all CPUs */
	uint32_t first = known ? l->ring * per_ring : 0;
	uint32_t last = known ? first + per_ring : UINT32_MAX;
	uint32_t n = tl->ncpus > tl->opt.nr_cpus ? tl->ncpus : tl->opt.nr_cpus;
	uint64_t since_ns = l->since_ns < l->ts_ns ? l->since_ns : l->ts_ns;

	if (!tl->opt.sched)
		return;
	tl_yield_flush_all(tl);
	for (uint32_t cpu = first; cpu < last && cpu < n; cpu++) {
		chain_break(tl, cpu, since_ns);
		if (tl->ops->sched_lost)
			tl->ops->sched_lost(tl->ctx, cpu);
	}
}

/* ---- threads that yield to each other ---- */

/*
 * Threads that wait busily, inside or between calls, give a CPU to each other every few
 * microseconds: half a million switches per second that show nothing. Switches are merged if more
 * than HELD_MAX of them follow each other within YIELD_NS and none of the threads begins or ends a
 * call. Then each thread's intervals become one with their total length. Switches are held back
 * until it is known whether they will be merged.
 * Threads come in the order in which they left the CPU for the last time, so none is shown there
 * later than it was. All were ready to run at the first switch, so none is shown there while it
 * slept or ran elsewhere.
 */

#define YIELD_NS 1000000 /* like the spin gap: events closer together are not distinguished */
#define HELD_MAX 16	 /* up to this many switches are written unchanged */
#define SHARERS_MAX 16

struct sharer {
	struct model_thread *thread;
	uint64_t ran_ns;
	struct model_switch left; /* its last switch off the CPU */
};

struct tl_yield {
	struct model_switch held[HELD_MAX]; /* the first switches held back */
	struct model_switch last;
	uint32_t cnt;
	struct sharer sharer[SHARERS_MAX]; /* sorted by `left` */
	uint32_t nsharers;
};

static struct sharer *sharer_find(struct tl_yield *y, const struct model_thread *t)
{
	return table_where(y->sharer, y->nsharers, i, y->sharer[i].thread == t);
}

static void thread_bind(struct timeline *tl, struct model_thread *t, int32_t cpu)
{
	if (!t->idle)
		tl_thread_of(tl, t)->yield_cpu = cpu;
}

static void held_write(struct timeline *tl, const struct tl_yield *y)
{
	for (uint32_t i = 0; i < y->cnt; i++)
		tl_switch_write(tl, &y->held[i]);
}

static void merged_write(struct timeline *tl, const struct tl_yield *y)
{
	struct model_switch s = y->held[0];
	uint32_t written = 1;

	for (uint32_t i = 0; i < y->nsharers; i++) {
		const struct sharer *sharer = &y->sharer[i];
		uint64_t left_ns = s.ts_ns + sharer->ran_ns;

		s.next = sharer->thread;
		s.next_prio = sharer->left.prev_prio;
		if (s.prev != s.next) {
			tl_switch_write(tl, &s);
			written++;
		}
		s = sharer->left;
		s.ts_ns = left_ns;
	}
	tl_switch_write(tl, &y->last);
	tl->totals->merged += y->cnt - written;
}

/*
 * Writes the switches held back. Call before anything else is written for the CPU or the thread.
 */
static void yield_flush(struct timeline *tl, uint32_t cpu)
{
	struct tl_yield *y = tl_cpu_of(tl, cpu)->yield;
	uint32_t cnt = y ? y->cnt : 0;

	if (!cnt)
		return;
	thread_bind(tl, y->held[0].prev, -1);
	thread_bind(tl, y->last.next, -1);
	for (uint32_t i = 0; i < y->nsharers; i++)
		thread_bind(tl, y->sharer[i].thread, -1);
	if (cnt > HELD_MAX)
		merged_write(tl, y);
	else
		held_write(tl, y);
	y->cnt = y->nsharers = 0;
}

static void yield_flush_thread(struct timeline *tl, struct model_thread *t)
{
	const struct tl_thread *th = t->idle ? NULL : tl_thread_of(tl, t);

	if (th && th->yield_cpu >= 0)
		yield_flush(tl, (uint32_t)th->yield_cpu);
}

void tl_yield_flush_all(struct timeline *tl)
{
	for (uint32_t i = 0; i < tl->ncpus; i++)
		yield_flush(tl, i);
}

/*
 * The thread has begun and ended no call since since_ns. A call that it was in has been reported;
 * one that it is in is known once it has left the CPU.
 */
static bool thread_no_call_since(const struct tl_thread *th, const struct model_thread *t,
				 uint64_t since_ns)
{
	uint64_t left_ns = model_call_left_since(t);

	return th->call_ns <= since_ns && (left_ns <= since_ns || left_ns == UINT64_MAX);
}

/*
 * Since since_ns the thread has been on this CPU or ready to run, and has begun and ended no call.
 */
static bool thread_waits_since(struct timeline *tl, struct model_thread *t, uint16_t cpu,
			       uint64_t since_ns)
{
	const struct tl_thread *th = t->idle ? NULL : tl_thread_of(tl, t);

	return th && t->proc && t->proc->is_target && thread_no_call_since(th, t, since_ns) &&
	       th->ready_ns && th->ready_ns <= since_ns &&
	       (th->run_cpu < 0 || th->run_cpu == (int32_t)cpu);
}

/*
 * Possibly the first of many: it leads back to a thread that left a moment ago, and the CPU's last
 * switch led to the thread that leaves now.
 */
static bool yield_may_begin(struct timeline *tl, const struct model_switch *s)
{
	const struct tl_cpu *c = tl_cpu_of(tl, s->cpu);
	uint64_t yielded_ns = s->next->idle ? 0 : tl_thread_of(tl, s->next)->yielded_ns;

	return yielded_ns && s->ts_ns - yielded_ns <= YIELD_NS &&
	       thread_waits_since(tl, s->next, s->cpu, s->ts_ns) && c->seen &&
	       (s->prev->idle ? !c->next.tid : c->thread == tl_thread_of(tl, s->prev));
}

static bool yield_may_follow(struct timeline *tl, struct tl_yield *y, const struct model_switch *s)
{
	uint64_t begin_ns = y->held[0].ts_ns;

	return s->ts_ns - begin_ns <= YIELD_NS && s->prev == y->last.next &&
	       (s->preempted || !s->prev_state) &&
	       thread_no_call_since(tl_thread_of(tl, s->prev), s->prev, begin_ns) &&
	       (sharer_find(y, s->prev) || y->nsharers < SHARERS_MAX) &&
	       (sharer_find(y, s->next) || thread_waits_since(tl, s->next, s->cpu, begin_ns));
}

static void yield_follow(struct timeline *tl, struct tl_yield *y, const struct model_switch *s)
{
	struct sharer *at = sharer_find(y, s->prev);
	struct sharer sharer = {.thread = s->prev};

	if (at) {
		sharer = *at;
		for (; at + 1 < y->sharer + y->nsharers; at++)
			*at = at[1];
	} else {
		at = &y->sharer[y->nsharers++];
	}
	sharer.ran_ns += s->ts_ns - y->last.ts_ns;
	sharer.left = *s;
	*at = sharer;
	if (y->cnt < HELD_MAX)
		y->held[y->cnt] = *s;
	y->cnt++;
	y->last = *s;
	thread_bind(tl, s->next, s->cpu);
}

void tl_yield_call(void *ctx, const struct model_call *c)
{
	tl_thread_of(ctx, c->thread)->call_ns = c->end_ns;
}

void tl_yield_spin(void *ctx, const struct model_spin *sp)
{
	tl_thread_of(ctx, sp->thread)->call_ns = sp->end_ns;
}

/* True if the switch is held back, to be written later. */
static bool yield_hold(struct timeline *tl, const struct model_switch *s)
{
	struct tl_cpu *c = tl_cpu_of(tl, s->cpu);
	struct tl_yield *y = c->yield;

	if (tl->opt.select && tl->opt.select->every_switch)
		return false;
	if (y && y->cnt && yield_may_follow(tl, y, s)) {
		yield_follow(tl, y, s);
		return true;
	}
	yield_flush(tl, s->cpu);
	yield_flush_thread(tl, s->prev);
	yield_flush_thread(tl, s->next);
	if (!yield_may_begin(tl, s))
		return false;
	if (!y)
		y = tl_cpu_of(tl, s->cpu)->yield = xcalloc(1, sizeof(*y));
	y->held[0] = y->last = *s;
	y->cnt = 1;
	thread_bind(tl, s->prev, s->cpu);
	thread_bind(tl, s->next, s->cpu);
	return true;
}

/* Call after yield_hold(): a thread has left its CPU. */
static void yield_left(struct tl_thread *th, const struct model_switch *s)
{
	th->ready_ns = s->ts_ns;
	th->yielded_ns = s->preempted || !s->prev_state ? s->ts_ns : 0;
}

void tl_on_switch(void *ctx, const struct model_switch *s)
{
	struct timeline *tl = ctx;

	if (!tl_in_window(tl, s->ts_ns))
		return;
	if (tl->opt.sched) {
		if (!yield_hold(tl, s))
			tl_switch_write(tl, s);
		if (!s->prev->idle)
			yield_left(tl_thread_of(tl, s->prev), s);
	}
	if (tl->opt.slices)
		wake_follow(tl, s);
}

static bool wake_wanted(const struct model_waking *w)
{
	return !w->is_new && !w->by_interrupt && w->waker != w->target && !w->waker->idle &&
	       w->waker->proc && w->waker->proc->is_target && w->target->proc &&
	       w->target->proc->is_target;
}

void tl_on_waking(void *ctx, const struct model_waking *w)
{
	struct timeline *tl = ctx;

	if (!tl_in_window(tl, w->ts_ns) || w->target->idle)
		return;
	/* The timeline must know them even if they are never seen on a CPU. */
	if (!w->waker->idle)
		tl_thread_of(tl, w->waker);
	tl_thread_of(tl, w->target)->ready_ns = w->ts_ns;
	if (tl->opt.sched) {
		yield_flush(tl, w->cpu);
		yield_flush_thread(tl, w->target);

		struct tl_cpu *c = tl_cpu_of(tl, w->cpu);
		struct sched_waking out = {.ts_ns = w->ts_ns,
					   .cpu = w->cpu,
					   .target_cpu = w->target_cpu,
					   .prio = w->prio,
					   .by_interrupt = w->by_interrupt,
					   .waker = task_of(w->waker),
					   .target = task_of(w->target)};

		out.waker_current = c->seen && c->next.tid == out.waker.tid;
		tl->ops->sched_waking(tl->ctx, &out);
		tl->totals->wakings++;
	}
	if (tl->opt.slices && wake_wanted(w))
		tl_wake_add(tl, tl_thread_of(tl, w->waker), tl_thread_of(tl, w->target), w->ts_ns,
			    w->cpu);
}
