/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Records when each thread of a rank was in which phase and region, and what it did there. */
#include "analysis/parts.h"

#include <stdlib.h>

#include "analysis/parts_internal.h"
#include "analysis/table.h"

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

	from_ns = from_ns > last_ns ? from_ns : last_ns;
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
	for (uint32_t l = 0; l < PHASE_LEVELS; l++)
		if (t->open[l] == name)
			return true;
	return false;
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

static int on_finish(void *ctx, const struct model *m)
{
	struct parts *a = ctx;

	for (uint32_t i = 0; i < a->nthread && i < model_thread_count(m); i++)
		thread_leave(a, model_thread_get(m, i), model_thread_get(m, i)->end_ns);
	return 0;
}

/* ---- life ---- */

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
