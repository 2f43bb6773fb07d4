/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Threads that wait busily, in a call or between two, give a CPU to each other every few
 * microseconds: half a million switches a second that show nothing. Where more than HELD_MAX such
 * switches follow each other within YIELD_NS, and none of the threads begins or ends a call, each
 * thread's stretches become one, as long as they were together. Switches are held back until it is
 * known whether they are to be merged.
 *
 * Threads come in the order in which they left the CPU for the last time, so none is shown there
 * later than it was. All were ready to run when the first switch came, so none is shown there while
 * it slept or ran elsewhere.
 */
#include <stdlib.h>

#include "lib/log.h"
#include "timeline/timeline_priv.h"

#define YIELD_NS 1000000 /* as the spin gap: what lies closer together is not told apart */
#define HELD_MAX 16	 /* so many switches are written as they are */
#define SHARERS_MAX 16

struct sharer {
	struct model_thread *thread;
	uint64_t ran_ns;
	struct model_switch left; /* for the last time */
};

struct tl_yield {
	struct model_switch held[HELD_MAX]; /* the first of them */
	struct model_switch last;
	uint32_t cnt;
	struct sharer sharer[SHARERS_MAX]; /* in order of left */
	uint32_t nsharers;
};

static struct sharer *sharer_find(struct tl_yield *y, const struct model_thread *t)
{
	for (uint32_t i = 0; i < y->nsharers; i++)
		if (y->sharer[i].thread == t)
			return &y->sharer[i];
	return NULL;
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

void tl_yield_flush(struct timeline *tl, uint32_t cpu)
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

void tl_yield_flush_thread(struct timeline *tl, struct model_thread *t)
{
	const struct tl_thread *th = t->idle ? NULL : tl_thread_of(tl, t);

	if (th && th->yield_cpu >= 0)
		tl_yield_flush(tl, (uint32_t)th->yield_cpu);
}

void tl_yield_flush_all(struct timeline *tl)
{
	for (uint32_t i = 0; i < tl->ncpus; i++)
		tl_yield_flush(tl, i);
}

/*
 * The thread has begun and ended no call since then. A call that it was in has been told; one that
 * it is in is known once it has left the CPU.
 */
static bool no_call_since(const struct tl_thread *th, const struct model_thread *t,
			  uint64_t since_ns)
{
	uint64_t left_ns = model_call_left_since(t);

	return th->call_ns <= since_ns && (left_ns <= since_ns || left_ns == UINT64_MAX);
}

/* It has been on this CPU or ready to run since then, and began and ended no call. */
static bool waits_since(struct timeline *tl, struct model_thread *t, uint16_t cpu,
			uint64_t since_ns)
{
	const struct tl_thread *th = t->idle ? NULL : tl_thread_of(tl, t);

	return th && t->proc && t->proc->is_target && no_call_since(th, t, since_ns) &&
	       th->ready_ns && th->ready_ns <= since_ns &&
	       (th->run_cpu < 0 || th->run_cpu == (int32_t)cpu);
}

/*
 * The first one of what may be many: it leads back to a thread that left a moment ago, and the CPU's
 * last switch leads to it.
 */
static bool may_begin(struct timeline *tl, const struct model_switch *s)
{
	const struct tl_cpu *c = tl_cpu_of(tl, s->cpu);
	uint64_t yielded_ns = s->next->idle ? 0 : tl_thread_of(tl, s->next)->yielded_ns;

	return yielded_ns && s->ts_ns - yielded_ns <= YIELD_NS &&
	       waits_since(tl, s->next, s->cpu, s->ts_ns) && c->seen &&
	       (s->prev->idle ? !c->next.tid : c->thread == tl_thread_of(tl, s->prev));
}

static bool may_follow(struct timeline *tl, struct tl_yield *y, const struct model_switch *s)
{
	uint64_t begin_ns = y->held[0].ts_ns;

	return s->ts_ns - begin_ns <= YIELD_NS && s->prev == y->last.next &&
	       (s->preempted || !s->prev_state) &&
	       no_call_since(tl_thread_of(tl, s->prev), s->prev, begin_ns) &&
	       (sharer_find(y, s->prev) || y->nsharers < SHARERS_MAX) &&
	       (sharer_find(y, s->next) || waits_since(tl, s->next, s->cpu, begin_ns));
}

static void follow(struct timeline *tl, struct tl_yield *y, const struct model_switch *s)
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

void tl_yield_left(struct tl_thread *th, const struct model_switch *s)
{
	th->ready_ns = s->ts_ns;
	th->yielded_ns = s->preempted || !s->prev_state ? s->ts_ns : 0;
}

void tl_yield_call(void *ctx, const struct model_call *c)
{
	tl_thread_of(ctx, c->thread)->call_ns = c->end_ns;
}

void tl_yield_spin(void *ctx, const struct model_spin *sp)
{
	tl_thread_of(ctx, sp->thread)->call_ns = sp->end_ns;
}

bool tl_yield_hold(struct timeline *tl, const struct model_switch *s)
{
	struct tl_cpu *c = tl_cpu_of(tl, s->cpu);
	struct tl_yield *y = c->yield;

	if (tl->opt.select && tl->opt.select->every_switch)
		return false;
	if (y && y->cnt && may_follow(tl, y, s)) {
		follow(tl, y, s);
		return true;
	}
	tl_yield_flush(tl, s->cpu);
	tl_yield_flush_thread(tl, s->prev);
	tl_yield_flush_thread(tl, s->next);
	if (!may_begin(tl, s))
		return false;
	if (!y)
		y = tl_cpu_of(tl, s->cpu)->yield = xcalloc(1, sizeof(*y));
	y->held[0] = y->last = *s;
	y->cnt = 1;
	thread_bind(tl, s->prev, s->cpu);
	thread_bind(tl, s->next, s->cpu);
	return true;
}
