/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The recent history of a thread: its states since its last recorded call. It serves to split the
 * time of the next call when that ends. Each change of state adds an entry: the end of a segment,
 * the state in it, and the thread's accumulated times. When the table is full, old segments are
 * joined so that each stays short compared with its age. Memory does not grow; a joined segment
 * with several states counts as UNKNOWN.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "lib/table.h"
#include "model/what.h"

#define HISTORY_MAX 1024 /* entries; must be a size that table_row() makes */
/* A joined segment spans at most this fraction of its age, counted in changes of state. */
#define HISTORY_FINENESS 64

static void old_entries_join(struct history *h, uint64_t fineness)
{
	struct history_entry *e = h->entry;
	uint64_t newest = e[h->n - 1].seq, span;
	uint32_t i, n = 1; /* the first segment reaches back to from_ns and stays */

	for (i = 1; i + 1 < h->n; i++) {
		span = e[i + 1].seq - e[n - 1].seq;
		if (span > (newest - e[i + 1].seq) / fineness)
			e[n++] = e[i];
		else if (e[i].was != e[i + 1].was)
			e[i + 1].was = THREAD_UNKNOWN;
	}
	e[n++] = e[h->n - 1];
	h->n = n;
}

static void entries_make_room(struct history *h)
{
	uint64_t fineness = HISTORY_FINENESS;

	if (h->n < h->cap)
		return;
	if (h->cap < HISTORY_MAX) {
		(void)table_row(h->entry, h->cap, h->n);
		return;
	}
	do {
		old_entries_join(h, fineness);
		fineness /= 2;
	} while (h->n > HISTORY_MAX / 4 * 3 && fineness);
}

static void entry_add(struct history *h, uint64_t ts_ns, enum thread_state was,
		      const struct state_times *times)
{
	struct history_entry *e;

	entries_make_room(h);
	e = &h->entry[h->n++];
	e->seq = ++h->seq;
	e->ts_ns = ts_ns;
	e->was = was;
	memcpy(e->ns, times->ns, sizeof(e->ns));
}

void history_note(struct mthread *t, uint64_t from_ns, uint64_t ts_ns, enum thread_state was)
{
	struct thread_calls *calls = t->pub.calls;

	if (!calls) {
		if (!t->pub.proc->is_target || t->pub.idle)
			return;
		calls = t->pub.calls = xcalloc(1, sizeof(*calls));
		calls->history.from_ns = from_ns;
	}
	entry_add(&calls->history, ts_ns, was, &t->pub.times);
	if (was == THREAD_RUNNING)
		calls->is_away = calls->left_ns == ts_ns;
	else if (calls->is_away && was != THREAD_UNKNOWN)
		calls->away_ns += ts_ns - from_ns;
}

void history_restart(struct mthread *t, uint64_t ts_ns)
{
	struct thread_calls *calls = t->pub.calls;

	if (!calls)
		calls = t->pub.calls = xcalloc(1, sizeof(*calls));
	calls->history.n = 0;
	calls->history.from_ns = ts_ns < t->pub.since_ns ? t->pub.since_ns : ts_ns;
}

/* The first entry whose segment ends at ts_ns or later. NULL: ts_ns lies in the current segment. */
static const struct history_entry *entry_find(const struct history *h, uint64_t ts_ns)
{
	if (!h->n || h->entry[h->n - 1].ts_ns < ts_ns)
		return NULL;
	return &h->entry[table_first(0, h->n, i, h->entry[i].ts_ns >= ts_ns)];
}

/*
 * The thread's accumulated times at ts_ns. Missing time is subtracted from UNKNOWN, below zero if
 * necessary (modulo 2^64), so that differences always add up to the time between.
 */
void history_at(const struct mthread *t, uint64_t ts_ns, struct state_times *out)
{
	const struct thread_calls *calls = t->pub.calls;
	const struct history_entry *e = NULL;
	enum thread_state s = t->pub.state == THREAD_DEAD ? THREAD_UNKNOWN : t->pub.state;

	*out = t->pub.times;
	if (ts_ns >= t->pub.since_ns) {
		out->ns[s] += ts_ns - t->pub.since_ns;
		return;
	}
	if (calls)
		e = entry_find(&calls->history, ts_ns);
	if (!e) {
		out->ns[THREAD_UNKNOWN] -= t->pub.since_ns - ts_ns;
		return;
	}
	memcpy(out->ns, e->ns, sizeof(e->ns));
	s = e == calls->history.entry && ts_ns < calls->history.from_ns ? THREAD_UNKNOWN : e->was;
	out->ns[s] -= e->ts_ns - ts_ns;
}

void history_split(const struct mthread *t, uint64_t begin_ns, uint64_t end_ns,
		   struct state_times *out)
{
	struct state_times begin;

	history_at(t, begin_ns, &begin);
	history_split_from(t, &begin, begin_ns, end_ns, out);
}

/*
 * A later record may have refuted the state that was assumed at begin. Then the differences do not
 * add up to the call's time, and all of it becomes UNKNOWN.
 */
void history_split_from(const struct mthread *t, const struct state_times *begin, uint64_t begin_ns,
			uint64_t end_ns, struct state_times *out)
{
	uint64_t total_ns = end_ns - begin_ns, sum_ns = 0;
	struct state_times end;
	bool sane = true;

	history_at(t, end_ns, &end);
	for (int s = 0; s < THREAD_STATE_CNT; s++) {
		out->ns[s] = end.ns[s] - begin->ns[s];
		sane = sane && out->ns[s] <= total_ns;
		sum_ns += out->ns[s];
	}
	if (sane && sum_ns == total_ns)
		return;
	memset(out, 0, sizeof(*out));
	out->ns[THREAD_UNKNOWN] = total_ns;
}
