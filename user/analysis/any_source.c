/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* See any_source.h. */
#include "analysis/any_source.h"

#include <stdlib.h>
#include <string.h>

#include "lib/log.h"

/* A message that was received from any source. */
struct service {
	uint32_t from;		   /* idx */
	uint64_t asked_ns, got_ns; /* begin and end of the call that completed the receive */
};

struct server {
	struct service service[ANY_SOURCE_KEPT]; /* the last ones, in order of asked_ns */
	uint32_t n;
};

/* The last message from a sender to a server: when it entered and left the queue. */
struct queued {
	uint64_t sent_ns, taken_ns;
};

static uint64_t pair_key(const struct model_process *waiter, const struct model_process *server)
{
	return (uint64_t)waiter->idx << 32 | server->idx;
}

static void service_add(struct server *s, const struct service *add)
{
	struct service *at;

	if (s->n == ANY_SOURCE_KEPT)
		memmove(&s->service[0], &s->service[1], --s->n * sizeof(s->service[0]));
	for (at = &s->service[s->n++]; at > s->service && at[-1].asked_ns > add->asked_ns; at--)
		*at = at[-1];
	*at = *add;
}

void any_source_match(struct any_source *a, const struct match *m)
{
	const struct match_end *r = &m->recv;
	struct queued *q;

	if (!r->any_source || !r->completer || m->assumed)
		return;
	service_add(map_make(&a->servers, r->process->idx, sizeof(struct server)),
		    &(struct service){m->send.process->idx, r->completing_ns, r->end_ns});
	q = map_make(&a->queued, pair_key(m->send.process, r->process), sizeof(*q));
	q->sent_ns = m->send.begin_ns;
	q->taken_ns = r->completing_ns;
}

/* How much of a stretch the server spent on messages of other ranks. */
static uint64_t at_others_ns(const struct server *s, uint32_t waiter, uint64_t from_ns,
			     uint64_t to_ns)
{
	uint64_t ns = 0, until_ns = UINT64_MAX;

	for (const struct service *v = s->service + s->n; v-- > s->service && until_ns > from_ns;) {
		uint64_t begin_ns = v->got_ns > from_ns ? v->got_ns : from_ns;
		uint64_t end_ns = until_ns < to_ns ? until_ns : to_ns;

		if (v->from != waiter && begin_ns < end_ns)
			ns += end_ns - begin_ns;
		until_ns = v->asked_ns;
	}
	return ns;
}

static void on_wait(void *ctx, const struct late_wait *w)
{
	const struct model_process *waiter = w->waiter->proc, *server = w->late->process;
	struct any_source *a = ctx;
	struct queued *q = map_get(&a->queued, pair_key(waiter, server));
	uint64_t from_ns, to_ns, ns;

	if (a->next)
		a->next(a->next_ctx, w);
	if (!q)
		return;
	from_ns = w->from_ns > q->sent_ns ? w->from_ns : q->sent_ns;
	to_ns = w->to_ns < q->taken_ns ? w->to_ns : q->taken_ns;
	ns = at_others_ns(map_get(&a->servers, server->idx), waiter->idx, from_ns, to_ns);
	if (ns)
		waited_for_add(&a->waits, waiter, server, ns, from_ns, to_ns, NULL);
}

void any_source_init(struct any_source *a, struct late_pairs *late)
{
	*a = (struct any_source){.next = late->tell, .next_ctx = late->ctx};
	late->tell = on_wait;
	late->ctx = a;
}

void any_source_release(struct any_source *a)
{
	map_free(&a->waits, free);
	map_free(&a->queued, free);
	map_free(&a->servers, free);
}
