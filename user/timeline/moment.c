/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* See moment.h. */
#include "timeline/moment.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "lib/human.h"
#include "lib/log.h"
#include "lib/table.h"
#include "timeline/writer.h"

/* ---- CPUs ---- */

/*
 * Which thread used each CPU most, by columns. Reports for a CPU come in time order, so times per
 * thread are stored for the current column only.
 */

static struct moment_core *core_of(struct moment *mo, uint32_t cpu)
{
	struct moment_core *c = table_row(mo->core, mo->ncore, cpu);

	if (!c->who)
		c->who = xcalloc(MOMENT_COLUMNS, sizeof(*c->who));
	return c;
}

/* Closes the current column. The owner is whoever used most of it, or nobody if most is unknown. */
static void core_settle(const struct moment *mo, struct moment_core *c)
{
	uint64_t rest_ns = moment_column_ns(&mo->bands, c->column + 1) -
			   moment_column_ns(&mo->bands, c->column);
	uint64_t most_ns = 0;
	uint32_t most = MOMENT_NOT_RECORDED;

	for (uint32_t i = 0; i < c->nparts; i++) {
		rest_ns -= c->part[i].ns < rest_ns ? c->part[i].ns : rest_ns;
		if (c->part[i].ns > most_ns) {
			most = c->part[i].who;
			most_ns = c->part[i].ns;
		}
	}
	c->who[c->column] = rest_ns > most_ns ? MOMENT_NOT_RECORDED : most;
	c->nparts = 0;
}

static void part_add(const struct moment *mo, struct moment_core *c, uint32_t column, uint32_t who,
		     uint64_t ns)
{
	uint32_t i;

	if (column < c->column)
		return; /* contradicts earlier reports */
	if (column > c->column && c->nparts)
		core_settle(mo, c);
	c->column = column;
	for (i = 0; i < c->nparts && c->part[i].who != who;)
		i++;
	if (i == MOMENT_PARTS_MAX)
		return;
	if (i == c->nparts)
		c->part[c->nparts++] = (struct moment_part){.who = who};
	c->part[i].ns += ns;
}

static bool thread_is_main(const struct moment *mo, const struct model_thread *t)
{
	uint32_t p = t->proc->idx;

	return t->proc->is_rank && p < mo->app->nprocess && mo->app->process[p].has_main &&
	       mo->app->process[p].main == t->idx;
}

static uint32_t who_of(const struct moment *mo, const struct model_thread *t)
{
	if (t->idle)
		return MOMENT_IDLE;
	return MOMENT_WHO + 2 * t->proc->idx + !thread_is_main(mo, t);
}

const struct model_process *moment_who(const struct moment *mo, uint32_t who, bool *others)
{
	if (who < MOMENT_WHO)
		return NULL;
	*others = (who - MOMENT_WHO) & 1;
	return model_process_get(mo->model, (who - MOMENT_WHO) / 2);
}

/* A thread ran on a CPU inside the interval. rank_shown: it belongs to a displayed rank. */
static void moment_core_ran(struct moment *mo, const struct model_thread *t, uint64_t from_ns,
			    uint64_t to_ns, uint16_t cpu, bool rank_shown)
{
	struct moment_core *c = core_of(mo, cpu);
	uint32_t who = who_of(mo, t);
	struct moment_share *share = map_make(&mo->shares, map_pair(cpu, who), sizeof(*share));

	if (!share->thread)
		*share = (struct moment_share){.cpu = cpu, .who = who, .thread = t};
	share->ns += to_ns - from_ns;
	c->by_rank |= rank_shown;
	for (uint32_t column = moment_column(&mo->bands, from_ns); from_ns < to_ns; column++) {
		uint64_t end_ns = moment_column_ns(&mo->bands, column + 1);

		end_ns = end_ns < to_ns ? end_ns : to_ns;
		part_add(mo, c, column, who, end_ns - from_ns);
		from_ns = end_ns;
	}
}

bool moment_core_shown(const struct moment *mo, uint32_t cpu)
{
	return cpu < mo->ncore && mo->core[cpu].who &&
	       (mo->core[cpu].by_rank || !mo->bands.nband ||
		model_get_info(mo->model)->nr_cpus <= MOMENT_CPUS_ALL);
}

static void moment_cores_finish(struct moment *mo)
{
	for (uint32_t i = 0; i < mo->ncore; i++)
		if (mo->core[i].nparts)
			core_settle(mo, &mo->core[i]);
}

static void moment_cores_release(struct moment *mo)
{
	for (uint32_t i = 0; i < mo->ncore; i++)
		free(mo->core[i].who);
	free(mo->core);
	map_free(&mo->shares, free);
}

/* ---- ranks ---- */

/* ---- callbacks of the model ---- */

static bool rank_shown(const struct moment *mo, const struct model_process *p)
{
	return p->is_rank && select_process(mo->select, p);
}

/* If only some tasks are recorded, it is unknown how long another task stayed on its CPU. */
static bool thread_recorded(const struct moment *mo, const struct model_thread *t)
{
	return mo->sched_all || (!t->idle && t->proc->is_target);
}

static void on_state(void *ctx, const struct model_thread *t, uint64_t from_ns, uint64_t to_ns,
		     enum thread_state s, uint16_t cpu)
{
	struct moment *mo = ctx;

	from_ns = moment_clip(&mo->bands, from_ns);
	to_ns = moment_clip(&mo->bands, to_ns);
	if (from_ns < to_ns && s == THREAD_RUNNING && thread_recorded(mo, t))
		moment_core_ran(mo, t, from_ns, to_ns, cpu, rank_shown(mo, t->proc));
}

static bool func_shown(const struct moment *mo, const char *name)
{
	return table_any(mo->select->nfunctions, i, !fnmatch(mo->select->functions[i], name, 0)) ||
	       !mo->select->nfunctions;
}

/* Stores a call that is wide enough in the picture to show its name. */
static void call_keep(struct moment *mo, const struct model_thread *t, const char *name,
		      uint64_t begin_ns, uint64_t end_ns, uint64_t polls)
{
	const struct moment_bands *mb = &mo->bands;
	const struct moment_band *b = moment_band_of(mb, t);
	uint64_t from_ns = moment_clip(mb, begin_ns), to_ns = moment_clip(mb, end_ns);
	uint32_t columns = mb->nband > 3 * MOMENT_CALL_COLUMNS ? mb->nband / 3 :
								 MOMENT_CALL_COLUMNS;
	uint64_t least_ns = (mo->to_ns - mo->from_ns) / MOMENT_COLUMNS * columns;
	struct moment_calls *to;

	if (!b || to_ns - from_ns < least_ns || from_ns >= to_ns || !func_shown(mo, name))
		return;
	to = &mo->calls[b - mb->band];
	*table_append(to->call, to->n) = (struct moment_call){name, begin_ns, end_ns, polls};
}

static void on_call(void *ctx, const struct model_call *c)
{
	if (!c->nested && !c->end_only && func_is_top(c->func))
		call_keep(ctx, c->thread, c->func->name, c->begin_ns, c->end_ns, 0);
}

static void on_spin(void *ctx, const struct model_spin *s)
{
	if (!s->computes && !s->nested && s->nfuncs && func_is_top(s->func[0].func))
		call_keep(ctx, s->thread, s->func[0].func->name, s->begin_ns, s->end_ns, s->cnt);
}

void moment_message_add(void *ctx, const void *event)
{
	const struct match *m = event;
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

/* ---- open, begin, finish ---- */

int moment_open(struct moment *mo, const struct model *m, const struct writer_select *select)
{
	const struct model_info *info = model_get_info(m);
	uint64_t all_ns = info->end_ns > info->start_ns ? info->end_ns - info->start_ns : 0;
	uint64_t to_ns = select->to_ns && select->to_ns < all_ns ? select->to_ns : all_ns;
	uint64_t ns = to_ns > select->from_ns ? to_ns - select->from_ns : 0;

	if (ns < MOMENT_COLUMNS) {
		log_error("export: nothing to draw: %s of the recording is too short for a picture "
			  "of %d columns",
			  NS_TEXT(ns), MOMENT_COLUMNS);
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
	return 0;
}

void moment_release(struct moment *mo)
{
	for (uint32_t i = 0; mo->calls && i < mo->bands.nband; i++)
		free(mo->calls[i].call);
	free(mo->calls);
	if (mo->app)
		moment_bands_release(&mo->bands);
	moment_cores_release(mo);
}

/* The row of each process: the first MOMENT_RANKS_MAX ranks have one. Caller frees. */
static uint32_t *rows_make(struct moment *mo)
{
	uint32_t n = model_process_count(mo->model), *row = xmalloc((n + 1) * sizeof(*row));

	for (uint32_t i = 0; i < n; i++) {
		const struct model_process *p = model_process_get(mo->model, i);

		row[i] = MOMENT_NO_ROW;
		if (rank_shown(mo, p) && p->start_ns < mo->to_ns && p->end_ns > mo->from_ns &&
		    mo->nranks++ < MOMENT_RANKS_MAX)
			row[i] = mo->nranks - 1;
	}
	return row;
}

void moment_begin(struct moment *mo, const struct app_time *app)
{
	uint32_t *row = rows_make(mo);

	mo->app = app;
	mo->sink =
		(struct model_sink){.ctx = mo, .call = on_call, .spin = on_spin, .state = on_state};
	moment_bands_init(&mo->bands, mo->model, app, row,
			  mo->nranks < MOMENT_RANKS_MAX ? mo->nranks : MOMENT_RANKS_MAX);
	moment_bands_stretch(&mo->bands, mo->from_ns, mo->to_ns, MOMENT_COLUMNS);
	mo->calls = xcalloc(mo->bands.nband + 1, sizeof(*mo->calls));
	free(row);
}

void moment_finish(struct moment *mo)
{
	moment_bands_finish(&mo->bands);
	moment_cores_finish(mo);
}

bool moment_has_something(const struct moment *mo)
{
	for (uint32_t i = 0; i < mo->bands.nband; i++)
		for (uint32_t c = 0; c < MOMENT_COLUMNS; c++)
			if (moment_cell_state(&mo->bands.band[i].cell[c]) < MOMENT_UNKNOWN)
				return true;
	return table_any(mo->ncore, i, moment_core_shown(mo, i));
}
