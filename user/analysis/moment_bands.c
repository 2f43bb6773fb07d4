/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Passes the model's records of ranks to their bands (moment_band.h). */
#include <stdlib.h>
#include <string.h>

#include "abi/event.h"
#include "analysis/moment_band.h"
#include "analysis/table.h"
#include "lib/log.h"

/*
 * Limits on queued pieces: of all bands together, and per band the largest and the smallest limit.
 */
#define QUEUED_ALL (64u * 16384)
#define QUEUED_MOST 16384
#define QUEUED_LEAST 256

/* ---- columns ---- */

uint64_t moment_column_ns(const struct moment_bands *mb, uint32_t column)
{
	unsigned __int128 at = (unsigned __int128)(mb->to_ns - mb->from_ns) * column;

	return mb->from_ns + (uint64_t)((at + mb->columns - 1) / mb->columns);
}

uint32_t moment_column(const struct moment_bands *mb, uint64_t ns)
{
	unsigned __int128 at = (unsigned __int128)(ns - mb->from_ns) * mb->columns;

	return (uint32_t)(at / (mb->to_ns - mb->from_ns));
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

uint64_t moment_clip(const struct moment_bands *mb, uint64_t ns)
{
	return ns < mb->from_ns ? mb->from_ns : ns > mb->to_ns ? mb->to_ns : ns;
}

struct moment_band *moment_band_of(const struct moment_bands *mb, const struct model_thread *t)
{
	return t->idx < mb->nof_thread ? mb->of_thread[t->idx] : NULL;
}

/* ---- records of the model ---- */

static void on_state(void *ctx, const struct model_thread *t, uint64_t from_ns, uint64_t to_ns,
		     enum thread_state s, uint16_t cpu)
{
	struct moment_bands *mb = ctx;
	struct moment_band *b = moment_band_of(mb, t);

	(void)cpu;
	if (b)
		moment_band_state(mb, b, from_ns, to_ns, s);
}

static enum moment_call_kind kind_of(const struct moment_bands *mb, const struct model_call *c)
{
	if (mb->by_account && c->open)
		return MOMENT_IN_OPEN;
	if (mb->by_account && c->func->file_io)
		return MOMENT_IN_FILES;
	if (c->func->setup || c->func->file_io)
		return MOMENT_SETUP;
	return c->func->waits ? MOMENT_WAITS : MOMENT_WORKS;
}

static void on_call(void *ctx, const struct model_call *c)
{
	struct moment_bands *mb = ctx;
	struct moment_band *b = moment_band_of(mb, c->thread);

	if (!b || c->nested || c->end_only || !func_is_top(c->func))
		return;
	moment_band_call(mb, b, c->begin_ns, c->end_ns, kind_of(mb, c));
}

/* Spreads ns evenly from one time to another and adds them to a member of the cells in between. */
static void cells_spread(const struct moment_bands *mb, struct moment_band *b, uint64_t from_ns,
			 uint64_t to_ns, uint64_t ns, size_t member)
{
	double part = to_ns > from_ns ? (double)ns / (double)(to_ns - from_ns) : 0;
	uint32_t column;

	from_ns = moment_clip(mb, from_ns);
	to_ns = moment_clip(mb, to_ns);
	column = from_ns < to_ns ? moment_column(mb, from_ns) : 0;
	for (; from_ns < to_ns; column++) {
		uint64_t end_ns = moment_column_ns(mb, column + 1);

		end_ns = u64_min(end_ns, to_ns);
		*(uint64_t *)((char *)&b->cell[column] +
			      member) += (uint64_t)(part * (double)(end_ns - from_ns));
		from_ns = end_ns;
	}
}

/* Polls inside a computation wait only for their own duration. */
static void on_spin(void *ctx, const struct model_spin *s)
{
	struct moment_bands *mb = ctx;
	struct moment_band *b = moment_band_of(mb, s->thread);

	if (!b || s->nested || !s->nfuncs || !func_is_top(s->func[0].func))
		return;
	if (s->computes)
		cells_spread(mb, b, s->begin_ns, s->end_ns, s->running_ns,
			     offsetof(struct moment_cell, polled_ns));
	else
		moment_band_call(mb, b, s->begin_ns, s->end_ns, MOMENT_POLLS);
}

static void on_counted(void *ctx, const struct model_counted *c)
{
	struct moment_bands *mb = ctx;
	struct moment_band *b = moment_band_of(mb, c->thread);

	if (b && !c->nested && func_is_top(c->func))
		cells_spread(mb, b, c->begin_ns, c->end_ns, c->busy_ns,
			     offsetof(struct moment_cell, counted_ns));
}

static void on_room(void *ctx, const struct model_room *r)
{
	struct moment_bands *mb = ctx;
	struct moment_band *b = moment_band_of(mb, r->thread);

	if (b)
		cells_spread(mb, b, r->begin_ns, r->end_ns, r->end_ns - r->begin_ns,
			     offsetof(struct moment_cell, room_ns));
}

static void on_held(void *ctx, const void *event)
{
	const struct held_stretch *h = event;
	struct moment_bands *mb = ctx;
	struct moment_band *b = moment_band_of(mb, h->waiter);

	if (b && h->holder && model_thread_records(mb->model, h->holder))
		cells_spread(mb, b, h->from_ns, h->to_ns, h->to_ns - h->from_ns,
			     offsetof(struct moment_cell, taken_ns));
}

/* Calls are missing, so what looks like computing may have been a call. */
static void on_lost(void *ctx, const struct model_lost *l)
{
	struct moment_bands *mb = ctx;
	uint64_t from_ns = moment_clip(mb, l->since_ns), to_ns = moment_clip(mb, l->ts_ns);

	if (l->left_out || (l->class != POV_CLASS_CALL && l->class != POV_CLASS_SPIN))
		return;
	for (uint32_t i = from_ns < to_ns ? moment_column(mb, from_ns) : 0; from_ns < to_ns; i++) {
		uint64_t end_ns = moment_column_ns(mb, i + 1);

		end_ns = u64_min(end_ns, to_ns);
		mb->lost_ns[i] += end_ns - from_ns;
		from_ns = end_ns;
	}
}

void moment_bands_waited(void *ctx, const struct model_thread *t, uint64_t from_ns, uint64_t to_ns,
			 enum thread_state s)
{
	struct moment_bands *mb = ctx;
	struct moment_band *b = moment_band_of(mb, t);

	if (b)
		cells_spread(mb, b, from_ns, to_ns, to_ns - from_ns,
			     s == THREAD_RUNNABLE ? offsetof(struct moment_cell, late_no_core_ns) :
						    offsetof(struct moment_cell, late_ns));
}

/* ---- the end ---- */

static void cell_move(struct moment_cell *c, enum moment_state from, enum moment_state to,
		      uint64_t *ns)
{
	uint64_t moved = c->ns[from] < *ns ? c->ns[from] : *ns;

	c->ns[from] -= moved;
	c->ns[to] += moved;
	*ns -= moved;
}

/* Follows the account: a thread without a core was waiting all the same. */
static void late_settle(struct moment_cell *c)
{
	static const enum moment_state from[] = {MOMENT_WAITING, MOMENT_OPEN, MOMENT_FILES,
						 MOMENT_MPI};
	uint64_t in_mpi_ns = c->late_no_core_ns < c->mpi_no_core_ns ? c->late_no_core_ns :
								      c->mpi_no_core_ns,
		 late_ns = c->late_ns + c->late_no_core_ns - in_mpi_ns;

	cell_move(c, MOMENT_NO_CORE, MOMENT_LATE, &in_mpi_ns);
	late_ns += in_mpi_ns;
	for (size_t i = 0; i < sizeof(from) / sizeof(from[0]); i++)
		cell_move(c, from[i], MOMENT_LATE, &late_ns);
}

/*
 * Takes each part from the states that contain it, in the order of app_time.c, and then from what
 * is left.
 */
static void cell_settle(struct moment_cell *c, uint64_t lost_ns)
{
	static const enum moment_state room[] = {MOMENT_ASLEEP,	 MOMENT_NO_CORE, MOMENT_COMPUTING,
						 MOMENT_UNKNOWN, MOMENT_WAITING, MOMENT_MPI};

	cell_move(c, MOMENT_COMPUTING, MOMENT_MPI, &c->counted_ns);
	cell_move(c, MOMENT_COMPUTING, MOMENT_WAITING, &c->polled_ns);
	cell_move(c, MOMENT_NO_CORE, MOMENT_TRACING, &c->taken_ns);
	cell_move(c, MOMENT_UNKNOWN, MOMENT_TRACING, &c->taken_ns);
	for (size_t i = 0; i < sizeof(room) / sizeof(room[0]); i++)
		cell_move(c, room[i], MOMENT_TRACING, &c->room_ns);
	late_settle(c);
	cell_move(c, MOMENT_COMPUTING, MOMENT_UNKNOWN, &lost_ns);
	cell_move(c, MOMENT_ASLEEP, MOMENT_UNKNOWN, &lost_ns);
}

void moment_bands_finish(struct moment_bands *mb)
{
	uint32_t *share = xcalloc(mb->nrow + 1, sizeof(*share));

	for (uint32_t i = 0; i < mb->nband; i++) {
		moment_band_finish(mb, &mb->band[i]);
		share[mb->band[i].row]++;
	}
	for (uint32_t row = 0; row < mb->nrow; row++)
		for (uint32_t i = 0; i < mb->columns; i++)
			cell_settle(&mb->cell[(size_t)row * mb->columns + i],
				    share[row] * mb->lost_ns[i]);
	free(share);
}

/* ---- life ---- */

static void band_add(struct moment_bands *mb, const struct app_time *app, uint32_t idx,
		     uint32_t row)
{
	const struct app_process *a = idx < app->nprocess ? &app->process[idx] : NULL;
	const struct model_thread *main = a && a->has_main ? model_thread_get(mb->model, a->main) :
							     NULL;
	struct moment_band *b = &mb->band[mb->nband++];

	moment_band_init(b, model_process_get(mb->model, idx), main, row);
	if (!main)
		return;
	*(table_row(mb->of_thread, mb->nof_thread, main->idx)) = b;
	b->from_ns = app->thread[main->idx].from_ns;
	b->to_ns = app->thread[main->idx].to_ns;
}

void moment_bands_init(struct moment_bands *mb, const struct model *m, const struct app_time *app,
		       const uint32_t *row, uint32_t nrow)
{
	uint32_t n = model_process_count(m);

	*mb = (struct moment_bands){
		.sink = {.ctx = mb,
			 .call = on_call,
			 .spin = on_spin,
			 .counted = on_counted,
			 .room = on_room,
			 .lost = on_lost,
			 .state = on_state},
		.model = m,
		.nrow = nrow,
		.sched_recorded = model_get_info(m)->sched_recorded,
		.band = xcalloc(n + 1, sizeof(*mb->band)),
	};
	holders_init(&mb->holders);
	observers_add(&mb->holders.stretches, on_held, mb);
	for (uint32_t i = 0; i < n; i++)
		if (row[i] != MOMENT_NO_ROW)
			band_add(mb, app, i, row[i]);
	mb->queued_max = mb->nband ? QUEUED_ALL / mb->nband : QUEUED_MOST;
	mb->queued_max = mb->queued_max < QUEUED_LEAST ? QUEUED_LEAST :
			 mb->queued_max > QUEUED_MOST  ? QUEUED_MOST :
							 mb->queued_max;
}

void moment_bands_stretch(struct moment_bands *mb, uint64_t from_ns, uint64_t to_ns,
			  uint32_t columns)
{
	mb->from_ns = from_ns;
	mb->to_ns = to_ns;
	mb->columns = columns;
	mb->lost_ns = xcalloc(columns, sizeof(*mb->lost_ns));
	mb->cell = xcalloc((size_t)mb->nrow * columns + 1, sizeof(*mb->cell));
	for (uint32_t i = 0; i < mb->nband; i++)
		mb->band[i].cell = &mb->cell[(size_t)mb->band[i].row * columns];
}

void moment_bands_release(struct moment_bands *mb)
{
	for (uint32_t i = 0; i < mb->nband; i++)
		moment_band_release(&mb->band[i]);
	free(mb->band);
	free(mb->of_thread);
	free(mb->cell);
	free(mb->lost_ns);
	holders_release(&mb->holders);
}
