/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* See epochs.h. */
#include "analysis/epochs.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/find.h"
#include "lib/log.h"
#include "lib/table.h"

/* An access lasts from start to complete, an exposure from post to wait. */
enum side { ACCESS, EXPOSURE, SIDES };

/* A process on the other side of the epoch. */
struct other {
	struct epoch *epoch; /* of an access: the matching exposure */
	/* of an access: its index among the others of that exposure */
	uint32_t place;
	/* the call that is waited for: post or complete */
	struct arrival_call call;
};

struct epoch {
	struct epoch *next, **link; /* list of the window's epochs */
	enum side side;
	struct arrival_call begin, end;
	bool over; /* `end` is known */
	/* number of others whose calls are not known yet */
	uint32_t missing;
	uint32_t n;
	struct other other[];
};

/* Entries of one side's epochs that wait for their other side, for one origin and one target. */
struct queue {
	struct queued {
		struct epoch *epoch;
		uint32_t place;
	} * entry; /* owned */
	uint32_t first, n, room;
};

struct epoch_pair {
	struct queue queue[SIDES];
};

struct epoch_window {
	struct map pairs;	 /* origin, target → struct epoch_pair */
	struct map begun[SIDES]; /* process idx → its epoch in progress */
	struct epoch *epochs;	 /* list of all epochs; owned */
};

/* ---- waits ---- */

struct arrival_call epoch_call(const struct model_call *k, bool waits)
{
	return (struct arrival_call){
		.thread = k->thread,
		.func = k->func,
		.site = k->site,
		.begin_ns = k->begin_ns,
		.end_ns = k->end_ns,
		.waits = waits,
	};
}

void epochs_add(struct epochs *a, enum epoch_kind kind, struct arrival_call *call, uint32_t calls)
{
	struct arrival_joint joint = {.call = call, .calls = calls};
	const struct arrival_call *waiter = call;
	struct arrival_step *step;
	uint64_t each_ns = 0;
	uint32_t s = 0;

	joint.step = step = arrival_steps(call, calls, &joint.steps);
	while (!waiter->waits)
		waiter++;
	for (uint32_t i = 0; i < calls; i++) {
		for (; s < joint.steps && step[s].to_ns <= call[i].begin_ns; s++)
			each_ns += step[s].each_ns;
		if (each_ns)
			waited_for_add(&a->waits[kind], waiter->thread->proc, call[i].thread->proc,
				       each_ns, waiter->begin_ns, call[i].begin_ns, waiter->func);
	}
	if (joint.steps)
		observers_notify(&a->joints, &(struct epoch_joint){kind, waiter->thread, &joint});
	free(step);
}

/* Reports a wait of one call of an epoch for the calls of the others. */
static void epoch_emit(struct epochs *a, enum epoch_kind kind, const struct epoch *e,
		       const struct arrival_call *waiter)
{
	struct arrival_call *call = xmalloc((e->n + 1) * sizeof(*call));

	call[0] = *waiter;
	for (uint32_t i = 0; i < e->n; i++)
		call[i + 1] = e->other[i].call;
	epochs_add(a, kind, call, e->n + 1);
	free(call);
}

/* ---- epochs ---- */

static void epoch_free(struct epochs *a, struct epoch *e)
{
	*e->link = e->next;
	if (e->next)
		e->next->link = e->link;
	a->kept -= e->n;
	free(e);
}

/* Reports the epoch's waits and frees it, if everything that it waited for is known. */
static void epoch_settle(struct epochs *a, struct epoch *e)
{
	if (!e->over || e->missing)
		return;
	if (e->side == ACCESS) {
		epoch_emit(a, EPOCH_LATE_POST, e, &e->begin);
		epoch_emit(a, EPOCH_LATE_POST, e, &e->end);
	} else if (e->end.waits) {
		epoch_emit(a, EPOCH_LATE_COMPLETE, e, &e->end);
	}
	epoch_free(a, e);
}

/* Notes for an exposure that one of its origins called MPI_Win_complete. */
static void complete_emit(struct epochs *a, const struct other *exposure,
			  const struct arrival_call *complete)
{
	struct epoch *e = exposure->epoch;
	struct arrival_call *call = &e->other[exposure->place].call;

	*call = *complete;
	call->waits = false;
	e->missing--;
	epoch_settle(a, e);
}

static void epochs_match(struct epochs *a, const struct queued *access,
			 const struct queued *exposure)
{
	struct other *o = &access->epoch->other[access->place];

	o->epoch = exposure->epoch;
	o->place = exposure->place;
	o->call = exposure->epoch->begin;
	table_row(a->process, a->nprocess, access->epoch->begin.thread->proc->idx)
		->accesses[EPOCH_MATCHED]++;
	table_row(a->process, a->nprocess, exposure->epoch->begin.thread->proc->idx)
		->exposures[EPOCH_MATCHED]++;
	access->epoch->missing--;
	if (access->epoch->over)
		complete_emit(a, o, &access->epoch->end);
	epoch_settle(a, access->epoch);
}

static void queue_put(struct queue *q, struct queued what)
{
	if (q->first > q->n / 2) {
		q->n -= q->first;
		memmove(q->entry, q->entry + q->first, q->n * sizeof(*q->entry));
		q->first = 0;
	}
	*table_add(q->entry, q->n, q->room) = what;
}

/*
 * Matches an epoch, for one process that it names, with the first unmatched epoch of that process.
 */
static void side_add(struct epochs *a, struct epoch_window *w, struct epoch *e, uint32_t place,
		     int32_t self, int32_t named)
{
	uint32_t origin = (uint32_t)(e->side == ACCESS ? self : named);
	uint32_t target = (uint32_t)(e->side == ACCESS ? named : self);
	struct epoch_pair *p = map_make(&w->pairs, map_pair(origin, target), sizeof(*p));
	struct queue *others = &p->queue[!e->side];
	const struct queued own = {e, place};

	if (others->first == others->n)
		queue_put(&p->queue[e->side], own);
	else if (e->side == ACCESS)
		epochs_match(a, &own, &others->entry[others->first++]);
	else
		epochs_match(a, &others->entry[others->first++], &own);
}

static struct epoch *epoch_new(struct epochs *a, struct epoch_window *w, enum side side,
			       const struct model_call *k)
{
	uint32_t n = k->view->roles.window->ngroup;
	struct epoch *e = xcalloc(1, sizeof(*e) + n * sizeof(e->other[0]));

	e->side = side;
	e->begin = epoch_call(k, side == ACCESS);
	e->n = e->missing = n;
	e->next = w->epochs;
	e->link = &w->epochs;
	if (e->next)
		e->next->link = &e->next;
	w->epochs = e;
	a->kept += n;
	return e;
}

/* ---- calls ---- */

static uint64_t *row_of(struct epochs *a, enum side side, const struct model_process *p)
{
	struct epoch_row *r = table_row(a->process, a->nprocess, p->idx);

	return side == ACCESS ? r->accesses : r->exposures;
}

/*
 * Reason for not matching a new epoch, or EPOCH_MATCHED. Sets a->full for good once too many are
 * kept.
 */
static enum epoch_why epoch_why_unmatched(struct epochs *a, const struct model_call *k)
{
	const struct call_window *c = k->view->roles.window;

	if (!c->number)
		return EPOCH_WINDOW_UNKNOWN;
	if (c->rank < 0 || !c->group)
		return EPOCH_GROUP_UNKNOWN;
	if (a->lost || model_ran_before(a->model, k->thread->proc))
		return EPOCH_UNCERTAIN;
	a->full |= a->kept + c->ngroup > EPOCHS_KEPT_MAX;
	return a->full ? EPOCH_TOO_MANY : EPOCH_MATCHED;
}

static void on_begin(struct epochs *a, struct epoch_window *w, enum side side,
		     const struct model_call *k)
{
	const struct call_window *c = k->view->roles.window;
	enum epoch_why why = epoch_why_unmatched(a, k);
	struct epoch *e;

	if (why != EPOCH_MATCHED) {
		row_of(a, side, k->thread->proc)[why] += c->group ? c->ngroup : 1;
		(void)map_remove(&w->begun[side], k->thread->proc->idx);
		return;
	}
	e = epoch_new(a, w, side, k);
	(void)map_set(&w->begun[side], k->thread->proc->idx, e);
	/* an earlier epoch that never ended stays in the list */
	for (uint32_t i = 0; i < c->ngroup; i++)
		side_add(a, w, e, i, c->rank, c->group[i]);
}

static void on_end(struct epochs *a, struct epoch_window *w, enum side side,
		   const struct model_call *k)
{
	struct epoch *e = map_remove(&w->begun[side], k->thread->proc->idx);

	if (!e)
		return;
	e->end = epoch_call(k, k->func->waits);
	e->over = true;
	for (uint32_t i = 0; side == ACCESS && i < e->n; i++)
		if (e->other[i].epoch)
			complete_emit(a, &e->other[i], &e->end);
	epoch_settle(a, e);
}

uint64_t epoch_window_key(const struct call_roles *r)
{
	return r->window->number ? map_pair(r->window->number, r->comm_id) : 0;
}

static void on_call(void *ctx, const struct model_call *k)
{
	const struct call_window *c = k->view->roles.window;
	struct epochs *a = ctx;
	struct epoch_window *w;

	if (!c || k->nested || c->event < WIN_POST || c->event > WIN_WAIT)
		return;
	w = map_make(&a->windows, epoch_window_key(&k->view->roles), sizeof(*w));
	switch (c->event) {
	case WIN_POST:
		on_begin(a, w, EXPOSURE, k);
		break;
	case WIN_START:
		on_begin(a, w, ACCESS, k);
		break;
	case WIN_COMPLETE:
		on_end(a, w, ACCESS, k);
		break;
	default:
		on_end(a, w, EXPOSURE, k);
	}
}

static void on_lost(void *ctx, const struct model_lost *l)
{
	((struct epochs *)ctx)->lost |= model_lost_calls(l, "rma");
}

static void epochs_left_count(struct epochs *a, enum side side, const struct queue *q)
{
	for (uint32_t n = q->first; n < q->n; n++)
		row_of(a, side, q->entry[n].epoch->begin.thread->proc)[EPOCH_NO_OTHER]++;
}

/* Counts the epochs whose other side never came. */
static void on_finish(void *ctx, const struct model *m)
{
	const struct epoch_window *w;
	struct epochs *a = ctx;

	for (size_t at = 0; (w = map_next(&a->windows, &at, NULL));) {
		const struct epoch_pair *p;

		for (size_t i = 0; (p = map_next(&w->pairs, &i, NULL));)
			for (int side = 0; side < SIDES; side++)
				epochs_left_count(a, side, &p->queue[side]);
	}
}

/* ---- init and release ---- */

void epochs_init(struct epochs *a)
{
	*a = (struct epochs){
		.sink = {.ctx = a,
			 .model = &a->model,
			 .call = on_call,
			 .lost = on_lost,
			 .finish = on_finish},
	};
}

static void pair_free(void *value)
{
	struct epoch_pair *p = value;

	for (int side = 0; side < SIDES; side++)
		free(p->queue[side].entry);
	free(p);
}

void epochs_release(struct epochs *a)
{
	struct epoch_window *w;

	for (size_t at = 0; (w = map_next(&a->windows, &at, NULL));) {
		while (w->epochs)
			epoch_free(a, w->epochs);
		for (int side = 0; side < SIDES; side++)
			map_release(&w->begun[side]);
		map_free(&w->pairs, pair_free);
	}
	map_free(&a->windows, free);
	for (int kind = 0; kind < EPOCH_KINDS; kind++)
		map_free(&a->waits[kind], free);
	free(a->process);
}

const struct epoch_row *epochs_of(const struct epochs *a, uint32_t idx)
{
	return table_get(a->process, a->nprocess, idx);
}

/* ---- the finding ---- */

static const struct {
	const char *kind, *before, *after; /* words around the late rank */
} kinds[EPOCH_KINDS] = {
	[EPOCH_LATE_POST] = {"late_post", "to access memory of ",
			     ", which had not called MPI_Win_post yet"},
	[EPOCH_LATE_COMPLETE] = {"late_complete", "for the end of accesses to their memory by ",
				 ", which had not called MPI_Win_complete yet"},
	[EPOCH_LOCKED] = {"lock_contention", "for the lock of a window that ", " held"},
	[EPOCH_NO_PROGRESS] = {"late_progress", "to access memory of ",
			       ", which was outside MPI until then"},
};

/* Adds a finding about the n ranks that waited for one process. */
static void epoch_add(struct findings *f, int kind, const struct waited_for *w, uint32_t n)
{
	const struct waited_for all = waited_for_sum(w, n);
	const struct model_process *late = model_process_get(f->model, all.late);
	char *text = xasprintf("ranks waited %s %s%s%s", phrase_ns(all.ns).text, kinds[kind].before,
			       phrase_process(f, late).text, kinds[kind].after);

	text = words_causes(f, words_waiters(f, text, w, n), CAUSE_EPOCH + kind, all.late, all.ns);
	finding_add(f, &(struct finding){
			       .kind = kinds[kind].kind,
			       .cost_ns = all.ns,
			       .text = text,
			       .advice = kind == EPOCH_NO_PROGRESS ? advice_target(f) : NULL,
			       .process = all.late,
			       .from_ns = all.worst_from_ns,
			       .to_ns = all.worst_to_ns,
		       });
}

void find_epochs(struct findings *f)
{
	for (int kind = 0; kind < EPOCH_KINDS; kind++)
		waiters_each(f, &f->epochs.waits[kind], kind, epoch_add);
}
