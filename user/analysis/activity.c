/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * See contests.h. A thread's calls are reported in order of their begin. So everything that ended
 * before the begin of a reported call is known.
 */
#include "analysis/contests.h"

#include <stdlib.h>

#include "abi/event.h"
#include "lib/table.h"

struct activity_thread {
	struct stretch *first, *last; /* stretches not yet reported, in order of time */
	uint32_t cnt;
	bool calls; /* it has made calls */
	/* Contribution of the reported calls to the current stretch, which began at since_ns. */
	uint64_t since_ns, ns[ACTIVITY_CNT], func_ns;
	const struct func_info *func;
};

static struct activity_thread *row_of(struct activities *a, const struct model_thread *t)
{
	return table_row(a->thread, a->nthread, t->idx);
}

static uint64_t overlap_ns(uint64_t from_ns, uint64_t to_ns, uint64_t begin_ns, uint64_t end_ns)
{
	from_ns = u64_max(from_ns, begin_ns);
	to_ns = u64_min(to_ns, end_ns);
	return from_ns < to_ns ? to_ns - from_ns : 0;
}

static uint64_t calls_ns(const struct stretch *s)
{
	return s->ns[ACTIVITY_WORK] + s->ns[ACTIVITY_POLL];
}

static void rest_unknown(struct stretch *s)
{
	uint64_t in_ns = calls_ns(s), all_ns = s->to_ns - s->from_ns;

	s->ns[ACTIVITY_UNKNOWN] = all_ns > in_ns ? all_ns - in_ns : 0;
}

/* Reports the first stretch of a thread. */
static void first_emit(struct activities *a, struct activity_thread *row)
{
	struct stretch *s = row->first;
	uint64_t in_ns = calls_ns(s) + s->ns[ACTIVITY_UNKNOWN], all_ns = s->to_ns - s->from_ns;

	s->ns[ACTIVITY_OWN] = all_ns > in_ns ? all_ns - in_ns : 0;
	row->first = s->next;
	row->cnt--;
	a->known(a->ctx, s);
	free(s);
}

void activities_ask(struct activities *a, const struct model_thread *t, uint64_t from_ns,
		    uint64_t to_ns, void *user)
{
	struct activity_thread *row = row_of(a, t);
	struct stretch *s = xmalloc(sizeof(*s));

	*s = (struct stretch){.thread = t, .from_ns = from_ns, .to_ns = to_ns, .user = user};
	if (row->since_ns == from_ns) {
		memcpy(s->ns, row->ns, sizeof(s->ns));
		s->func = row->func;
		s->func_ns = row->func_ns;
	}
	*(row->first ? &row->last->next : &row->first) = s;
	row->last = s;
	row->cnt++;
	if (!t->proc->is_target) /* its calls are not recorded */
		first_emit(a, row);
	if (row->cnt <= (row->calls ? ACTIVITY_KEPT_MAX : ACTIVITY_KEPT_MAX_OWN))
		return;
	/* the call that it is in may not have been reported yet */
	if (row->calls)
		rest_unknown(row->first);
	first_emit(a, row);
}

/* Adds an outermost call, or a run of merged polls. */
static void call_add(struct activities *a, const struct model_thread *t, uint64_t begin_ns,
		     uint64_t end_ns, enum activity what, const struct func_info *func)
{
	struct activity_thread *row = row_of(a, t);
	uint64_t ns;

	row->calls = true;
	while (row->first && row->first->to_ns <= begin_ns)
		first_emit(a, row);
	for (struct stretch *s = row->first; s && s->from_ns < end_ns; s = s->next) {
		ns = overlap_ns(s->from_ns, s->to_ns, begin_ns, end_ns);
		s->ns[what] += ns;
		s->ns[ACTIVITY_UNKNOWN] -= ns < s->ns[ACTIVITY_UNKNOWN] ? ns :
									  s->ns[ACTIVITY_UNKNOWN];
		if (ns > s->func_ns) {
			s->func_ns = ns;
			s->func = func;
		}
	}
	while (row->first && row->first->to_ns <= end_ns)
		first_emit(a, row);
	if (t->state != THREAD_RUNNING || end_ns <= t->since_ns)
		return;
	if (row->since_ns != t->since_ns) {
		row->since_ns = t->since_ns;
		row->func_ns = 0;
		row->func = NULL;
		memset(row->ns, 0, sizeof(row->ns));
	}
	ns = end_ns - u64_max(begin_ns, t->since_ns);
	row->ns[what] += ns;
	if (ns > row->func_ns) {
		row->func_ns = ns;
		row->func = func;
	}
}

void activities_call(struct activities *a, const struct model_call *c)
{
	if (func_is_top(c->func) && !c->nested && !c->end_only)
		call_add(a, c->thread, c->begin_ns, c->end_ns,
			 c->func->waits ? ACTIVITY_POLL : ACTIVITY_WORK, c->func);
}

void activities_spin(struct activities *a, const struct model_spin *s)
{
	if (func_is_top(s->func[0].func) && !s->nested && !s->computes)
		call_add(a, s->thread, s->begin_ns, s->end_ns, ACTIVITY_POLL, s->func[0].func);
}

void activities_lost(struct activities *a, const struct model_lost *l)
{
	if (l->class != POV_CLASS_CALL && l->class != POV_CLASS_SPIN)
		return;
	for (uint32_t i = 0; i < a->nthread; i++)
		for (struct stretch *s = a->thread[i].first; s; s = s->next)
			if (overlap_ns(s->from_ns, s->to_ns, l->since_ns, l->ts_ns))
				rest_unknown(s);
}

void activities_exit(struct activities *a, const struct model_thread *t)
{
	struct activity_thread *row = row_of(a, t);

	while (row->first)
		first_emit(a, row);
}

void activities_init(struct activities *a, void (*known)(void *ctx, const struct stretch *s),
		     void *ctx)
{
	*a = (struct activities){.known = known, .ctx = ctx};
}

void activities_finish(struct activities *a)
{
	for (uint32_t i = 0; i < a->nthread; i++)
		while (a->thread[i].first)
			first_emit(a, &a->thread[i]);
}

void activities_release(struct activities *a)
{
	for (uint32_t i = 0; i < a->nthread; i++) {
		for (struct stretch *s = a->thread[i].first, *next; s; s = next) {
			next = s->next;
			free(s);
		}
	}
	free(a->thread);
}
