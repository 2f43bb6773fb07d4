/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * See whatif_longest_ns. Each thread has a clock that stands still while it is in MPI. A call that had to wait for others sets it to the
 * latest of theirs, each as it was when that one called. The method is OTF-CPT's (Protze et al. 2022), done afterwards.
 */
#include <stdlib.h>

#include "analysis/whatif_internal.h"
#include "lib/log.h"

/* From at_ns on the clock is ahead of the thread's own time outside MPI. */
struct ahead {
	uint64_t at_ns, ns;
};

struct clock {
	uint64_t *in_mpi_ns; /* until the end of each call, within the span */
	struct ahead *ahead;
	uint32_t nahead, room;
};

struct longest {
	const struct whatif *w;
	const struct whatif_span *span;
	struct clock *clock; /* by idx of threads */
	uint32_t nthread;
};

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t overlap_ns(const struct whatif_call *c, const struct whatif_span *s, uint64_t to_ns)
{
	uint64_t from_ns = later(c->begin_ns, s->from_ns);

	to_ns = c->end_ns < to_ns ? c->end_ns : to_ns;
	return !c->computes && to_ns > from_ns ? to_ns - from_ns : 0;
}

static void clocks_make(struct longest *l)
{
	l->clock = xcalloc(l->nthread + 1, sizeof(*l->clock));
	for (uint32_t i = 0; i < l->w->nline; i++) {
		const struct whatif_line *line = &l->w->line[i];
		uint64_t sum_ns = 0;

		if (i >= l->nthread || !l->span[i].to_ns)
			continue;
		l->clock[i].in_mpi_ns = xmalloc((line->ncall + 1) * sizeof(uint64_t));
		for (uint32_t k = 0; k < line->ncall; k++) {
			sum_ns += overlap_ns(&line->call[k], &l->span[i], l->span[i].to_ns);
			l->clock[i].in_mpi_ns[k] = sum_ns;
		}
	}
}

/* Time outside MPI until then. */
static uint64_t outside_ns(const struct longest *l, uint32_t thread, uint64_t ts_ns)
{
	const struct whatif_line *line = thread < l->w->nline ? &l->w->line[thread] : NULL;
	const struct whatif_span *s = &l->span[thread];
	uint32_t lo = 0, hi = line ? line->ncall : 0;
	uint64_t in_ns;

	ts_ns = ts_ns < s->to_ns ? ts_ns : s->to_ns;
	if (ts_ns <= s->from_ns)
		return 0;
	while (lo < hi) { /* the first call that ends later */
		uint32_t mid = lo + (hi - lo) / 2;

		if (line->call[mid].end_ns <= ts_ns)
			lo = mid + 1;
		else
			hi = mid;
	}
	in_ns = lo ? l->clock[thread].in_mpi_ns[lo - 1] : 0;
	if (line && lo < line->ncall)
		in_ns += overlap_ns(&line->call[lo], s, ts_ns);
	return ts_ns - s->from_ns > in_ns ? ts_ns - s->from_ns - in_ns : 0;
}

static uint64_t clock_ns(const struct longest *l, uint32_t thread, uint64_t ts_ns)
{
	const struct clock *c = &l->clock[thread];
	uint32_t lo = 0, hi = c->nahead;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (c->ahead[mid].at_ns <= ts_ns)
			lo = mid + 1;
		else
			hi = mid;
	}
	return outside_ns(l, thread, ts_ns) + (lo ? c->ahead[lo - 1].ns : 0);
}

static void clock_set(struct longest *l, uint32_t thread, uint64_t at_ns, uint64_t ns)
{
	struct clock *c = &l->clock[thread];
	uint64_t own_ns = outside_ns(l, thread, at_ns);

	if (ns <= clock_ns(l, thread, at_ns))
		return;
	if (c->nahead == c->room) {
		c->room = c->room ? c->room * 2 : 16;
		c->ahead = xrealloc(c->ahead, c->room * sizeof(*c->ahead));
	}
	c->ahead[c->nahead++] = (struct ahead){at_ns, ns - own_ns};
}

static bool counts(const struct longest *l, uint32_t thread)
{
	return thread < l->nthread && l->span[thread].to_ns;
}

/* The latest clock of those that a member had to wait for. */
static uint64_t joint_ns(const struct longest *l, struct whatif_joint *j,
			 const struct whatif_member *own, uint64_t end_ns)
{
	const struct whatif_member *root = NULL, *first = &l->w->member[j->first];

	for (uint32_t i = 0; i < j->n && j->flow != FLOW_ALL && !root; i++)
		root = first[i].root ? &first[i] : NULL;
	if (root && j->flow == FLOW_TO_ROOT && own != root)
		return 0;
	if (root && j->flow == FLOW_FROM_ROOT)
		return own != root && root->begin_ns <= end_ns && counts(l, root->thread) ?
			       clock_ns(l, root->thread, root->begin_ns) :
			       0;
	/* Events come in order of their ends, so each one sees those who came since the last one. */
	for (; j->begun < j->n && first[j->begun].begin_ns <= end_ns; j->begun++) {
		const struct whatif_member *m = &first[j->begun];

		if (counts(l, m->thread))
			j->last_ns = (int64_t)later((uint64_t)j->last_ns,
						    clock_ns(l, m->thread, m->begin_ns));
	}
	return (uint64_t)j->last_ns;
}

static void event_follow(struct longest *l, const struct whatif_event *e)
{
	const struct whatif_message *m = e->side == RECV ? &l->w->message[e->of] : NULL;

	if (!counts(l, e->thread))
		return;
	if (e->side == SIDES) {
		const struct whatif_member *own = &l->w->member[e->of];

		clock_set(l, e->thread, e->end_ns,
			  joint_ns(l, &l->w->joint[own->joint], own, e->end_ns));
	} else if (m && counts(l, m->side[SEND].thread) && m->side[SEND].begin_ns <= e->end_ns) {
		clock_set(l, e->thread, e->end_ns,
			  clock_ns(l, m->side[SEND].thread, m->side[SEND].begin_ns));
	}
}

uint64_t whatif_longest_ns(struct whatif *w, const struct whatif_span *span)
{
	struct longest l = {.w = w, .span = span, .nthread = model_thread_count(w->model)};
	uint64_t most_ns = 0;

	whatif_settle(w);
	clocks_make(&l);
	for (uint32_t i = 0; i < w->njoint; i++)
		w->joint[i].begun = w->joint[i].last_ns = 0;
	for (size_t i = 0; i < w->nevent; i++)
		event_follow(&l, &w->event[i]);
	for (uint32_t i = 0; i < l.nthread; i++) {
		if (span[i].to_ns && span[i].is_end)
			most_ns = later(most_ns, clock_ns(&l, i, span[i].to_ns));
		free(l.clock[i].in_mpi_ns);
		free(l.clock[i].ahead);
	}
	free(l.clock);
	return most_ns;
}
