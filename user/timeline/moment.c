/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* See moment.h. Bands are filled by moment_band.c, CPUs by moment_core.c; here is what both are told. */
#include "timeline/moment.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "abi/event.h"
#include "analysis/table.h"
#include "lib/human.h"
#include "lib/log.h"
#include "timeline/select.h"

/* ---- columns ---- */

uint64_t moment_column_ns(const struct moment *mo, uint32_t column)
{
	unsigned __int128 at = (unsigned __int128)(mo->to_ns - mo->from_ns) * column;

	return mo->from_ns + (uint64_t)((at + MOMENT_COLUMNS - 1) / MOMENT_COLUMNS);
}

uint32_t moment_column(const struct moment *mo, uint64_t ns)
{
	unsigned __int128 at = (unsigned __int128)(ns - mo->from_ns) * MOMENT_COLUMNS;

	return (uint32_t)(at / (mo->to_ns - mo->from_ns));
}

enum moment_state moment_cell_state(const struct moment_cell *c)
{
	enum moment_state most = MOMENT_STATES;
	uint64_t most_ns = 0;

	for (int s = 0; s < MOMENT_STATES; s++) {
		if (c->ns[s] > most_ns) {
			most = (enum moment_state)s;
			most_ns = c->ns[s];
		}
	}
	return most;
}

static uint64_t clip(const struct moment *mo, uint64_t ns)
{
	return ns < mo->from_ns ? mo->from_ns : ns > mo->to_ns ? mo->to_ns : ns;
}

/* ---- what the model tells ---- */

static bool rank_shown(const struct moment *mo, const struct model_process *p)
{
	return p->is_rank && select_process(mo->select, p);
}

static struct moment_band *band_of(const struct moment *mo, const struct model_thread *t)
{
	return t->idx < mo->nof_thread ? mo->of_thread[t->idx] : NULL;
}

/* With only some tasks recorded, nothing tells how long another one stayed. */
static bool thread_recorded(const struct moment *mo, const struct model_thread *t)
{
	return mo->sched_all || (!t->idle && t->proc->is_target);
}

static void on_state(void *ctx, const struct model_thread *t, uint64_t from_ns, uint64_t to_ns,
		     enum thread_state s, uint16_t cpu)
{
	struct moment *mo = ctx;
	struct moment_band *b = band_of(mo, t);

	from_ns = clip(mo, from_ns);
	to_ns = clip(mo, to_ns);
	if (from_ns >= to_ns)
		return;
	if (b)
		moment_band_state(mo, b, from_ns, to_ns, s);
	if (s == THREAD_RUNNING && thread_recorded(mo, t))
		moment_core_ran(mo, t, from_ns, to_ns, cpu, rank_shown(mo, t->proc));
}

static bool func_shown(const struct moment *mo, const char *name)
{
	for (uint32_t i = 0; i < mo->select->nfunctions; i++)
		if (!fnmatch(mo->select->functions[i], name, 0))
			return true;
	return !mo->select->nfunctions;
}

/* One that there is room to name. */
static void call_keep(const struct moment *mo, struct moment_band *b, const char *name,
		      uint64_t begin_ns, uint64_t end_ns, uint64_t polls)
{
	uint64_t from_ns = clip(mo, begin_ns), to_ns = clip(mo, end_ns);
	uint32_t columns = mo->nband > 3 * MOMENT_CALL_COLUMNS ? mo->nband / 3 :
								 MOMENT_CALL_COLUMNS;
	uint64_t least_ns = (mo->to_ns - mo->from_ns) / MOMENT_COLUMNS * columns;

	if (to_ns - from_ns < least_ns || from_ns >= to_ns || !func_shown(mo, name))
		return;
	if (b->ncall == b->call_room) {
		b->call_room = b->call_room ? 2 * b->call_room : 16;
		b->call = xrealloc(b->call, b->call_room * sizeof(*b->call));
	}
	b->call[b->ncall++] = (struct moment_call){name, begin_ns, end_ns, polls};
}

static void on_call(void *ctx, const struct model_call *c)
{
	struct moment *mo = ctx;
	struct moment_band *b = band_of(mo, c->thread);

	if (!b || c->nested || c->end_only || !func_is_top(c->func))
		return;
	moment_band_call(mo, b, c->begin_ns, c->end_ns,
			 c->func->setup || c->func->file_io ? MOMENT_SETUP :
			 c->func->waits			    ? MOMENT_WAITS :
							      MOMENT_WORKS);
	call_keep(mo, b, c->func->name, c->begin_ns, c->end_ns, 0);
}

/* Adds ns, which are spread evenly from a time to another, to a member of the cells that these lie in. */
static void cells_spread(const struct moment *mo, struct moment_band *b, uint64_t from_ns,
			 uint64_t to_ns, uint64_t ns, size_t member)
{
	double part = to_ns > from_ns ? (double)ns / (double)(to_ns - from_ns) : 0;
	uint32_t column;

	from_ns = clip(mo, from_ns);
	to_ns = clip(mo, to_ns);
	column = from_ns < to_ns ? moment_column(mo, from_ns) : 0;
	for (; from_ns < to_ns; column++) {
		uint64_t end_ns = moment_column_ns(mo, column + 1);

		end_ns = end_ns < to_ns ? end_ns : to_ns;
		*(uint64_t *)((char *)&b->cell[column] +
			      member) += (uint64_t)(part * (double)(end_ns - from_ns));
		from_ns = end_ns;
	}
}

/* Polls that lie in a computation wait for as long as they take themselves. */
static void on_spin(void *ctx, const struct model_spin *s)
{
	struct moment *mo = ctx;
	struct moment_band *b = band_of(mo, s->thread);

	if (!b || s->nested || !s->nfuncs || !func_is_top(s->func[0].func))
		return;
	if (s->computes) {
		cells_spread(mo, b, s->begin_ns, s->end_ns, s->running_ns,
			     offsetof(struct moment_cell, polled_ns));
		return;
	}
	moment_band_call(mo, b, s->begin_ns, s->end_ns, MOMENT_POLLS);
	call_keep(mo, b, s->func[0].func->name, s->begin_ns, s->end_ns, s->cnt);
}

static void on_counted(void *ctx, const struct model_counted *c)
{
	struct moment *mo = ctx;
	struct moment_band *b = band_of(mo, c->thread);

	if (b && !c->nested && func_is_top(c->func))
		cells_spread(mo, b, c->begin_ns, c->end_ns, c->busy_ns,
			     offsetof(struct moment_cell, counted_ns));
}

static void on_room(void *ctx, const struct model_room *r)
{
	struct moment *mo = ctx;
	struct moment_band *b = band_of(mo, r->thread);

	if (b)
		cells_spread(mo, b, r->begin_ns, r->end_ns, r->end_ns - r->begin_ns,
			     offsetof(struct moment_cell, room_ns));
}

static void on_held(void *ctx, const struct model_thread *waiter, const struct model_thread *holder,
		    uint64_t from_ns, uint64_t to_ns)
{
	struct moment *mo = ctx;
	struct moment_band *b = band_of(mo, waiter);

	if (b && holder && model_thread_records(mo->model, holder))
		cells_spread(mo, b, from_ns, to_ns, to_ns - from_ns,
			     offsetof(struct moment_cell, taken_ns));
}

/* Calls are missing: what looks like computing may have been one. */
static void on_lost(void *ctx, const struct model_lost *l)
{
	struct moment *mo = ctx;
	uint64_t from_ns = clip(mo, l->since_ns), to_ns = clip(mo, l->ts_ns);

	if (l->left_out || (l->class != POV_CLASS_CALL && l->class != POV_CLASS_SPIN))
		return;
	for (uint32_t i = from_ns < to_ns ? moment_column(mo, from_ns) : 0; from_ns < to_ns; i++) {
		uint64_t end_ns = moment_column_ns(mo, i + 1);

		end_ns = end_ns < to_ns ? end_ns : to_ns;
		mo->lost_ns[i] += end_ns - from_ns;
		from_ns = end_ns;
	}
}

void moment_message_add(void *ctx, const struct match *m)
{
	struct moment *mo = ctx;

	if (!m->recv.completer || m->send.begin_ns < mo->from_ns || m->recv.end_ns > mo->to_ns ||
	    m->send.begin_ns > m->recv.end_ns || !rank_shown(mo, m->send.process) ||
	    !rank_shown(mo, m->recv.process) || m->send.process == m->recv.process ||
	    !func_shown(mo, m->send.func->name) || !func_shown(mo, m->recv.func->name))
		return;
	if (mo->nmessages < MOMENT_ARROWS_MAX)
		mo->message[mo->nmessages] = (struct moment_message){
			.from = m->send.process,
			.to = m->recv.process,
			.send = m->send.func->name,
			.recv = m->recv.func->name,
			.from_ns = m->send.begin_ns,
			.to_ns = m->recv.end_ns,
			.bytes = m->bytes,
			.tag = m->tag,
		};
	mo->nmessages++;
}

/* ---- life ---- */

int moment_open(struct moment *mo, const struct model *m, const struct writer_select *select)
{
	const struct model_info *info = model_get_info(m);
	uint64_t all_ns = info->end_ns > info->start_ns ? info->end_ns - info->start_ns : 0;
	uint64_t to_ns = select->to_ns && select->to_ns < all_ns ? select->to_ns : all_ns;
	uint64_t ns = to_ns > select->from_ns ? to_ns - select->from_ns : 0;
	char text[HUMAN_BYTES];

	if (ns < MOMENT_COLUMNS) {
		log_error("export: there is nothing to draw: %s of the recording, and a picture "
			  "has %d columns",
			  human_ns(text, sizeof(text), ns), MOMENT_COLUMNS);
		return -ENOENT;
	}
	*mo = (struct moment){
		.model = m,
		.select = select,
		.start_ns = info->start_ns,
		.from_ns = info->start_ns + select->from_ns,
		.to_ns = info->start_ns + to_ns,
		.sched_recorded = info->sched_recorded,
		.sched_all = info->sched_all,
	};
	holders_init(&mo->holders);
	return 0;
}

void moment_release(struct moment *mo)
{
	for (uint32_t i = 0; i < mo->nband; i++)
		moment_band_release(&mo->band[i]);
	free(mo->band);
	free(mo->of_thread);
	moment_cores_release(mo);
	holders_release(&mo->holders);
}

static void bands_make(struct moment *mo)
{
	mo->band = xcalloc(MOMENT_RANKS_MAX, sizeof(*mo->band));
	for (uint32_t i = 0; i < model_process_count(mo->model); i++) {
		const struct model_process *p = model_process_get(mo->model, i);
		const struct app_process *a = i < mo->app->nprocess ? &mo->app->process[i] : NULL;
		const struct model_thread *main = a && a->has_main ?
							  model_thread_get(mo->model, a->main) :
							  NULL;

		if (!rank_shown(mo, p) || p->start_ns >= mo->to_ns || p->end_ns <= mo->from_ns ||
		    mo->nranks++ >= MOMENT_RANKS_MAX)
			continue;
		moment_band_init(&mo->band[mo->nband], p, main);
		if (main)
			*(table_row(mo->of_thread, mo->nof_thread, main->idx)) =
				&mo->band[mo->nband];
		mo->nband++;
	}
}

void moment_begin(struct moment *mo, const struct app_time *app)
{
	mo->app = app;
	mo->holders.tell = on_held;
	mo->holders.ctx = mo;
	mo->sink = (struct model_sink){.ctx = mo,
				       .call = on_call,
				       .spin = on_spin,
				       .counted = on_counted,
				       .room = on_room,
				       .lost = on_lost,
				       .state = on_state};
	bands_make(mo);
}

void moment_finish(struct moment *mo)
{
	for (uint32_t i = 0; i < mo->nband; i++)
		moment_band_finish(mo, &mo->band[i]);
	moment_cores_finish(mo);
}

bool moment_has_something(const struct moment *mo)
{
	for (uint32_t i = 0; i < mo->nband; i++)
		for (uint32_t c = 0; c < MOMENT_COLUMNS; c++)
			if (moment_cell_state(&mo->band[i].cell[c]) < MOMENT_UNKNOWN)
				return true;
	for (uint32_t i = 0; i < mo->ncore; i++)
		if (moment_core_shown(mo, i))
			return true;
	return false;
}
