/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * See whatif.h: replays the recording with a change. A thread's lead is how much earlier it is than
 * it was. It is set at each call that waited for something; between such calls it grows by the time
 * that is given: a core that the thread did not have, or work that it is spared. The end of a call:
 *
 *	recorded	end  = ready  + rest
 *	changed		end' = ready' + rest
 *
 * ready is the latest of the call's begin and of what it waited for. ready' is the latest of the
 * same times, each earlier by its thread's lead at that time, without what is left out.
 */
#include <stdlib.h>

#include "analysis/whatif_internal.h"
#include "lib/log.h"
#include "lib/table.h"

/* State of a thread from at_ns on. */
struct step {
	uint64_t at_ns;
	int64_t lead_ns;
	int64_t given_ns; /* time given up to at_ns */
};

/* Time left out of a stretch, and the sum up to its end. */
struct given {
	uint64_t from_ns, to_ns;
	int64_t ns, sum_ns;
};

/* A thread's stretches of one sort. */
struct given_list {
	const struct given *v; /* entries of run.given */
	uint32_t n;
	uint32_t looked_at; /* index of the last query */
};

/* Sorts of stretches. Those of one sort do not overlap. */
enum { GIVEN_CORES, GIVEN_SPARED, GIVEN_SORTS };

struct lead {
	int64_t first_ns; /* lead before the first step, without given time */
	struct step *step;
	uint32_t nstep;
	struct given_list given[GIVEN_SORTS];
	/* end of the last transfer that the thread began */
	int64_t carried_ns;
};

struct run {
	struct whatif *w;
	const struct whatif_change *change;
	struct lead *thread; /* by thread idx */
	uint32_t nthread;
	struct given *given[GIVEN_SORTS];
	size_t ngiven[GIVEN_SORTS];
};

/* ---- leads ---- */

#define NEAR 8

/* The first stretch that ends after ts_ns. It is mostly near that of the last query. */
static uint32_t given_find(struct given_list *l, uint64_t ts_ns)
{
	uint32_t at = l->looked_at;

	for (int i = 0; i < NEAR && at && l->v[at - 1].to_ns > ts_ns; i++)
		at--;
	for (int i = 0; i < NEAR && at < l->n && l->v[at].to_ns <= ts_ns; i++)
		at++;
	if (at && l->v[at - 1].to_ns > ts_ns)
		at = (uint32_t)table_first(0, at, i, l->v[i].to_ns > ts_ns);
	else if (at < l->n && l->v[at].to_ns <= ts_ns)
		at = (uint32_t)table_first(at, l->n, i, l->v[i].to_ns > ts_ns);
	l->looked_at = at;
	return at;
}

/* Time given up to ts_ns by stretches of one sort. A stretch in progress counts in proportion. */
static int64_t list_ns(struct given_list *l, uint64_t ts_ns)
{
	uint32_t lo = l->n ? given_find(l, ts_ns) : 0;
	int64_t sum_ns;

	if (!l->n)
		return 0;
	sum_ns = lo ? l->v[lo - 1].sum_ns : 0;
	if (lo < l->n && l->v[lo].from_ns < ts_ns)
		sum_ns += (int64_t)((double)l->v[lo].ns * (double)(ts_ns - l->v[lo].from_ns) /
				    (double)(l->v[lo].to_ns - l->v[lo].from_ns));
	return sum_ns;
}

/* Time given up to ts_ns by stretches of all sorts. */
static int64_t given_ns(struct lead *l, uint64_t ts_ns)
{
	int64_t sum_ns = 0;

	for (int sort = 0; sort < GIVEN_SORTS; sort++)
		sum_ns += list_ns(&l->given[sort], ts_ns);
	return sum_ns;
}

static int64_t lead_ns(const struct run *r, uint32_t thread, uint64_t ts_ns)
{
	struct lead *l = &r->thread[thread];
	uint32_t lo = 0, hi = l->nstep;

	/* queries are mostly after the last step */
	if (hi && l->step[hi - 1].at_ns <= ts_ns)
		lo = hi;
	lo = (uint32_t)table_first(lo, hi, i, l->step[i].at_ns > ts_ns);
	if (!lo)
		return l->first_ns + given_ns(l, ts_ns);
	return l->step[lo - 1].lead_ns + given_ns(l, ts_ns) - l->step[lo - 1].given_ns;
}

/* Time at which a thread's event at ts_ns would have happened. */
static int64_t moved_ns(const struct run *r, uint32_t thread, uint64_t ts_ns)
{
	return (int64_t)ts_ns - lead_ns(r, thread, ts_ns);
}

static void step_add(struct lead *l, uint64_t at_ns, int64_t lead_ns)
{
	int64_t given = given_ns(l, at_ns);

	*table_append(l->step, l->nstep) = (struct step){at_ns, lead_ns, given};
}

/* ---- calls ---- */

static int64_t time_later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* A call as it was, and as it would have been. */
struct call_end {
	int64_t ready_ns, moved_ns, extra_ns;
};

/* When the data of a send would arrive, if the transfer goes on outside the receive call. */
static int64_t carried_ns(struct run *r, const struct whatif_dep *d, int64_t transfer_ns)
{
	struct lead *from = &r->thread[d->on];

	from->carried_ns = time_later(from->carried_ns, moved_ns(r, d->on, d->on_ns)) + transfer_ns;
	return from->carried_ns;
}

static void message_add(struct run *r, const struct whatif_event *e, struct call_end *c)
{
	const struct whatif_message *m = &r->w->message[e->of];

	for (int kind = 0; kind <= WHATIF_PEER_IN_MPI; kind++) {
		struct whatif_instead instead = {0};
		struct whatif_dep d;
		bool out = false;

		if (!whatif_dep_of(m, e->side, kind, &d))
			continue;
		if (r->change->leave_out)
			out = r->change->leave_out(r->change->ctx, &d, &instead);
		c->ready_ns = time_later(c->ready_ns, (int64_t)d.on_ns);
		if (instead.transfer_ns)
			c->moved_ns = time_later(c->moved_ns,
						 carried_ns(r, &d, instead.transfer_ns));
		else if (!out)
			c->moved_ns = time_later(c->moved_ns, moved_ns(r, d.on, d.on_ns));
		c->extra_ns += instead.extra_ns - instead.transfer_ns;
	}
}

/* Adds the waits for the members that had called before this one left. */
static void member_add(struct run *r, const struct whatif_event *e, struct call_end *c)
{
	struct whatif_joint *j = &r->w->joint[r->w->member[e->of].joint];

	while (j->begun < j->n) {
		const struct whatif_member *m = &r->w->member[j->first + j->begun];

		if (m->begin_ns > e->end_ns)
			break;
		j->last_ns = time_later(j->last_ns, moved_ns(r, m->thread, m->begin_ns));
		j->begun++;
	}
	if (j->begun)
		c->ready_ns = time_later(c->ready_ns,
					 (int64_t)r->w->member[j->first + j->begun - 1].begin_ns);
	c->moved_ns = time_later(c->moved_ns, j->last_ns);
}

/* How many other participants of a call are looked at. */
#define OTHERS_MAX 64

static int64_t given_within(const struct run *r, uint32_t thread, int64_t from_ns, uint64_t to_ns)
{
	struct lead *l = &r->thread[thread];

	return given_ns(l, to_ns) - given_ns(l, (uint64_t)from_ns);
}

/*
 * Time given to another participant within from_ns … to_ns that shortens a call that ends at to_ns.
 * Time spared after the participant's own call (begun at begin_ns) does not count, because nobody
 * waits for it.
 */
static int64_t given_other(const struct run *r, uint32_t thread, uint64_t begin_ns, int64_t from_ns,
			   uint64_t to_ns)
{
	struct given_list *list = r->thread[thread].given;
	uint64_t end_ns = whatif_call_end(r->w, thread, begin_ns), from = (uint64_t)from_ns;
	int64_t ns = list_ns(&list[GIVEN_CORES], to_ns) - list_ns(&list[GIVEN_CORES], from);

	end_ns = end_ns < to_ns ? end_ns : to_ns;
	if (list[GIVEN_SPARED].n && end_ns > from)
		ns += list_ns(&list[GIVEN_SPARED], end_ns) - list_ns(&list[GIVEN_SPARED], from);
	return ns;
}

/* The most time given to another participant of the call, from from_ns to the call's end. */
static int64_t given_others(const struct run *r, const struct whatif_event *e, int64_t from_ns)
{
	const struct whatif_side *side;
	const struct whatif_joint *j;
	int64_t most_ns = 0;

	if (e->side < SIDES) {
		side = &r->w->message[e->of].side[!e->side];
		return given_other(r, side->thread, side->begin_ns, from_ns, e->end_ns);
	}
	j = &r->w->joint[r->w->member[e->of].joint];
	for (uint32_t i = 0; i < j->begun && i < OTHERS_MAX; i++) {
		const struct whatif_member *m = &r->w->member[j->first + i];

		most_ns = time_later(most_ns,
				     given_other(r, m->thread, m->begin_ns, from_ns, e->end_ns));
	}
	return most_ns;
}

/* Replays all that one call completes: events first … end - 1. */
static void call_end(struct run *r, size_t first, size_t end)
{
	const struct whatif_event *e = &r->w->event[first];
	struct lead *l = &r->thread[e->thread];
	struct call_end c = {.ready_ns = (int64_t)e->begin_ns,
			     .moved_ns = moved_ns(r, e->thread, e->begin_ns)};
	int64_t rest_ns, given;
	bool member = false;

	for (size_t i = first; i < end; i++) {
		member |= r->w->event[i].side == SIDES;
		if (r->w->event[i].side < SIDES)
			message_add(r, &r->w->event[i], &c);
		else
			member_add(r, &r->w->event[i], &c);
	}
	rest_ns = (int64_t)e->end_ns - c.ready_ns;
	given = given_within(r, e->thread, c.ready_ns, e->end_ns);
	for (size_t i = first; r->change->with_others && i < end; i++)
		given = time_later(given, given_others(r, &r->w->event[i], c.ready_ns));
	rest_ns -= given < rest_ns ? given : rest_ns;
	if (member && r->change->shorten)
		rest_ns -= r->change->shorten(r->change->ctx, e->thread, e->begin_ns, rest_ns);
	step_add(l, e->end_ns,
		 (int64_t)e->end_ns - (c.moved_ns + time_later(rest_ns + c.extra_ns, 0)));
}

static bool same_call(const struct whatif_event *a, const struct whatif_event *b)
{
	return a->end_ns == b->end_ns && a->thread == b->thread && a->begin_ns == b->begin_ns;
}

/* ---- the run ---- */

/* Adds a stretch. They come in order of thread and time. */
static void stretch_give(struct run *r, int sort, uint32_t thread, const struct given *g)
{
	struct given_list *l = &r->thread[thread].given[sort];
	struct given *out = &r->given[sort][r->ngiven[sort]++];

	*out = *g;
	out->sum_ns = g->ns + (l->n ? out[-1].sum_ns : 0);
	if (!l->n++)
		l->v = out;
}

static void cores_give(struct run *r)
{
	const struct whatif *w = r->w;

	r->given[GIVEN_CORES] = xcalloc(w->nno_core + 1, sizeof(struct given));
	for (size_t i = 0; i < w->nno_core && r->change->give_core; i++) {
		const struct whatif_no_core *n = &w->no_core[i];
		uint64_t ns = r->change->give_core(r->change->ctx, n);

		ns = ns < n->to_ns - n->from_ns ? ns : n->to_ns - n->from_ns;
		if (ns)
			stretch_give(r, GIVEN_CORES, n->thread,
				     &(struct given){n->from_ns, n->to_ns, (int64_t)ns, 0});
	}
}

static void spared_give(struct run *r)
{
	const struct whatif_change *c = r->change;

	r->given[GIVEN_SPARED] = xcalloc(c->nspared + 1, sizeof(struct given));
	for (size_t i = 0; i < c->nspared; i++) {
		const struct whatif_spared *s = &c->spared[i];

		if (s->thread < r->nthread && s->from_ns < s->to_ns)
			stretch_give(r, GIVEN_SPARED, s->thread,
				     &(struct given){s->from_ns, s->to_ns, s->ns, 0});
	}
}

/*
 * When a thread counts as ended: when it calls MPI_Finalize, because ranks wait for each other in
 * it.
 */
static uint64_t line_end(const struct whatif *w, const struct whatif_line *l)
{
	const struct whatif_call *last = &l->call[l->ncall - 1];

	return whatif_site(w, last->site)->func->setup == FUNC_ENDS ? last->begin_ns : last->end_ns;
}

/* How much earlier the last of all threads would have ended. */
static uint64_t gain_of(const struct run *r)
{
	int64_t last_ns = 0, moved = 0;

	for (uint32_t i = 0; i < r->w->nline; i++) {
		const struct whatif_line *l = &r->w->line[i];
		uint64_t end_ns = l->ncall ? line_end(r->w, l) : 0;

		if (!l->ncall)
			continue;
		last_ns = time_later(last_ns, (int64_t)end_ns);
		moved = time_later(moved, moved_ns(r, i, end_ns));
	}
	return last_ns > moved ? (uint64_t)(last_ns - moved) : 0;
}

static void run_begin(struct run *r)
{
	r->nthread = model_thread_count(r->w->model);
	r->thread = xcalloc(r->nthread + 1, sizeof(*r->thread));
	for (uint32_t i = 0; i < r->nthread && r->change->lead_ns; i++)
		r->thread[i].first_ns = r->change->lead_ns[i];
	for (uint32_t i = 0; i < r->w->njoint; i++) {
		r->w->joint[i].begun = 0;
		r->w->joint[i].last_ns = 0;
	}
	cores_give(r);
	spared_give(r);
}

static void run_end(struct run *r)
{
	for (uint32_t i = 0; i < r->nthread; i++) {
		if (r->change->lead_ns)
			r->change->lead_ns[i] = lead_ns(r, i, UINT64_MAX);
		free(r->thread[i].step);
	}
	free(r->thread);
	for (int sort = 0; sort < GIVEN_SORTS; sort++)
		free(r->given[sort]);
}

uint64_t whatif_run(struct whatif *w, const struct whatif_change *change)
{
	struct run r = {.w = w, .change = change};
	uint64_t gain_ns;
	size_t end;

	whatif_settle(w);
	run_begin(&r);
	for (size_t i = 0; i < w->nevent; i = end) {
		for (end = i + 1; end < w->nevent && same_call(&w->event[i], &w->event[end]);)
			end++;
		call_end(&r, i, end);
	}
	gain_ns = gain_of(&r);
	run_end(&r);
	return gain_ns;
}

/* ---- stretches outside MPI that a change makes shorter or longer ---- */

static const struct whatif_line *line_of(const struct whatif *w, uint32_t thread)
{
	return table_get(w->line, w->nline, thread);
}

/* Appends the parts of a stretch that are outside MPI. The caller then sets the time to spare. */
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

/* A wait of a call until another thread called MPI. */
struct waited {
	uint64_t ns, until_ns;
	uint32_t late; /* the thread waited for */
};

/* The wait of a call that ended last. ns is 0 if the call did not wait. */
static struct waited waited_of(const struct whatif *w, const struct whatif_event *e)
{
	struct waited out = {.until_ns = e->begin_ns, .late = e->thread};
	const struct whatif_member *first;
	const struct whatif_joint *j;
	struct whatif_dep d;
	uint32_t n;

	for (int kind = 0; e->side < SIDES && kind <= WHATIF_PEER_IN_MPI; kind++)
		if (whatif_dep_of(&w->message[e->of], e->side, kind, &d) && d.on_ns > out.until_ns)
			out = (struct waited){.until_ns = d.on_ns, .late = d.on};
	if (e->side == SIDES) {
		j = &w->joint[w->member[e->of].joint];
		first = &w->member[j->first];
		for (n = j->n; n && first[n - 1].begin_ns > e->end_ns;)
			n--;
		if (n && first[n - 1].begin_ns > out.until_ns)
			out = (struct waited){.until_ns = first[n - 1].begin_ns,
					      .late = first[n - 1].thread};
	}
	out.ns = out.until_ns - e->begin_ns;
	return out;
}

/* How long others waited for the thread after each of n stretches, and in all. Caller frees. */
static uint64_t *awaited_after(const struct whatif *w, uint32_t thread,
			       const struct whatif_spared *v, uint32_t n, uint64_t *sum_ns)
{
	uint64_t *ns = xcalloc(n + 1, sizeof(*ns));
	size_t at;

	for (size_t i = 0; i < w->nevent; i++) {
		struct waited waited = waited_of(w, &w->event[i]);

		if (waited.late != thread || !waited.ns)
			continue;
		at = table_first(0, n, k, v[k].to_ns > waited.until_ns);
		if (at)
			ns[at - 1] = u64_max(ns[at - 1], waited.ns);
	}
	*sum_ns = 0;
	for (uint32_t i = 0; i < n; i++)
		*sum_ns += ns[i] = u64_min(ns[i], v[i].to_ns - v[i].from_ns);
	return ns;
}

void whatif_spare_work(struct whatif *w, uint32_t thread, uint64_t from_ns, uint64_t to_ns,
		       uint64_t ns, struct whatif_spared_list *out)
{
	uint32_t first = out->n;
	uint64_t *awaited_ns, sum_ns;

	whatif_settle(w);
	outside_add(w, out, thread, from_ns, to_ns);
	awaited_ns = awaited_after(w, thread, out->v + first, out->n - first, &sum_ns);
	for (uint32_t i = first; i < out->n && sum_ns >= ns; i++)
		out->v[i].ns = (int64_t)awaited_ns[i - first];
	spared_scale(out, first, out->n, (int64_t)ns);
	free(awaited_ns);
}

TABLE_ORDER(spared_compare, struct whatif_spared, u64_compare(a->thread, b->thread),
	    u64_compare(a->from_ns, b->from_ns))

void whatif_add_work(struct whatif *w, const uint64_t *ns, uint64_t from_ns, uint64_t to_ns,
		     struct whatif_spared_list *out)
{
	struct whatif_spared_list added = {0};
	uint32_t end;

	whatif_settle(w);
	for (size_t i = 0; i < w->nevent; i++) {
		const struct whatif_event *e = &w->event[i];
		bool counts = ns[e->thread] && e->begin_ns > from_ns && e->begin_ns < to_ns;
		uint64_t waited = counts ? waited_of(w, e).ns : 0;

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
