/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * See whatif_longest_ns. Each thread has a clock that stands still while the thread is in MPI. A
 * call that had to wait for others sets the clock to the latest of theirs, each as of the time when
 * that thread called. The method is that of OTF-CPT (Protze et al. 2022), applied after the run.
 */
#include <stdlib.h>

#include "analysis/whatif_internal.h"
#include "lib/log.h"
#include "lib/table.h"

/* From at_ns on, the clock is this far ahead of the thread's own counted time. */
struct ahead {
	uint64_t at_ns, ns;
};

struct clock {
	/* time in MPI up to the end of each call; owned */
	uint64_t *in_mpi_ns;
	/* For each stretch: the counted time and the time in MPI up to its begin. */
	struct {
		uint64_t counted_ns, in_mpi_ns;
	} * before;
	struct ahead *ahead;
	uint32_t nahead;
};

struct longest {
	const struct whatif *w;
	const struct whatif_part *part;
	struct clock *clock; /* by idx of threads */
	uint32_t nthread;
};

/* Time in MPI up to ts_ns. */
static uint64_t in_mpi_ns(const struct longest *l, uint32_t thread, uint64_t ts_ns)
{
	const struct whatif_line *line = thread < l->w->nline ? &l->w->line[thread] : NULL;
	size_t ended = table_first(0, line ? line->ncall : 0, i, line->call[i].end_ns > ts_ns);
	uint64_t ns = ended ? l->clock[thread].in_mpi_ns[ended - 1] : 0;

	if (line && ended < line->ncall && !line->call[ended].computes)
		ns += u64_minus(ts_ns, line->call[ended].begin_ns);
	return ns;
}

/* Counted time of a stretch up to ts_ns. */
static uint64_t stretch_ns(const struct longest *l, uint32_t thread, uint32_t i, uint64_t ts_ns)
{
	const struct whatif_stretch *s = &l->part[thread].stretch[i];
	uint64_t to_ns = u64_min(ts_ns, s->to_ns);

	return u64_minus(to_ns - s->from_ns,
			 in_mpi_ns(l, thread, to_ns) - l->clock[thread].before[i].in_mpi_ns);
}

static void clock_make(struct longest *l, uint32_t thread)
{
	const struct whatif_line *line = thread < l->w->nline ? &l->w->line[thread] : NULL;
	const struct whatif_part *p = &l->part[thread];
	struct clock *c = &l->clock[thread];
	uint32_t ncall = line ? line->ncall : 0;
	uint64_t ns = 0;

	c->in_mpi_ns = xmalloc((ncall + 1) * sizeof(uint64_t));
	c->before = xmalloc((p->n + 1) * sizeof(*c->before));
	for (uint32_t i = 0; i < ncall; i++) {
		ns += line->call[i].computes ? 0 : line->call[i].end_ns - line->call[i].begin_ns;
		c->in_mpi_ns[i] = ns;
	}
	ns = 0;
	for (uint32_t i = 0; i < p->n; i++) {
		c->before[i].counted_ns = ns;
		c->before[i].in_mpi_ns = in_mpi_ns(l, thread, p->stretch[i].from_ns);
		ns += stretch_ns(l, thread, i, UINT64_MAX);
	}
}

/* Counted time up to ts_ns. */
static uint64_t counted_ns(const struct longest *l, uint32_t thread, uint64_t ts_ns)
{
	const struct whatif_part *p = &l->part[thread];
	uint32_t n = (uint32_t)table_first(0, p->n, i, p->stretch[i].from_ns >= ts_ns);

	return n ? l->clock[thread].before[n - 1].counted_ns + stretch_ns(l, thread, n - 1, ts_ns) :
		   0;
}

static uint64_t clock_ns(const struct longest *l, uint32_t thread, uint64_t ts_ns)
{
	const struct clock *c = &l->clock[thread];
	size_t n = table_first(0, c->nahead, i, c->ahead[i].at_ns > ts_ns);

	return counted_ns(l, thread, ts_ns) + (n ? c->ahead[n - 1].ns : 0);
}

static void clock_set(struct longest *l, uint32_t thread, uint64_t at_ns, uint64_t ns)
{
	struct clock *c = &l->clock[thread];
	uint64_t own_ns = counted_ns(l, thread, at_ns);

	if (ns <= clock_ns(l, thread, at_ns))
		return;
	*table_append(c->ahead, c->nahead) = (struct ahead){at_ns, ns - own_ns};
}

static bool thread_counts(const struct longest *l, uint32_t thread)
{
	return thread < l->nthread && l->part[thread].leads;
}

/* The latest clock of the members that this member had to wait for. */
static uint64_t joint_ns(const struct longest *l, struct whatif_joint *j,
			 const struct whatif_member *own, uint64_t end_ns)
{
	const struct whatif_member *root = NULL, *first = &l->w->member[j->first];

	for (uint32_t i = 0; i < j->n && j->flow != FLOW_ALL && !root; i++)
		root = first[i].root ? &first[i] : NULL;
	if (root && j->flow == FLOW_TO_ROOT && own != root)
		return 0;
	if (root && j->flow == FLOW_FROM_ROOT)
		return own != root && root->begin_ns <= end_ns && thread_counts(l, root->thread) ?
			       clock_ns(l, root->thread, root->begin_ns) :
			       0;
	/*
	 * events are in order of end, so each one adds the members that have called since the
	 * previous one
	 */
	for (; j->begun < j->n && first[j->begun].begin_ns <= end_ns; j->begun++) {
		const struct whatif_member *m = &first[j->begun];

		if (thread_counts(l, m->thread))
			j->last_ns = (int64_t)u64_max((uint64_t)j->last_ns,
						      clock_ns(l, m->thread, m->begin_ns));
	}
	return (uint64_t)j->last_ns;
}

static void event_follow(struct longest *l, const struct whatif_event *e)
{
	const struct whatif_message *m = e->side == RECV ? &l->w->message[e->of] : NULL;

	if (!thread_counts(l, e->thread))
		return;
	if (e->side == SIDES) {
		const struct whatif_member *own = &l->w->member[e->of];

		clock_set(l, e->thread, e->end_ns,
			  joint_ns(l, &l->w->joint[own->joint], own, e->end_ns));
	} else if (m && thread_counts(l, m->side[SEND].thread) &&
		   m->side[SEND].begin_ns <= e->end_ns) {
		clock_set(l, e->thread, e->end_ns,
			  clock_ns(l, m->side[SEND].thread, m->side[SEND].begin_ns));
	}
}

uint64_t whatif_longest_ns(struct whatif *w, const struct whatif_part *part)
{
	struct longest l = {.w = w, .part = part, .nthread = model_thread_count(w->model)};
	uint64_t most_ns = 0;

	whatif_settle(w);
	l.clock = xcalloc(l.nthread + 1, sizeof(*l.clock));
	for (uint32_t i = 0; i < l.nthread; i++)
		if (part[i].leads)
			clock_make(&l, i);
	for (uint32_t i = 0; i < w->njoint; i++)
		w->joint[i].begun = w->joint[i].last_ns = 0;
	for (size_t i = 0; i < w->nevent; i++)
		event_follow(&l, &w->event[i]);
	for (uint32_t i = 0; i < l.nthread; i++) {
		if (part[i].leads && part[i].ends)
			most_ns = u64_max(most_ns, clock_ns(&l, i, UINT64_MAX));
		free(l.clock[i].in_mpi_ns);
		free(l.clock[i].before);
		free(l.clock[i].ahead);
	}
	free(l.clock);
	return most_ns;
}
