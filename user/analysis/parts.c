/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Records when each thread of a rank was in which phase and region, and what it did there. Then
 * computes the efficiencies from these times: first all parts without the longest path, then the
 * largest parts with it.
 */
#include "analysis/parts.h"

#include <math.h>
#include <stdlib.h>

#include "lib/log.h"
#include "lib/table.h"

/* Times that a thread was in one part. */
struct part_visits {
	bool in;
	struct app_entry entry;		/* begin of the current visit */
	struct app_sums sums;		/* sums of the visits that are over */
	struct whatif_stretch *stretch; /* stretches of the visits that are over; owned */
	uint32_t n, room;
};

struct part_thread {
	struct part_visits **part; /* by id, NULL: never in the part; owned */
	uint32_t npart;
	/* open phases by level: numbers of names; 0: none */
	uint32_t open[PHASE_LEVELS];
};

static struct part_visits *visits_get(struct parts *a, const struct model_thread *t, uint32_t id)
{
	struct part_thread *own = table_row(a->thread, a->nthread, t->idx);
	struct part_visits **visits = table_row(own->part, own->npart, id);

	if (!*visits)
		*visits = xcalloc(1, sizeof(**visits));
	return *visits;
}

static bool stretch_room(struct parts *a, struct part_visits *v)
{
	uint32_t more = v->room ? v->room : 4;

	if (v->n < v->room)
		return true;
	a->full |= a->room_bytes < more * sizeof(*v->stretch);
	if (a->full)
		return false;
	a->room_bytes -= more * sizeof(*v->stretch);
	v->room += more;
	v->stretch = xrealloc(v->stretch, v->room * sizeof(*v->stretch));
	return true;
}

/* Keeps stretches in order of time, even if the recording is damaged. */
static void stretch_add(struct parts *a, struct part_visits *v, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t last_ns = v->n ? v->stretch[v->n - 1].to_ns : 0;

	from_ns = u64_max(from_ns, last_ns);
	if (from_ns < to_ns && stretch_room(a, v))
		v->stretch[v->n++] = (struct whatif_stretch){from_ns, to_ns};
}

static void part_enter(struct parts *a, const struct model_thread *t, uint32_t id, uint64_t ts_ns)
{
	struct part_visits *v = visits_get(a, t, id);

	if (v->in || a->full)
		return;
	v->in = true;
	app_time_enter(a->app, t, ts_ns, &v->entry);
}

static void part_leave(struct parts *a, const struct model_thread *t, uint32_t id, uint64_t ts_ns)
{
	struct part_visits *v = visits_get(a, t, id);

	if (!v->in)
		return;
	v->in = false;
	app_time_leave(a->app, t, &v->entry, ts_ns, &v->sums);
	stretch_add(a, v, v->entry.ts_ns, ts_ns);
}

static void thread_leave(struct parts *a, const struct model_thread *t, uint64_t ts_ns)
{
	uint32_t n = t->idx < a->nthread ? a->thread[t->idx].npart : 0;

	for (uint32_t id = 0; id < n; id++)
		if (a->thread[t->idx].part[id])
			part_leave(a, t, id, ts_ns);
}

/* ---- records of the model ---- */

static void on_region(void *ctx, const struct model_region *r)
{
	if (!r->thread->proc->is_rank || r->recursive)
		return;
	if (r->ended == REGION_UNDER_WAY)
		part_enter(ctx, r->thread, r->region, r->begin_ns);
	else
		part_leave(ctx, r->thread, r->region, r->end_ns);
}

static bool is_open(const struct part_thread *t, uint32_t name)
{
	return table_any(PHASE_LEVELS, l, t->open[l] == name);
}

/* Number of a phase's name. 0: there are too many phases. */
static uint32_t phase_name(struct parts *a, const char *text)
{
	uint32_t name = names_id(&a->phases, text);

	if (name <= PARTS_MAX)
		return name;
	a->left_out++;
	return 0;
}

/* Begins a phase, or ends the open phase at its level. Finer phases end with it. */
static void phases_change(struct parts *a, const struct model_thread *t, uint32_t level,
			  uint32_t name, uint64_t ts_ns)
{
	struct part_thread *own = table_row(a->thread, a->nthread, t->idx);
	uint32_t was[PHASE_LEVELS];

	memcpy(was, own->open, sizeof(was));
	memset(&own->open[level], 0, (PHASE_LEVELS - level) * sizeof(*own->open));
	own->open[level] = name;
	for (uint32_t l = 0; l < PHASE_LEVELS; l++)
		if (was[l] && !is_open(own, was[l]))
			part_leave(a, t, a->nregion + was[l] - 1, ts_ns);
	if (name)
		part_enter(a, t, a->nregion + name - 1, ts_ns);
}

static void on_call(void *ctx, const struct model_call *c)
{
	struct parts *a = ctx;
	const struct call_roles *r = &c->view->roles;

	if (!r->mark || c->nested || c->open || c->unwound || !c->thread->proc->is_rank ||
	    r->mark_level >= PHASE_LEVELS)
		return;
	phases_change(a, c->thread, r->mark_level,
		      r->mark == MARK_BEGIN ? phase_name(a, r->mark_name) : 0, c->end_ns);
}

static void on_thread_exit(void *ctx, const struct model_thread *t, uint64_t ts_ns)
{
	thread_leave(ctx, t, ts_ns);
}

static void on_start(void *ctx, const struct model *m)
{
	struct parts *a = ctx;

	a->model = m;
	a->nregion = model_region_count(m);
}

static void on_finish(void *ctx, const struct model *m)
{
	struct parts *a = ctx;

	for (uint32_t i = 0; i < a->nthread && i < model_thread_count(m); i++)
		thread_leave(a, model_thread_get(m, i), model_thread_get(m, i)->end_ns);
}

/* ---- init and release ---- */

void parts_init(struct parts *a, const struct app_time *app, size_t room_bytes)
{
	*a = (struct parts){
		.sink = {.ctx = a,
			 .start = on_start,
			 .region = on_region,
			 .call = on_call,
			 .thread_exit = on_thread_exit,
			 .finish = on_finish},
		.app = app,
		.room_bytes = room_bytes,
	};
}

void parts_release(struct parts *a)
{
	for (uint32_t i = 0; i < a->nthread; i++) {
		for (uint32_t id = 0; id < a->thread[i].npart; id++) {
			if (a->thread[i].part[id])
				free(a->thread[i].part[id]->stretch);
			free(a->thread[i].part[id]);
		}
		free(a->thread[i].part);
	}
	free(a->thread);
	free(a->row);
	names_release(&a->phases);
}

/* ---- stretches of a part ---- */

/* A part in one job. */
struct place {
	const struct parts *a;
	const struct account *account;
	const struct account_job *job;
	uint32_t id;
};

/* Stretches in one allocation. */
struct stretches {
	struct whatif_stretch *s;
	uint32_t n;
};

/* NULL: the thread was never in the part. */
static const struct part_visits *part_visits_of(const struct parts *a, uint32_t thread, uint32_t id)
{
	const struct part_thread *t = thread < a->nthread ? &a->thread[thread] : NULL;

	return t && id < t->npart ? t->part[id] : NULL;
}

/* Clips a thread's stretches to its window. Writes them to out and returns their number. */
static uint32_t thread_clip(const struct place *p, uint32_t thread, struct whatif_stretch *out)
{
	const struct part_visits *v = part_visits_of(p->a, thread, p->id);
	const struct app_thread *window = &p->a->app->thread[thread];
	uint32_t n = 0;

	for (uint32_t i = 0; v && i < v->n; i++) {
		struct whatif_stretch s = v->stretch[i];

		s.from_ns = u64_max(s.from_ns, window->from_ns);
		s.to_ns = u64_min(s.to_ns, window->to_ns);
		if (s.from_ns < s.to_ns)
			out[n++] = s;
	}
	return n;
}

static uint32_t visits_count(const struct place *p, uint32_t thread)
{
	const struct part_visits *v = part_visits_of(p->a, thread, p->id);

	return v ? v->n : 0;
}

static uint64_t stretches_ns(const struct stretches *all)
{
	return table_sum(all->n, i, all->s[i].to_ns - all->s[i].from_ns);
}

/* ---- duration ---- */

TABLE_ORDER(stretch_compare, struct whatif_stretch, u64_compare(a->from_ns, b->from_ns))

/* Length of the union of all stretches. Sorts them. */
static uint64_t any_ns(struct stretches *all)
{
	uint64_t ns = 0, until_ns = 0;

	table_sort(all->s, all->n, stretch_compare);
	for (uint32_t i = 0; i < all->n; i++) {
		const struct whatif_stretch *s = &all->s[i];

		if (s->to_ns <= until_ns)
			continue;
		ns += s->to_ns - u64_max(s->from_ns, until_ns);
		until_ns = s->to_ns;
	}
	return ns;
}

/* Adds a rank to the sums, and its stretches to `all`. */
static void rank_add(const struct place *p, const struct account_rank *r, struct stretches *all,
		     struct efficiency_sums *sums)
{
	static const struct causes_waiting none;
	struct stretches own = {all->s + all->n, thread_clip(p, r->thread, all->s + all->n)};
	struct account_row row;
	struct app_thread t;

	if (!own.n)
		return;
	t = app_time_of(&part_visits_of(p->a, r->thread, p->id)->sums, stretches_ns(&own));
	row = account_thread(&t, &none, p->account->sched);
	efficiency_rank_add(sums, &row);
	all->n += own.n;
}

/* Makes the sums, without the longest path. False: none of the job's ranks was in the part. */
static bool sums_make(const struct place *p, struct efficiency_sums *sums, struct part_row *row)
{
	uint32_t end = p->job->first + p->job->n, most = 0;
	struct stretches all = {0};

	*sums = (struct efficiency_sums){.sched = p->account->sched};
	for (uint32_t i = p->job->first; i < end; i++)
		most += visits_count(p, p->account->rank[i].thread);
	if (!most)
		return false;
	all.s = xcalloc(most, sizeof(*all.s));
	for (uint32_t i = p->job->first; i < end; i++)
		rank_add(p, &p->account->rank[i], &all, sums);
	sums->span_ns = any_ns(&all);
	row->entered = all.n;
	row->inside_ns = stretches_ns(&all);
	row->inside = sums->span_ns ?
			      (double)row->inside_ns / (double)sums->span_ns / (double)sums->ranks :
			      NAN;
	free(all.s);
	return sums->ranks > 0;
}

/* ---- the longest path ---- */

/*
 * Makes the input for the longest path: each thread's time in the part. The path may lead through
 * all threads of the job. It ends only in ranks' main threads.
 */
static struct whatif_part *paths_make(const struct place *p, struct stretches *all)
{
	uint32_t n = model_thread_count(p->a->model), most = 0;
	struct whatif_part *part = xcalloc(n + 1, sizeof(*part));

	for (uint32_t i = 0; i < n; i++)
		most += visits_count(p, i);
	all->s = xcalloc(most + 1, sizeof(*all->s));
	for (uint32_t i = 0; i < n && i < p->a->app->nthread; i++) {
		const struct model_thread *t = model_thread_get(p->a->model, i);
		const struct account_rank *r = account_of_job(p->account, p->job, t->proc->idx);

		if (!r || !p->a->app->thread[i].window_ns)
			continue;
		part[i] = (struct whatif_part){all->s + all->n, thread_clip(p, i, all->s + all->n),
					       true, i == r->thread};
		all->n += part[i].n;
	}
	return part;
}

static void path_find(const struct place *p, struct part_row *row, struct whatif *w, bool partial)
{
	struct stretches all = {0};
	struct whatif_part *part = paths_make(p, &all);
	struct efficiency_sums sums;

	if (sums_make(p, &sums, row))
		row->e = efficiency_of(&sums, w, part, partial);
	free(part);
	free(all.s);
}

/* ---- rows ---- */

TABLE_ORDER(row_compare, struct part_row, table_compare(a->job, b->job),
	    table_compare(a->is_phase, b->is_phase),
	    (a->is_phase ? table_compare(b->inside_ns, a->inside_ns) : 0),
	    table_compare(a->id, b->id))

static void row_add(struct parts *a, const struct place *p, uint32_t job, bool partial)
{
	struct efficiency_sums sums;
	struct part_row row = {.id = p->id, .job = job, .is_phase = p->id >= a->nregion};

	if (!sums_make(p, &sums, &row))
		return;
	row.name = row.is_phase ? names_text(&a->phases, p->id - a->nregion + 1) :
				  model_region_name(a->model, p->id);
	row.e = efficiency_of(&sums, NULL, NULL, partial);
	if (row.e.unknown == EFFICIENCY_TOO_LONG)
		row.e.unknown = EFFICIENCY_NOT_REPLAYED;
	*table_append(a->row, a->nrow) = row;
}

/*
 * Of the parts without a longest path so far, the one that ranks spent most time in. NULL: there is
 * none.
 */
static struct part_row *part_largest(const struct parts *a)
{
	struct part_row *most = NULL;

	for (uint32_t i = 0; i < a->nrow; i++)
		if (a->row[i].e.unknown == EFFICIENCY_NOT_REPLAYED &&
		    (!most || a->row[i].inside_ns > most->inside_ns))
			most = &a->row[i];
	return most;
}

void parts_conclude(struct parts *a, const struct account *account, struct whatif *w, bool partial)
{
	uint32_t nphase = a->phases.n < PARTS_MAX ? a->phases.n : PARTS_MAX;
	struct part_row *row;

	for (uint32_t job = 0; job < account->njob && !a->full; job++)
		for (uint32_t id = 0; id < a->nregion + nphase; id++)
			row_add(a, &(struct place){a, account, &account->job[job], id}, job,
				partial);
	for (int i = 0; i < PARTS_PATHS_MAX && (row = part_largest(a)); i++)
		path_find(&(struct place){a, account, &account->job[row->job], row->id}, row, w,
			  partial);
	table_sort(a->row, a->nrow, row_compare);
}
