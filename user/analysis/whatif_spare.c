/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Stretches outside MPI that a change makes shorter or longer (whatif.h). */
#include <stdlib.h>

#include "analysis/whatif_internal.h"
#include "lib/log.h"
#include "lib/table.h"

static const struct whatif_line *line_of(const struct whatif *w, uint32_t thread)
{
	static const struct whatif_line none;

	return thread < w->nline ? &w->line[thread] : &none;
}

/* Appends what of a stretch is outside MPI. The time to spare is set later. */
static void outside_add(const struct whatif *w, struct whatif_spared_list *out, uint32_t thread,
			uint64_t from_ns, uint64_t to_ns)
{
	const struct whatif_line *l = line_of(w, thread);
	uint32_t at = (uint32_t)table_first(0, l->ncall, i, l->call[i].end_ns > from_ns);

	for (; from_ns < to_ns; at++) {
		const struct whatif_call *c = at < l->ncall ? &l->call[at] : NULL;
		uint64_t end_ns = c ? u64_min(c->begin_ns, to_ns) : to_ns;

		if (c && c->computes)
			continue; /* the next call's gap includes it */
		if (from_ns < end_ns)
			*table_append(out->v, out->n) = (struct whatif_spared){
				from_ns, end_ns, (int64_t)(end_ns - from_ns), thread};
		from_ns = c ? u64_max(from_ns, c->end_ns) : to_ns;
	}
}

bool whatif_spare_sleeps(const struct whatif *w, uint32_t thread, uint64_t from_ns, uint64_t to_ns,
			 struct whatif_spared_list *out)
{
	for (size_t i = 0; i < w->nsleep; i++) {
		const struct whatif_sleep *s = &w->sleep[i];

		if (s->thread == thread && s->from_ns >= from_ns && s->from_ns < to_ns)
			outside_add(w, out, thread, s->from_ns, u64_min(s->to_ns, to_ns));
	}
	return !w->sleeps_lost;
}

/* Scales the list's entries first … end - 1, so that their sum is ns. */
static void spared_scale(struct whatif_spared_list *list, uint32_t first, uint32_t end, int64_t ns)
{
	double all_ns = 0;

	for (uint32_t i = first; i < end; i++)
		all_ns += (double)list->v[i].ns;
	for (uint32_t i = first; i < end; i++)
		list->v[i].ns = (int64_t)((double)list->v[i].ns * (double)ns / all_ns);
}

void whatif_spare_work(const struct whatif *w, uint32_t thread, uint64_t from_ns, uint64_t to_ns,
		       uint64_t ns, struct whatif_spared_list *out)
{
	uint32_t first = out->n;

	outside_add(w, out, thread, from_ns, to_ns);
	spared_scale(out, first, out->n, (int64_t)ns);
}

/* How long a call waited for others to begin. */
static uint64_t waited_ns(const struct whatif *w, const struct whatif_event *e)
{
	uint64_t ready_ns = e->begin_ns;
	const struct whatif_member *first;
	const struct whatif_joint *j;
	struct whatif_dep d;
	uint32_t n;

	for (int kind = 0; e->side < SIDES && kind <= WHATIF_PEER_IN_MPI; kind++)
		if (whatif_dep_of(&w->message[e->of], e->side, kind, &d))
			ready_ns = u64_max(ready_ns, d.on_ns);
	if (e->side < SIDES)
		return ready_ns - e->begin_ns;
	j = &w->joint[w->member[e->of].joint];
	first = &w->member[j->first];
	for (n = j->n; n && first[n - 1].begin_ns > e->end_ns;)
		n--;
	return n ? u64_minus(first[n - 1].begin_ns, e->begin_ns) : 0;
}

static int spared_compare(const void *va, const void *vb)
{
	const struct whatif_spared *a = va, *b = vb;

	return u64_compare(a->thread, b->thread) ?: u64_compare(a->from_ns, b->from_ns);
}

void whatif_add_work(struct whatif *w, const uint64_t *ns, uint64_t from_ns, uint64_t to_ns,
		     struct whatif_spared_list *out)
{
	struct whatif_spared_list added = {0};
	uint32_t end;

	whatif_settle(w);
	for (size_t i = 0; i < w->nevent; i++) {
		const struct whatif_event *e = &w->event[i];
		bool counts = ns[e->thread] && e->begin_ns > from_ns && e->begin_ns < to_ns;
		uint64_t waited = counts ? waited_ns(w, e) : 0;

		if (waited)
			*table_append(added.v, added.n) = (struct whatif_spared){
				e->begin_ns - 1, e->begin_ns, (int64_t)waited, e->thread};
	}
	table_sort(added.v, added.n, spared_compare);
	for (uint32_t i = 0; i < added.n; i = end) {
		uint32_t thread = added.v[i].thread, first = out->n;

		for (end = i; end < added.n && added.v[end].thread == thread; end++) {
			struct whatif_spared *last = out->n > first ? &out->v[out->n - 1] : NULL;

			if (!last || last->to_ns != added.v[end].to_ns)
				*table_append(out->v, out->n) = added.v[end];
			else /* one call completes both */
				last->ns = last->ns > added.v[end].ns ? last->ns : added.v[end].ns;
		}
		spared_scale(out, first, out->n, -(int64_t)ns[thread]);
	}
	free(added.v);
}

uint64_t whatif_run_spared(struct whatif *w, struct whatif_spared_list *list)
{
	struct whatif_change change = {0};

	table_sort(list->v, list->n, spared_compare);
	change.spared = list->v;
	change.nspared = list->n;
	return whatif_run(w, &change);
}
