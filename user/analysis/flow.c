/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A call's own roles, or those of the persistent requests it starts. A request is what was made before the
 * call began: while Request_free is under way another thread may be given the same handle.
 */
#include "analysis/flow.h"

#include <stdlib.h>

#include "base/log.h"

#define PERSISTENT_MAX (1u << 20) /* beyond, new ones are not remembered */

struct persistent {
	const struct model_process *proc;
	uint64_t handle;
	uint64_t made_ns; /* the call that made it had returned */
	struct flow flow;
	struct persistent *next; /* of the same hash */
};

static uint64_t request_hash(const struct model_process *p, uint64_t handle)
{
	uint64_t h = handle * UINT64_C(0x9e3779b97f4a7c15);

	return (h ^ h >> 29) * UINT64_C(0xbf58476d1ce4e5b9) + (uint64_t)p->sort_order;
}

static struct persistent *find(const struct flows *f, const struct model_process *p,
			       uint64_t handle)
{
	struct persistent *q = map_get(&f->persistent, request_hash(p, handle));

	while (q && (q->proc != p || q->handle != handle))
		q = q->next;
	return q;
}

static void remember(struct flows *f, const struct model_call *c, uint64_t handle,
		     const struct flow *flow)
{
	const struct model_process *p = c->thread->proc;
	struct persistent *q = find(f, p, handle);

	if (!q) {
		if (f->cnt >= PERSISTENT_MAX)
			return;
		q = xcalloc(1, sizeof(*q));
		q->proc = p;
		q->handle = handle;
		q->next = map_set(&f->persistent, request_hash(p, handle), q);
		f->cnt++;
	}
	q->made_ns = c->end_ns;
	q->flow = *flow;
}

static void forget(struct flows *f, const struct model_call *c, uint64_t handle)
{
	struct persistent *q = find(f, c->thread->proc, handle), *before;
	uint64_t hash = request_hash(c->thread->proc, handle);

	if (!q || q->made_ns > c->begin_ns)
		return;
	before = map_get(&f->persistent, hash);
	if (before != q) {
		while (before->next != q)
			before = before->next;
		before->next = q->next;
	} else if (q->next) {
		map_set(&f->persistent, hash, q->next);
	} else {
		map_remove(&f->persistent, hash);
	}
	free(q);
	f->cnt--;
}

void flows_of_call(struct flows *f, const struct model_call *c,
		   void (*tell)(void *ctx, const struct model_call *c, const struct flow *flow),
		   void *ctx)
{
	const struct call_roles *roles = &c->view->roles;
	struct flow own = {c->func, roles->sends, roles->receives, roles->send_bytes,
			   roles->recv_bytes};
	const struct persistent *known;
	bool inits = false;
	uint32_t i;

	for (i = 0; i < roles->nrequests; i++) {
		uint64_t handle = roles->requests[i].handle;

		switch (roles->requests[i].event) {
		case REQUEST_INIT:
			inits = true;
			remember(f, c, handle, &own);
			break;
		case REQUEST_RESTART:
			known = find(f, c->thread->proc, handle);
			if (known)
				tell(ctx, c, &known->flow);
			break;
		case REQUEST_FREE:
			forget(f, c, handle);
			break;
		default:
			break;
		}
	}
	if (!inits && (own.sends || own.receives))
		tell(ctx, c, &own);
}

void flows_release(struct flows *f)
{
	struct persistent *q, *next;
	size_t at = 0;

	while ((q = map_next(&f->persistent, &at, NULL))) {
		for (; q; q = next) {
			next = q->next;
			free(q);
		}
	}
	map_release(&f->persistent);
	f->cnt = 0;
}
