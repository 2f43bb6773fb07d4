/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Reports calls in order of their begin. A call must wait until no active call can have begun
 * earlier. An active call that has no record yet is bounded by one of two facts: its thread has run
 * without a break since its last call ended, or the call was announced when the thread left the
 * CPU.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/table.h"
#include "model/what.h"

#define WAITING_MAX (1u << 16) /* calls and spins */
#define CHECK_EVERY 1024       /* calls between two checks for active calls */

/* ---- the earliest begin of an active call ---- */

uint64_t model_call_left_since(const struct model_thread *t)
{
	const struct thread_calls *calls = t->calls;
	uint64_t first_ns = TIME_NEVER;

	for (int i = 0; calls && i < POV_CALL_DEPTH_MAX; i++)
		if (calls->announced[i].known && calls->announced[i].begin_ns < first_ns)
			first_ns = calls->announced[i].begin_ns;
	return first_ns;
}

/* The earliest possible begin of an active call of the thread. */
static uint64_t may_begin_ns(const struct model *m, const struct mthread *t)
{
	const struct thread_calls *calls = t->pub.calls;
	uint64_t first_ns, ns;

	if (!t->born || t->pub.state == THREAD_DEAD || t->pub.idle || !t->pub.proc->is_target)
		return TIME_NEVER;
	first_ns = model_call_left_since(&t->pub);
	if (first_ns != TIME_NEVER)
		return first_ns;
	if (t->pub.state == THREAD_BLOCKED || t->pub.state == THREAD_RUNNABLE)
		return TIME_NEVER; /* it was in no call when it left the CPU */
	ns = calls ? calls->history.from_ns : m->info.start_ns;
	return t->pub.state == THREAD_RUNNING && t->pub.since_ns > ns ? t->pub.since_ns : ns;
}

static uint64_t horizon_ns(const struct model *m)
{
	uint64_t first_ns = m->now_ns, ns;

	for (uint32_t i = 0; i < m->nthreads; i++) {
		ns = may_begin_ns(m, m->thread[i]);
		first_ns = ns < first_ns ? ns : first_ns;
	}
	return first_ns;
}

uint64_t model_calls_reported_until(const struct model *m, const struct model_process *p)
{
	uint64_t first_ns = TIME_NEVER, ns;

	for (const struct mthread *t = ((const struct mprocess *)p)->newest; t; t = t->older) {
		ns = t->pub.calls ? may_begin_ns(m, t) : TIME_NEVER;
		first_ns = ns < first_ns ? ns : first_ns;
	}
	return first_ns;
}

/* ---- calls in order of their begin ---- */

static bool is_later(const struct call_or_spin *a, const struct call_or_spin *b)
{
	return call_or_spin_compare(a, b) > 0;
}

static void waiting_push(struct begin_order *p, const struct call_or_spin *h)
{
	uint32_t i = p->waiting_cnt, up;

	(void)table_add(p->waiting, p->waiting_cnt, p->waiting_room);
	for (; i && is_later(&p->waiting[up = (i - 1) / 2], h); i = up)
		p->waiting[i] = p->waiting[up];
	p->waiting[i] = *h;
}

static struct call_or_spin waiting_pop(struct begin_order *p)
{
	struct call_or_spin first = p->waiting[0], last = p->waiting[--p->waiting_cnt];
	uint32_t i = 0, down;

	while ((down = 2 * i + 1) < p->waiting_cnt) {
		if (down + 1 < p->waiting_cnt && is_later(&p->waiting[down], &p->waiting[down + 1]))
			down++;
		if (!is_later(&last, &p->waiting[down]))
			break;
		p->waiting[i] = p->waiting[down];
		i = down;
	}
	if (p->waiting_cnt)
		p->waiting[i] = last;
	return first;
}

static void waiting_tell(struct model *m, uint64_t until_ns, uint32_t leave)
{
	struct call_or_spin h;

	while (m->begin_order.waiting_cnt > leave &&
	       m->begin_order.waiting[0].begin_ns < until_ns) {
		h = waiting_pop(&m->begin_order);
		if (h.is_spin)
			TELL(m, spin_by_begin, &h.spin);
		else
			TELL(m, call_by_begin, &h.call);
		m->stats.late_by_begin += h.begin_ns < m->begin_order.reported_ns;
		m->begin_order.reported_ns = u64_max(m->begin_order.reported_ns, h.begin_ns);
		free(h.storage);
	}
}

void call_order_told(struct model *m, const struct call_or_spin *c)
{
	struct call_or_spin copy;

	if (!(c->is_spin ? m->to.spin_by_begin.cnt : m->to.call_by_begin.cnt))
		return;
	call_or_spin_copy(&copy, c);
	waiting_push(&m->begin_order, &copy);
	if (++m->begin_order.added % CHECK_EVERY && m->begin_order.waiting_cnt < WAITING_MAX)
		return;
	waiting_tell(m, horizon_ns(m), 0);
	if (m->begin_order.waiting_cnt >= WAITING_MAX)
		waiting_tell(m, TIME_NEVER, WAITING_MAX / 2);
}

void call_order_finish(struct model *m)
{
	waiting_tell(m, TIME_NEVER, 0);
}

void call_order_reset(struct model *m)
{
	while (m->begin_order.waiting_cnt)
		free(m->begin_order.waiting[--m->begin_order.waiting_cnt].storage);
	free(m->begin_order.waiting);
	m->begin_order = (struct begin_order){0};
}
