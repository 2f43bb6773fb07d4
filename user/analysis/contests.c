/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * See contests.h. When a thread leaves its CPU, every thread that waits there has waited for it.
 * Each of these waits becomes a piece, which counts once it is known what both threads were doing.
 */
#include "analysis/contests.h"

#include <stdlib.h>
#include <string.h>

#include "abi/event.h"
#include "lib/table.h"

/* A part of one thread's waiting, during which one other thread ran. */
struct piece {
	const struct model_thread *waiter, *holder;
	uint64_t from_ns, ns;
	uint16_t cpu;
	/* later records show that the thread did not wait */
	bool refuted;
	/* number of sides that are still unknown: 2 … 0 */
	uint8_t open;
	enum activity waits; /* once known: what the waiter was doing */
	/* once known: how ns splits into what the holder was doing */
	uint64_t held[ACTIVITY_CNT];
	const struct func_info *waits_in, *holds_in;
	struct piece *next_of_waiter, *next_of_holder;
};

struct waiting {
	const struct model_thread *thread;
	uint64_t since_ns; /* start of the waiting on this CPU */
};

struct contest_core {
	struct waiting *waiting; /* owned */
	uint32_t n, room;
	const struct model_thread *runs; /* thread that runs now; NULL: unknown */
	/* Pieces of the running thread whose waiters have already moved to another CPU. */
	struct piece *early;
};

/* A stretch of a thread's life, reported once all calls that can overlap it are known. */
struct stretch {
	const struct model_thread *thread;
	uint64_t from_ns, to_ns;
	/* Set once the stretch is reported; the sum is its length. */
	uint64_t ns[ACTIVITY_CNT];
	/* the call that took most of the stretch, or NULL */
	const struct func_info *func;
	uint64_t func_ns;
	struct piece *pieces; /* pieces that need this stretch's activities */
	struct stretch *next; /* next stretch of the same thread */
};

/*
 * Stretches of a thread that are not yet reported. To exceed this, a call would have to last
 * minutes while its thread changes state all the time.
 */
#define ACTIVITY_KEPT_MAX 65536
/* the same limit for a thread that has made no call so far */
#define ACTIVITY_KEPT_MAX_OWN 1024

struct contest_thread {
	struct piece *pieces;	      /* pieces of its current waiting */
	struct stretch *first, *last; /* stretches not yet reported, in order of time */
	uint32_t cnt;
	bool calls; /* it has made calls */
	/* Contribution of the reported calls to the current stretch, which began at since_ns. */
	uint64_t since_ns, ns[ACTIVITY_CNT], func_ns;
	const struct func_info *func;
};

static struct contest_core *core_of(struct contests *a, uint16_t cpu)
{
	return table_row(a->core, a->ncore, cpu);
}

static struct contest_thread *row_of(struct contests *a, const struct model_thread *t)
{
	return table_row(a->thread, a->nthread, t->idx);
}

/* ---- sums ---- */

static void sum_add(struct contests *a, const struct piece *p, enum activity holds)
{
	uint64_t key = (uint64_t)p->waiter->idx << 41 ^ (uint64_t)p->holder->idx << 19 ^
		       (uint64_t)p->cpu << 6 ^ (uint64_t)p->waits << 3 ^ holds;
	struct contest *c = map_make(&a->sums, key, sizeof(*c));

	c->waiter = p->waiter;
	c->holder = p->holder;
	c->cpu = p->cpu;
	c->waits = p->waits;
	c->holds = holds;
	c->ns += p->held[holds];
	c->cnt++;
	if (p->held[holds] <= c->worst_ns)
		return;
	c->worst_ns = p->held[holds];
	c->worst_from_ns = p->from_ns;
	c->waits_in = p->waits_in;
	c->holds_in = p->holds_in;
}

/*
 * One side of the piece has become known, or never will be. Counts the piece after the second side.
 */
static void piece_settle(struct contests *a, struct piece *p)
{
	bool counts;

	if (--p->open)
		return;
	counts = !p->refuted && windows_has(a->windows, p->waiter->proc, p->from_ns);
	for (enum activity d = 0; d < ACTIVITY_CNT && counts; d++)
		if (p->held[d])
			sum_add(a, p, d);
	free(p);
}

/*
 * Refutes a list of pieces, linked by waiter or by holder: there was no waiting, or it is unknown.
 */
static void pieces_refute(struct contests *a, struct piece *p, bool by_waiter)
{
	for (struct piece *next; p; p = next) {
		next = by_waiter ? p->next_of_waiter : p->next_of_holder;
		p->refuted = true;
		piece_settle(a, p);
	}
}

/* ---- what both did ---- */

static enum activity stretch_most(const struct stretch *s)
{
	enum activity best = ACTIVITY_OWN;

	for (enum activity d = 0; d < ACTIVITY_CNT; d++)
		if (s->ns[d] > s->ns[best])
			best = d;
	return best;
}

static void held_split(struct piece *p, const struct stretch *s)
{
	double all_ns = 0;
	uint64_t left_ns = p->ns;
	enum activity best = stretch_most(s);

	for (enum activity d = 0; d < ACTIVITY_CNT; d++)
		all_ns += (double)s->ns[d];
	for (enum activity d = 0; d < ACTIVITY_CNT; d++) {
		if (d == best)
			continue;
		p->held[d] = (uint64_t)((double)p->ns * (double)s->ns[d] / all_ns);
		left_ns -= p->held[d] < left_ns ? p->held[d] : left_ns;
	}
	p->held[best] = left_ns;
	p->holds_in = s->func;
}

static void stretch_known(struct contests *a, const struct stretch *s)
{
	struct piece *p = s->pieces, *next;

	for (; p; p = next) {
		bool waits = p->waiter == s->thread;

		next = waits ? p->next_of_waiter : p->next_of_holder;
		if (waits) {
			p->waits = stretch_most(s);
			p->waits_in = s->func;
		} else {
			held_split(p, s);
		}
		piece_settle(a, p);
	}
}

/* ---- what a thread did ---- */

/*
 * A thread's calls are reported in order of their begin. So a stretch is known once a call is
 * reported that began after it.
 */

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
static void first_emit(struct contests *a, struct contest_thread *row)
{
	struct stretch *s = row->first;
	uint64_t in_ns = calls_ns(s) + s->ns[ACTIVITY_UNKNOWN], all_ns = s->to_ns - s->from_ns;

	s->ns[ACTIVITY_OWN] = all_ns > in_ns ? all_ns - in_ns : 0;
	row->first = s->next;
	row->cnt--;
	stretch_known(a, s);
	free(s);
}

/*
 * Adds a stretch that has just ended: a run since the thread got a CPU, or a wait for one. Call
 * this before any later event is reported.
 */
static void stretch_add(struct contests *a, const struct model_thread *t, uint64_t from_ns,
			uint64_t to_ns, struct piece *pieces)
{
	struct contest_thread *row = row_of(a, t);
	struct stretch *s = xmalloc(sizeof(*s));

	*s = (struct stretch){.thread = t, .from_ns = from_ns, .to_ns = to_ns, .pieces = pieces};
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
	/* a call that overlaps the stretch may not have been reported yet */
	if (row->calls)
		rest_unknown(row->first);
	first_emit(a, row);
}

/* Adds an outermost call, or a run of merged polls. */
static void call_add(struct contests *a, const struct model_thread *t, uint64_t begin_ns,
		     uint64_t end_ns, enum activity what, const struct func_info *func)
{
	struct contest_thread *row = row_of(a, t);
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

/* ---- pieces ---- */

/* Adds the waiting of w for the holder, which ran from from_ns to to_ns, to the list. */
static void piece_add(struct contests *a, const struct waiting *w,
		      const struct model_thread *holder, uint16_t cpu, uint64_t from_ns,
		      uint64_t to_ns, struct piece **list)
{
	struct contest_thread *row = row_of(a, w->thread);
	struct piece *p;

	from_ns = u64_max(from_ns, w->since_ns);
	if (from_ns >= to_ns)
		return;
	p = xcalloc(1, sizeof(*p));
	*p = (struct piece){.waiter = w->thread,
			    .holder = holder,
			    .from_ns = from_ns,
			    .ns = to_ns - from_ns,
			    .cpu = cpu,
			    .open = 2,
			    .next_of_waiter = row->pieces,
			    .next_of_holder = *list};
	row->pieces = *list = p;
}

static void thread_ran(struct contests *a, const struct model_thread *t, uint64_t from_ns,
		       uint64_t to_ns, uint16_t cpu)
{
	struct contest_core *c = core_of(a, cpu);
	struct piece *list = c->early;
	uint32_t left = 0;

	c->early = NULL;
	if (list && list->holder != t) {
		pieces_refute(a, list, false);
		list = NULL;
	}
	for (uint32_t i = 0; i < c->n; i++) {
		const struct waiting *w = &c->waiting[i];

		if (w->thread->state != THREAD_RUNNABLE || w->thread->cpu != cpu)
			continue; /* the waiting had no length */
		if (!t->idle && w->thread != t)
			piece_add(a, w, t, cpu, from_ns, to_ns, &list);
		c->waiting[left++] = *w;
	}
	c->n = left;
	if (list)
		stretch_add(a, t, from_ns, to_ns, list);
}

/* ---- waiting threads ---- */

static void waits_add(struct contests *a, const struct model_thread *t, uint64_t since_ns)
{
	struct contest_core *c = core_of(a, t->cpu);

	if (!t->proc->is_rank || t->state != THREAD_RUNNABLE)
		return;
	for (uint32_t i = 0; i < c->n; i++) {
		if (c->waiting[i].thread != t)
			continue;
		c->waiting[i].since_ns = u64_max(c->waiting[i].since_ns, t->since_ns);
		return;
	}
	*table_add(c->waiting, c->n, c->room) = (struct waiting){t, since_ns};
}

/*
 * Ends a thread's waiting on a CPU. The thread that still runs there is the last one that it waited
 * for: it moves to another CPU, or the recording ends.
 */
static void waits_end(struct contests *a, const struct model_thread *t, uint16_t cpu,
		      uint64_t until_ns)
{
	struct contest_core *c = core_of(a, cpu);
	const struct model_thread *runs = c->runs;
	struct waiting was;

	for (uint32_t i = 0; i < c->n; i++) {
		if (c->waiting[i].thread != t)
			continue;
		was = c->waiting[i];
		c->waiting[i] = c->waiting[--c->n];
		if (runs && !runs->idle && runs->state == THREAD_RUNNING && runs->cpu == cpu)
			piece_add(a, &was, runs, cpu, runs->since_ns, until_ns, &c->early);
	}
}

/* Ends a thread's waiting. truly: it did wait; false: later records show that it did not. */
static void thread_waited(struct contests *a, const struct model_thread *t, uint64_t from_ns,
			  uint64_t to_ns, bool truly)
{
	struct contest_thread *row = row_of(a, t);
	struct piece *p = row->pieces;

	row->pieces = NULL;
	if (truly && p)
		stretch_add(a, t, from_ns, to_ns, p);
	else
		pieces_refute(a, p, true);
}

/* ---- the sink ---- */

static void on_state(void *ctx, const struct model_thread *t, uint64_t from_ns, uint64_t to_ns,
		     enum thread_state s, uint16_t cpu)
{
	if (s == THREAD_RUNNING)
		thread_ran(ctx, t, from_ns, to_ns, cpu);
	if (!t->proc->is_rank)
		return;
	waits_end(ctx, t, cpu, to_ns);
	thread_waited(ctx, t, from_ns, to_ns, s == THREAD_RUNNABLE);
}

static void on_switch(void *ctx, const struct model_switch *s)
{
	struct contest_core *c = core_of(ctx, s->cpu);

	/* the run of these pieces' holder was not reported */
	pieces_refute(ctx, c->early, false);
	c->early = NULL;
	c->runs = s->next;
	waits_add(ctx, s->prev, s->ts_ns);
}

static void on_waking(void *ctx, const struct model_waking *w)
{
	waits_add(ctx, w->target, w->ts_ns);
}

/* From here on, the thread waits for another CPU. */
static void on_migrate(void *ctx, const struct model_migrate *g)
{
	if (g->thread->proc->is_rank)
		waits_end(ctx, g->thread, g->orig_cpu, g->ts_ns);
	waits_add(ctx, g->thread, g->ts_ns);
}

static void on_call(void *ctx, const struct model_call *c)
{
	if (func_is_top(c->func) && !c->nested && !c->end_only)
		call_add(ctx, c->thread, c->begin_ns, c->end_ns,
			 c->func->waits ? ACTIVITY_POLL : ACTIVITY_WORK, c->func);
}

static void on_spin(void *ctx, const struct model_spin *s)
{
	if (func_is_top(s->func[0].func) && !s->nested && !s->computes)
		call_add(ctx, s->thread, s->begin_ns, s->end_ns, ACTIVITY_POLL, s->func[0].func);
}

static void on_lost(void *ctx, const struct model_lost *l)
{
	struct contests *a = ctx;

	if (l->class != POV_CLASS_CALL && l->class != POV_CLASS_SPIN)
		return;
	for (uint32_t i = 0; i < a->nthread; i++)
		for (struct stretch *s = a->thread[i].first; s; s = s->next)
			if (overlap_ns(s->from_ns, s->to_ns, l->since_ns, l->ts_ns))
				rest_unknown(s);
}

static void on_thread_exit(void *ctx, const struct model_thread *t, uint64_t ts_ns)
{
	struct contest_thread *row = row_of(ctx, t);

	while (row->first)
		first_emit(ctx, row);
}

/* Settles everything, as no more records will come. */
static void pieces_end(struct contests *a)
{
	for (uint32_t i = 0; i < a->nthread; i++) {
		pieces_refute(a, a->thread[i].pieces, true);
		a->thread[i].pieces = NULL;
	}
	for (uint32_t i = 0; i < a->ncore; i++) {
		pieces_refute(a, a->core[i].early, false);
		a->core[i].early = NULL;
	}
	for (uint32_t i = 0; i < a->nthread; i++)
		while (a->thread[i].first)
			first_emit(a, &a->thread[i]);
}

static void on_finish(void *ctx, const struct model *m)
{
	pieces_end(ctx);
}

/* ---- init and release ---- */

void contests_init(struct contests *a, const struct windows *windows)
{
	*a = (struct contests){
		.sink = {.ctx = a,
			 .thread_exit = on_thread_exit,
			 .on_switch = on_switch,
			 .waking = on_waking,
			 .migrate = on_migrate,
			 .call = on_call,
			 .spin = on_spin,
			 .lost = on_lost,
			 .state = on_state,
			 .finish = on_finish},
		.windows = windows,
	};
}

void contests_release(struct contests *a)
{
	pieces_end(a);
	for (uint32_t i = 0; i < a->ncore; i++)
		free(a->core[i].waiting);
	free(a->core);
	free(a->thread);
	map_free(&a->sums, free);
}

TABLE_ORDER(contest_compare, struct contest,
	    u64_compare(a->waiter->proc->idx, b->waiter->proc->idx), u64_compare(b->ns, a->ns),
	    u64_compare(a->waiter->idx, b->waiter->idx),
	    u64_compare(a->holder->idx, b->holder->idx), u64_compare(a->cpu, b->cpu),
	    u64_compare(a->waits, b->waits), u64_compare(a->holds, b->holds))

struct contest *contests_list(const struct contests *a, uint32_t *n)
{
	struct contest *list = xmalloc((a->sums.cnt + 1) * sizeof(*list)), *c;

	*n = 0;
	for (size_t at = 0; (c = map_next(&a->sums, &at, NULL));)
		list[(*n)++] = *c;
	qsort(list, *n, sizeof(*list), contest_compare);
	for (uint32_t i = 0; i < *n; i++)
		list[i].idx = i;
	return list;
}
