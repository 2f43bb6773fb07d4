/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* See hang_ends.h. */
#include "analysis/hang_ends.h"

#include <stdlib.h>

#include "lib/log.h"

static uint64_t inbox_key(uint32_t comm_id, uint32_t to)
{
	return (uint64_t)comm_id << 32 | to;
}

const struct hang_inbox *hang_inbox_find(const struct hang *h, uint32_t comm_id, uint32_t to)
{
	return map_get(&h->inboxes, inbox_key(comm_id, to));
}

void hang_end_add(struct hang *h, const struct hang_end *e)
{
	struct hang_inbox *in = map_make(&h->inboxes, inbox_key(e->comm_id, e->to), sizeof(*in));

	in->end = xrealloc(in->end, (in->cnt + 1) * sizeof(*in->end));
	in->end[in->cnt++] = *e;
}

static void queue_take(struct hang *h, const struct inbox *in, const struct posted_queue *q,
		       uint32_t skip)
{
	for (const struct match_posted *p = q->first; p; p = p->next) {
		if (skip && skip--)
			continue;
		hang_end_add(h, &(struct hang_end){
					.comm_id = in->comm_id,
					.from = p->from,
					.to = in->to,
					.tag = p->tag,
					.sends = p->sends,
					.func = p->end.func,
				});
	}
}

/* True if some wildcard receive is over: it has taken an unknown message. */
static bool wild_is_over(const struct inbox *in)
{
	for (const struct match_posted *p = in->wild.first; p; p = p->next)
		if (p->over)
			return true;
	return false;
}

void hang_ends_left(void *ctx, const struct matches *a, const struct inbox *in)
{
	struct hang *h = ctx;
	struct hang_inbox *own;
	struct lane *l;

	for (size_t at = 0; (l = map_next(&in->lanes, &at, NULL));) {
		uint32_t both = l->sends.cnt < l->recvs.cnt ? l->sends.cnt : l->recvs.cnt;

		queue_take(h, in, &l->sends, both);
		queue_take(h, in, &l->recvs, both);
	}
	queue_take(h, in, &in->wild, 0);
	if (!a->full && !in->doubtful && !wild_is_over(in) && !map_get(&a->unknown_to, in->comm_id))
		return;
	own = map_make(&h->inboxes, inbox_key(in->comm_id, in->to), sizeof(*own));
	own->doubtful = true;
}

static void inbox_free(void *value)
{
	free(((struct hang_inbox *)value)->end);
	free(value);
}

void hang_ends_release(struct hang *h)
{
	map_free(&h->inboxes, inbox_free);
}
