/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Accounts what a rank's main thread did, by columns. A state or a call is known only when it ends.
 * So both wait in queues until the other kind is known for their time. No queue grows beyond
 * queued_max: then its older half is accounted with what is known of the current call or state.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/table.h"
#include "lib/log.h"
#include "analysis/moment_band.h"

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
	uint64_t done_ns;     /* everything before is accounted */
	uint64_t calls_until; /* calls before are known */
};

static struct piece *pieces_add(struct pieces *q)
{
	if (q->first && q->n == q->room) {
		memmove(q->piece, q->piece + q->first, (q->n - q->first) * sizeof(*q->piece));
		q->n -= q->first;
		q->first = 0;
	}
	(void)table_row(q->piece, q->room, q->n);
	return &q->piece[q->n++];
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

void moment_band_state(struct moment_bands *mb, struct moment_band *b, uint64_t from_ns,
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

void moment_band_call(struct moment_bands *mb, struct moment_band *b, uint64_t begin_ns,
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

void moment_band_finish(struct moment_bands *mb, struct moment_band *b)
{
	states_account(mb, b, UINT64_MAX);
}

void moment_band_init(struct moment_band *b, const struct model_process *p,
		      const struct model_thread *main, uint32_t row)
{
	*b = (struct moment_band){.process = p, .thread = main, .row = row};
	b->queue = xcalloc(1, sizeof(*b->queue));
}

void moment_band_release(struct moment_band *b)
{
	free(b->queue->states.piece);
	free(b->queue->calls.piece);
	free(b->queue);
}
