/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Accounts what a rank's main thread did, by columns. A state or a call is reported only when it
 * ends. So states and calls are queued until the other kind is known for the same time. If a queue
 * reaches queued_max, its older half is accounted with what is known by then.
 */
#include "analysis/moment_band.h"

#include <stdlib.h>
#include <string.h>

#include "abi/event.h"
#include "analysis/causes.h"
#include "lib/log.h"
#include "lib/table.h"

struct piece {
	uint64_t from_ns, to_ns;
	int what; /* enum thread_state or enum moment_call_kind */
};

struct pieces {
	struct piece *piece; /* entries before `first` are done; owned */
	uint32_t first, n, room;
};

struct moment_queue {
	struct pieces states, calls;
	uint64_t done_ns;     /* all time before it is accounted */
	uint64_t calls_until; /* all calls before it are known */
};

static struct piece *pieces_add(struct pieces *q)
{
	if (q->first && q->n == q->room) {
		memmove(q->piece, q->piece + q->first, (q->n - q->first) * sizeof(*q->piece));
		q->n -= q->first;
		q->first = 0;
	}
	return table_add(q->piece, q->n, q->room);
}

static bool pieces_full(const struct moment_bands *mb, const struct pieces *q)
{
	return q->n - q->first >= mb->queued_max;
}

/* ---- accounting ---- */

static enum moment_state state_of(const struct moment_bands *mb, enum thread_state s,
				  enum moment_call_kind in)
{
	static const enum moment_state runs[] = {
		[MOMENT_OUTSIDE] = MOMENT_COMPUTING, [MOMENT_WAITS] = MOMENT_WAITING,
		[MOMENT_POLLS] = MOMENT_WAITING,     [MOMENT_WORKS] = MOMENT_MPI,
		[MOMENT_SETUP] = MOMENT_MPI,	     [MOMENT_IN_FILES] = MOMENT_FILES,
		[MOMENT_IN_OPEN] = MOMENT_OPEN,
	};
	static const enum moment_state sleeps[] = {
		[MOMENT_OUTSIDE] = MOMENT_ASLEEP, [MOMENT_WAITS] = MOMENT_WAITING,
		[MOMENT_POLLS] = MOMENT_ASLEEP,	  [MOMENT_WORKS] = MOMENT_WAITING,
		[MOMENT_SETUP] = MOMENT_MPI,	  [MOMENT_IN_FILES] = MOMENT_FILES,
		[MOMENT_IN_OPEN] = MOMENT_OPEN,
	};

	switch (s) {
	case THREAD_RUNNING:
		return runs[in];
	case THREAD_RUNNABLE:
		return MOMENT_NO_CORE;
	case THREAD_BLOCKED:
		return sleeps[in];
	default:
		return mb->sched_recorded || in == MOMENT_OUTSIDE ? MOMENT_UNKNOWN : runs[in];
	}
}

/* Adds a time in which nothing changed to its columns. */
static void cells_put(const struct moment_bands *mb, struct moment_band *b, uint64_t from_ns,
		      uint64_t to_ns, enum moment_state state, enum moment_call_kind in)
{
	uint32_t column = from_ns < to_ns ? moment_column(mb, from_ns) : 0;

	while (from_ns < to_ns) {
		uint64_t end_ns = u64_min(moment_column_ns(mb, ++column), to_ns);
		struct moment_cell *c = &b->cell[column - 1];

		c->ns[state] += end_ns - from_ns;
		c->mpi_ns += in == MOMENT_OUTSIDE ? 0 : end_ns - from_ns;
		if (state == MOMENT_NO_CORE && in != MOMENT_OUTSIDE)
			c->mpi_no_core_ns += end_ns - from_ns;
		from_ns = end_ns;
	}
}

static void cells_add(const struct moment_bands *mb, struct moment_band *b, uint64_t from_ns,
		      uint64_t to_ns, enum thread_state s, enum moment_call_kind in)
{
	uint64_t begin_ns = from_ns, end_ns = to_ns;

	if (mb->by_account) {
		begin_ns = u64_min(u64_max(from_ns, b->from_ns), to_ns);
		end_ns = u64_max(u64_min(to_ns, b->to_ns), begin_ns);
		cells_put(mb, b, from_ns, begin_ns, MOMENT_APART, MOMENT_OUTSIDE);
		cells_put(mb, b, end_ns, to_ns, MOMENT_APART, MOMENT_OUTSIDE);
	}
	cells_put(mb, b, begin_ns, end_ns, state_of(mb, s, in), in);
}

/* Accounts a state by the known calls inside it. The rest is outside MPI. */
static void state_account(const struct moment_bands *mb, struct moment_band *b, uint64_t from_ns,
			  uint64_t to_ns, enum thread_state s)
{
	struct pieces *calls = &b->queue->calls;

	while (from_ns < to_ns) {
		const struct piece *c = calls->first < calls->n ? &calls->piece[calls->first] :
								  NULL;
		uint64_t begin_ns = c ? u64_min(u64_max(c->from_ns, from_ns), to_ns) : to_ns;
		uint64_t end_ns = c ? u64_min(u64_max(c->to_ns, begin_ns), to_ns) : to_ns;

		cells_add(mb, b, from_ns, begin_ns, s, MOMENT_OUTSIDE);
		if (c)
			cells_add(mb, b, begin_ns, end_ns, s, (enum moment_call_kind)c->what);
		if (c && c->to_ns <= end_ns)
			calls->first++;
		from_ns = end_ns;
	}
	b->queue->done_ns = u64_max(b->queue->done_ns, to_ns);
}

/* Accounts the states up to until_ns. */
static void states_account(const struct moment_bands *mb, struct moment_band *b, uint64_t until_ns)
{
	struct moment_queue *q = b->queue;

	for (; q->states.first < q->states.n; q->states.first++) {
		const struct piece *p = &q->states.piece[q->states.first];
		uint64_t from_ns = u64_max(p->from_ns, q->done_ns);
		uint64_t to_ns = u64_min(p->to_ns, until_ns);

		if (from_ns < to_ns)
			state_account(mb, b, from_ns, to_ns, (enum thread_state)p->what);
		if (p->to_ns > until_ns)
			return;
	}
}

/*
 * Shortens the queue of states: the thread changed its state very often in one call, or it makes no
 * calls.
 */
static void states_shorten(const struct moment_bands *mb, struct moment_band *b)
{
	struct moment_queue *q = b->queue;
	uint64_t until_ns = q->states.piece[q->states.first + mb->queued_max / 2].to_ns;
	uint64_t left_ns = model_call_left_since(b->thread);

	if (left_ns < until_ns)
		*pieces_add(&q->calls) = (struct piece){u64_max(left_ns, q->calls_until), until_ns,
							MOMENT_WAITS};
	q->calls_until = u64_max(q->calls_until, until_ns);
	states_account(mb, b, until_ns);
}

/* Shortens the queue of calls: the thread made very many calls without a switch. */
static void calls_shorten(const struct moment_bands *mb, struct moment_band *b)
{
	struct moment_queue *q = b->queue;
	uint64_t from_ns, to_ns = q->calls.piece[q->calls.first + mb->queued_max / 2].to_ns;

	states_account(mb, b, to_ns);
	from_ns = u64_max(u64_max(q->done_ns, b->thread->since_ns), mb->from_ns);
	if (from_ns < to_ns)
		state_account(mb, b, from_ns, to_ns, b->thread->state);
	while (q->calls.first < q->calls.n && q->calls.piece[q->calls.first].to_ns <= to_ns)
		q->calls.first++;
}

/* ---- callbacks ---- */

/* Adds a state of the thread. Call in order of time. */
static void moment_band_state(struct moment_bands *mb, struct moment_band *b, uint64_t from_ns,
			      uint64_t to_ns, enum thread_state s)
{
	struct moment_queue *q = b->queue;

	from_ns = u64_max(from_ns, mb->from_ns);
	to_ns = u64_min(to_ns, mb->to_ns);
	if (from_ns >= to_ns)
		return;
	*pieces_add(&q->states) = (struct piece){from_ns, to_ns, (int)s};
	states_account(mb, b, q->calls_until);
	if (pieces_full(mb, &q->states))
		states_shorten(mb, b);
}

/* Adds an outermost call that has ended. Call in order of begin. */
static void moment_band_call(struct moment_bands *mb, struct moment_band *b, uint64_t begin_ns,
			     uint64_t end_ns, enum moment_call_kind kind)
{
	struct moment_queue *q = b->queue;

	begin_ns = u64_max(begin_ns, u64_max(mb->from_ns, q->calls_until));
	end_ns = u64_min(end_ns, mb->to_ns);
	if (begin_ns >= end_ns)
		return;
	*pieces_add(&q->calls) = (struct piece){begin_ns, end_ns, (int)kind};
	q->calls_until = end_ns;
	states_account(mb, b, q->calls_until);
	if (pieces_full(mb, &q->calls))
		calls_shorten(mb, b);
}

/* ---- finish ---- */

/* Accounts everything that is still queued. */
static void moment_band_finish(struct moment_bands *mb, struct moment_band *b)
{
	states_account(mb, b, UINT64_MAX);
}

static void moment_band_init(struct moment_band *b, const struct model_process *p,
			     const struct model_thread *main, uint32_t row)
{
	*b = (struct moment_band){.process = p, .thread = main, .row = row};
	b->queue = xcalloc(1, sizeof(*b->queue));
}

static void moment_band_release(struct moment_band *b)
{
	free(b->queue->states.piece);
	free(b->queue->calls.piece);
	free(b->queue);
}

/* ---- all bands ---- */

/* Passes the model's records of ranks to their bands (moment_band.h). */

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

/* Adds a time in which calls are missing: what looks like computing there may have been a call. */
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

void moment_bands_waited(void *ctx, const void *event)
{
	const struct causes_part *w = event;
	struct moment_bands *mb = ctx;
	struct moment_band *b = moment_band_of(mb, w->thread);

	if (b)
		cells_spread(mb, b, w->from_ns, w->to_ns, w->to_ns - w->from_ns,
			     w->state == THREAD_RUNNABLE ?
				     offsetof(struct moment_cell, late_no_core_ns) :
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

/*
 * Moves waiting for late ranks to MOMENT_LATE, as account.c does: waiting without a core counts,
 * too.
 */
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

/* ---- init and release ---- */

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
