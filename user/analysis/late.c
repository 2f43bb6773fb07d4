/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* See late.h. */
#include "analysis/late.h"

#include <stdlib.h>

#include "analysis/table.h"

/* A call that waited, and how far its waiting has been told. */
struct late_call {
	uint64_t begin_ns, told_ns;
};

/* The last ones of a thread: messages of several may become known by turns. */
#define CALLS 8
struct late_thread {
	struct late_call call[CALLS];
	uint32_t oldest;
};

static struct late_call *call_of(struct late_thread *t, uint64_t begin_ns)
{
	struct late_call *c;

	for (c = t->call; c < t->call + CALLS; c++)
		if (c->begin_ns == begin_ns)
			return c;
	c = &t->call[t->oldest++ % CALLS];
	*c = (struct late_call){begin_ns, begin_ns};
	return c;
}

static void add(struct late_pairs *a, enum late_kind kind, const struct match *m,
		const struct match_end *waiter, const struct match_end *other)
{
	struct late_call *call = call_of(table_row(a->thread, a->nthread, waiter->completer->idx),
					 waiter->completing_ns);
	struct late *l;
	uint64_t ns;

	if (other->begin_ns <= call->told_ns)
		return;
	ns = other->begin_ns - call->told_ns;
	if (a->tell)
		a->tell(a->ctx, &(struct late_wait){kind, waiter->completer, other, call->told_ns,
						    other->begin_ns});
	call->told_ns = other->begin_ns;
	l = map_make(&a->pairs[kind], (uint64_t)waiter->process->idx << 32 | other->process->idx,
		     sizeof(*l));
	l->kind = kind;
	l->waiter = waiter->process->idx;
	l->late = other->process->idx;
	l->cnt++;
	l->ns += ns;
	if (ns <= l->worst_ns)
		return;
	l->worst_ns = ns;
	l->worst = *m;
}

uint64_t late_ns(const struct match *m, enum late_kind kind)
{
	const struct match_end *waiter = kind == LATE_SENDER ? &m->recv : &m->send;
	const struct match_end *other = kind == LATE_SENDER ? &m->send : &m->recv;

	if (!waiter->completer || waiter->completing_ns >= other->begin_ns ||
	    waiter->end_ns <= other->begin_ns)
		return 0;
	return other->begin_ns - waiter->completing_ns;
}

static void on_match(void *ctx, const struct match *m)
{
	struct late_pairs *a = ctx;

	if (a->matched)
		a->matched(a->matched_ctx, m);
	a->uncertain += m->assumed;
	if (m->assumed)
		return;
	if (late_ns(m, LATE_SENDER))
		add(a, LATE_SENDER, m, &m->recv, &m->send);
	if (late_ns(m, LATE_RECEIVER))
		add(a, LATE_RECEIVER, m, &m->send, &m->recv);
}

void late_init(struct late_pairs *a)
{
	*a = (struct late_pairs){0};
	matches_init(&a->matches, on_match, a);
}

void late_release(struct late_pairs *a)
{
	matches_release(&a->matches);
	for (int kind = 0; kind < LATE_KINDS; kind++)
		map_free(&a->pairs[kind], free);
	free(a->thread);
}

static int late_compare(const void *va, const void *vb)
{
	const struct late *a = va, *b = vb;

	if (a->kind != b->kind)
		return (int)a->kind - (int)b->kind;
	if (a->late != b->late)
		return a->late < b->late ? -1 : 1;
	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	return a->waiter < b->waiter ? -1 : a->waiter > b->waiter;
}

struct late *late_list(const struct late_pairs *a, uint32_t *n)
{
	struct late *list = xmalloc((a->pairs[LATE_SENDER].cnt + a->pairs[LATE_RECEIVER].cnt + 1) *
				    sizeof(*list));
	struct late *l;

	*n = 0;
	for (int kind = 0; kind < LATE_KINDS; kind++)
		for (size_t at = 0; (l = map_next(&a->pairs[kind], &at, NULL));)
			list[(*n)++] = *l;
	qsort(list, *n, sizeof(*list), late_compare);
	return list;
}
