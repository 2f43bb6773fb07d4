/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The scheduler's events as each CPU's chain of switches. Perfetto infers what ran from that chain, so a
 * switch that is missing would give its time to the wrong thread. Where the chain is known to be broken
 * (only some tasks were recorded, events were lost) a stand-in thread "(not recorded)", one per CPU, fills
 * the stretch nobody can speak for.
 *
 * What is known at a break: the thread last switched in was running then; the thread that leaves next was
 * running at that moment. Nothing else is claimed: the first one's stretch ends at the last time it is
 * known for, and its state from there on is "parked", which a user's thread otherwise hardly ever is.
 */
#include <string.h>

#include "timeline/timeline_priv.h"

/* What is recorded: bits of the kernel's task_struct.__state. */
#define TASK_UNINTERRUPTIBLE 0x0002
#define TASK_DEAD 0x0080
#define TASK_NOLOAD 0x0400
#define TASK_RTLOCK_WAIT 0x1000
/* What the kernel's own sched_switch shows of it since 4.14 (8ef9925b02c2). */
#define STATE_DISK_SLEEP 0x02
#define STATE_DEAD 0x10
#define STATE_PARKED 0x40
#define STATE_IDLE 0x80
#define STATE_PLAIN_BITS 0x7f /* shown as they are */

static const char unrecorded_comm[] = "(not recorded)";

/* One bit: the highest of those shown. */
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
				   .untold = !th || !th->told};
}

/* The stand-in thread of a CPU. */
static struct sched_task task_unrecorded(struct timeline *tl, uint32_t cpu)
{
	struct sched_task task = {.tid = TIMELINE_UNRECORDED_TID + cpu,
				  .tgid = TIMELINE_PID,
				  .comm = unrecorded_comm,
				  .untold = true};
	struct tl_cpu *c = tl_cpu_of(tl, cpu);

	if (!c->unrecorded_told) {
		tl_self_tell(tl);
		tl->ops->thread(tl->ctx, &task, (int32_t)(tl->nthreads + cpu), tl->opt.start_ns);
		c->unrecorded_told = true;
	}
	return task;
}

/* Emits one switch and moves the chain on. thread: next's, NULL if idle or a stand-in. */
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

/* From ts_ns on nobody knows what this CPU ran. */
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

/* prev leaves a CPU on which it was not seen to arrive: it was there at that moment at least. */
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

/* With only some tasks recorded, nothing tells how long another one stayed. */
static bool task_recorded(const struct timeline *tl, const struct model_thread *t)
{
	return tl->opt.sched_all || (!t->idle && t->proc && t->proc->is_target);
}

void tl_switch_write(struct timeline *tl, const struct model_switch *m)
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
		return; /* between two that are not recorded */
	}
	if (c->seen && c->next.tid != s.prev.tid)
		chain_mend(tl, &s, prev);
	else if (!c->seen && prev && prev->run_cpu >= 0)
		chain_break(tl, (uint32_t)prev->run_cpu, 0);
	if (next && next->run_cpu >= 0 && next->run_cpu != (int32_t)m->cpu)
		chain_break(tl, (uint32_t)next->run_cpu, 0);
	chain_emit(tl, &s, next);
}

/* Sleep, wake-up and run of the targets' threads, for the arrows. */
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

void tl_on_switch(void *ctx, const struct model_switch *s)
{
	struct timeline *tl = ctx;

	if (!tl_in_window(tl, s->ts_ns))
		return;
	if (tl->opt.sched) {
		if (!tl_yield_hold(tl, s))
			tl_switch_write(tl, s);
		if (!s->prev->idle)
			tl_yield_left(tl_thread_of(tl, s->prev), s);
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
	/* Known to the timeline from here on, should they never be seen on a CPU. */
	if (!w->waker->idle)
		tl_thread_of(tl, w->waker);
	tl_thread_of(tl, w->target)->ready_ns = w->ts_ns;
	if (tl->opt.sched) {
		tl_yield_flush(tl, w->cpu);
		tl_yield_flush_thread(tl, w->target);

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
