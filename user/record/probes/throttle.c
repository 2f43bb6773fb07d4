/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* The decision is greedy: the costliest functions first, until the rest is below the limit. */
#include "record/probes/throttle.h"

#include <stdlib.h>

#include "lib/log.h"

/* fraction of the limit below which throttling a function does not pay */
#define SMALL 0.05

void throttle_init(struct throttle *t, double pct, const bool *may_throttle, uint32_t cnt)
{
	*t = (struct throttle){.pct = pct, .cnt = cnt};
	t->func = xcalloc(cnt + 1, sizeof(*t->func));
	for (uint32_t i = 0; i < cnt; i++)
		t->func[i].may_throttle = may_throttle[i];
}

void throttle_release(struct throttle *t)
{
	free(t->func);
	*t = (struct throttle){0};
}

/* Sorts by process, costliest functions first. */
static int share_compare(const void *a, const void *b)
{
	const struct overhead_share *x = a, *y = b;

	if (x->tgid != y->tgid)
		return x->tgid < y->tgid ? -1 : 1;
	if (x->pct != y->pct)
		return x->pct > y->pct ? -1 : 1;
	return x->func < y->func ? -1 : x->func > y->func;
}

/* Adds a change, unless another process has caused the same one already. */
static void change_add(struct throttle_change *out, size_t *cnt,
		       const struct throttle_change *change)
{
	for (size_t i = 0; i < *cnt; i++)
		if (out[i].func == change->func) {
			if (change->pct > out[i].pct)
				out[i] = *change;
			return;
		}
	out[(*cnt)++] = *change;
}

/* Returns what a function's next step will save; 0: it has none. */
static double saving(const struct throttle *t, const struct overhead_share *s)
{
	const struct throttle_func *f = s->func < t->cnt ? &t->func[s->func] : NULL;

	if (!f || !f->may_throttle || s->pct < SMALL * t->pct)
		return 0;
	if (f->state == POV_LIMIT_COUNTED)
		return f->may_detach ? s->pct : 0;
	if (f->state == POV_LIMIT_DETACHED)
		return 0;
	/*
	 * If counting alone will exceed the limit, the function is detached next. So no other
	 * function is throttled for its sake.
	 */
	return f->may_detach && s->counted_pct > t->pct ? s->pct : s->pct - s->counted_pct;
}

/* Adds to out[] the throttling changes for one process. share[0..n) are its shares. */
static void process_changes_add(const struct throttle *t, const struct overhead_share *share,
				size_t n, struct throttle_change *out, size_t *cnt)
{
	struct throttle_change change = {.tgid = share->tgid};
	double left, saved;

	/* a detached function's calls were made before its probes were removed */
	for (size_t i = 0; i < n; i++)
		if (share[i].func >= t->cnt || t->func[share[i].func].state != POV_LIMIT_DETACHED)
			change.pct += share[i].pct;
	left = change.pct;
	for (size_t i = 0; i < n && left > t->pct; i++) {
		saved = saving(t, &share[i]);
		if (saved <= 0)
			continue;
		left -= saved;
		change.func = share[i].func;
		change.state = t->func[share[i].func].state + 1;
		change_add(out, cnt, &change);
	}
}

size_t throttle_decide(struct throttle *t, struct overhead_share *share, size_t n,
		       struct throttle_change *out)
{
	size_t cnt = 0, to;

	if (n)
		qsort(share, n, sizeof(*share), share_compare);
	for (size_t from = 0; from < n; from = to) {
		for (to = from; to < n && share[to].tgid == share[from].tgid; to++)
			;
		process_changes_add(t, &share[from], to - from, out, &cnt);
	}
	for (size_t i = 0; i < cnt; i++)
		t->func[out[i].func].state = out[i].state;
	return cnt;
}
