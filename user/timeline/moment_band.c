/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What a rank's main thread did, by columns. Its states are known when they end, and so are its calls: both wait in queues until
 * the other side is known for their time. Neither queue grows beyond KEPT_MAX: then the older half is accounted by what is known
 * of the call, or of the state, that is under way.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "timeline/moment.h"

#define KEPT_MAX 16384

struct piece {
	uint64_t from_ns, to_ns;
	int what; /* enum thread_state, or enum moment_call_kind */
};

struct pieces {
	struct piece *piece; /* owned; those from first on wait */
	uint32_t first, n, room;
};

struct moment_queue {
	struct pieces states, calls;
	uint64_t done_ns;     /* accounted until here */
	uint64_t calls_until; /* the calls are known until here */
};

static struct piece *pieces_add(struct pieces *q)
{
	if (q->first && q->n == q->room) {
		memmove(q->piece, q->piece + q->first, (q->n - q->first) * sizeof(*q->piece));
		q->n -= q->first;
		q->first = 0;
	}
	if (q->n == q->room) {
		q->room = q->room ? 2 * q->room : 64;
		q->piece = xrealloc(q->piece, q->room * sizeof(*q->piece));
	}
	return &q->piece[q->n++];
}

static bool pieces_full(const struct pieces *q)
{
	return q->n - q->first >= KEPT_MAX;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* ---- accounting ---- */

static enum moment_state state_of(const struct moment *mo, enum thread_state s,
				  enum moment_call_kind in)
{
	static const enum moment_state runs[] = {
		[MOMENT_OUTSIDE] = MOMENT_COMPUTING, [MOMENT_WAITS] = MOMENT_WAITING,
		[MOMENT_POLLS] = MOMENT_WAITING,     [MOMENT_WORKS] = MOMENT_MPI,
		[MOMENT_SETUP] = MOMENT_MPI,
	};
	static const enum moment_state sleeps[] = {
		[MOMENT_OUTSIDE] = MOMENT_ASLEEP, [MOMENT_WAITS] = MOMENT_WAITING,
		[MOMENT_POLLS] = MOMENT_ASLEEP,	  [MOMENT_WORKS] = MOMENT_WAITING,
		[MOMENT_SETUP] = MOMENT_MPI,
	};

	switch (s) {
	case THREAD_RUNNING:
		return runs[in];
	case THREAD_RUNNABLE:
		return MOMENT_NO_CORE;
	case THREAD_BLOCKED:
		return sleeps[in];
	default:
		return mo->sched_recorded || in == MOMENT_OUTSIDE ? MOMENT_UNKNOWN : runs[in];
	}
}

/* Spreads a time in which nothing changed over its columns. */
static void cells_add(const struct moment *mo, struct moment_band *b, uint64_t from_ns,
		      uint64_t to_ns, enum thread_state s, enum moment_call_kind in)
{
	enum moment_state state = state_of(mo, s, in);
	uint32_t column = from_ns < to_ns ? moment_column(mo, from_ns) : 0;

	while (from_ns < to_ns) {
		uint64_t end_ns = earlier(moment_column_ns(mo, ++column), to_ns);
		struct moment_cell *c = &b->cell[column - 1];

		c->ns[state] += end_ns - from_ns;
		c->mpi_ns += in == MOMENT_OUTSIDE ? 0 : end_ns - from_ns;
		from_ns = end_ns;
	}
}

/* A state, by the calls that are known to lie in it; the rest is outside. */
static void state_account(const struct moment *mo, struct moment_band *b, uint64_t from_ns,
			  uint64_t to_ns, enum thread_state s)
{
	struct pieces *calls = &b->queue->calls;

	while (from_ns < to_ns) {
		const struct piece *c = calls->first < calls->n ? &calls->piece[calls->first] :
								  NULL;
		uint64_t begin_ns = c ? earlier(later(c->from_ns, from_ns), to_ns) : to_ns;
		uint64_t end_ns = c ? earlier(later(c->to_ns, begin_ns), to_ns) : to_ns;

		cells_add(mo, b, from_ns, begin_ns, s, MOMENT_OUTSIDE);
		if (c)
			cells_add(mo, b, begin_ns, end_ns, s, (enum moment_call_kind)c->what);
		if (c && c->to_ns <= end_ns)
			calls->first++;
		from_ns = end_ns;
	}
	b->queue->done_ns = later(b->queue->done_ns, to_ns);
}

/* What ended by then. */
static void states_account(const struct moment *mo, struct moment_band *b, uint64_t until_ns)
{
	struct moment_queue *q = b->queue;

	for (; q->states.first < q->states.n; q->states.first++) {
		const struct piece *p = &q->states.piece[q->states.first];
		uint64_t from_ns = later(p->from_ns, q->done_ns);
		uint64_t to_ns = earlier(p->to_ns, until_ns);

		if (from_ns < to_ns)
			state_account(mo, b, from_ns, to_ns, (enum thread_state)p->what);
		if (p->to_ns > until_ns)
			return;
	}
}

/* The thread has changed its state so often in one call that this waits, or it makes none. */
static void states_shorten(const struct moment *mo, struct moment_band *b)
{
	struct moment_queue *q = b->queue;
	uint64_t until_ns = q->states.piece[q->states.first + KEPT_MAX / 2].to_ns;
	uint64_t left_ns = model_call_left_since(b->thread);

	if (left_ns < until_ns)
		*pieces_add(&q->calls) = (struct piece){later(left_ns, q->calls_until), until_ns,
							MOMENT_WAITS};
	q->calls_until = later(q->calls_until, until_ns);
	states_account(mo, b, until_ns);
}

/* It has run for so many calls without a switch. */
static void calls_shorten(const struct moment *mo, struct moment_band *b)
{
	struct moment_queue *q = b->queue;
	uint64_t from_ns, to_ns = q->calls.piece[q->calls.first + KEPT_MAX / 2].to_ns;

	states_account(mo, b, to_ns);
	from_ns = later(later(q->done_ns, b->thread->since_ns), mo->from_ns);
	if (from_ns < to_ns)
		state_account(mo, b, from_ns, to_ns, b->thread->state);
	while (q->calls.first < q->calls.n && q->calls.piece[q->calls.first].to_ns <= to_ns)
		q->calls.first++;
}

/* ---- what the moment is told ---- */

void moment_band_state(struct moment *mo, struct moment_band *b, uint64_t from_ns, uint64_t to_ns,
		       enum thread_state s)
{
	struct moment_queue *q = b->queue;

	from_ns = later(from_ns, mo->from_ns);
	to_ns = earlier(to_ns, mo->to_ns);
	if (from_ns >= to_ns)
		return;
	*pieces_add(&q->states) = (struct piece){from_ns, to_ns, (int)s};
	states_account(mo, b, q->calls_until);
	if (pieces_full(&q->states))
		states_shorten(mo, b);
}

void moment_band_call(struct moment *mo, struct moment_band *b, uint64_t begin_ns, uint64_t end_ns,
		      enum moment_call_kind kind)
{
	struct moment_queue *q = b->queue;

	begin_ns = later(begin_ns, later(mo->from_ns, q->calls_until));
	end_ns = earlier(end_ns, mo->to_ns);
	if (begin_ns >= end_ns)
		return;
	*pieces_add(&q->calls) = (struct piece){begin_ns, end_ns, (int)kind};
	q->calls_until = end_ns;
	states_account(mo, b, q->calls_until);
	if (pieces_full(&q->calls))
		calls_shorten(mo, b);
}

/* ---- the end ---- */

static void move(struct moment_cell *c, enum moment_state from, enum moment_state to, uint64_t *ns)
{
	uint64_t moved = earlier(c->ns[from], *ns);

	c->ns[from] -= moved;
	c->ns[to] += moved;
	*ns -= moved;
}

/* From the parts that it lies in: in the order of analysis/app_time.c, and then from what is left. */
static void cell_settle(struct moment_cell *c, uint64_t lost_ns)
{
	static const enum moment_state room[] = {MOMENT_ASLEEP,	 MOMENT_NO_CORE, MOMENT_COMPUTING,
						 MOMENT_UNKNOWN, MOMENT_WAITING, MOMENT_MPI};

	move(c, MOMENT_COMPUTING, MOMENT_MPI, &c->counted_ns);
	move(c, MOMENT_COMPUTING, MOMENT_WAITING, &c->polled_ns);
	move(c, MOMENT_NO_CORE, MOMENT_TRACING, &c->taken_ns);
	move(c, MOMENT_UNKNOWN, MOMENT_TRACING, &c->taken_ns);
	for (size_t i = 0; i < sizeof(room) / sizeof(room[0]); i++)
		move(c, room[i], MOMENT_TRACING, &c->room_ns);
	move(c, MOMENT_COMPUTING, MOMENT_UNKNOWN, &lost_ns);
	move(c, MOMENT_ASLEEP, MOMENT_UNKNOWN, &lost_ns);
}

void moment_band_finish(struct moment *mo, struct moment_band *b)
{
	states_account(mo, b, UINT64_MAX);
	for (uint32_t i = 0; i < MOMENT_COLUMNS; i++)
		cell_settle(&b->cell[i], mo->lost_ns[i]);
}

void moment_band_init(struct moment_band *b, const struct model_process *p,
		      const struct model_thread *main)
{
	*b = (struct moment_band){.process = p, .thread = main};
	b->cell = xcalloc(MOMENT_COLUMNS, sizeof(*b->cell));
	b->queue = xcalloc(1, sizeof(*b->queue));
}

void moment_band_release(struct moment_band *b)
{
	free(b->queue->states.piece);
	free(b->queue->calls.piece);
	free(b->queue);
	free(b->cell);
	free(b->call);
}
