/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A call's own roles, or those of the persistent requests it starts.
 */
#include "analysis/flow.h"

#include <stdlib.h>

#include "base/log.h"

#define PERSISTENT_MAX (1u << 20) /* beyond, new ones are not remembered */

static uint64_t request_key(const struct model_process *p, uint64_t handle)
{
	uint64_t h = handle * UINT64_C(0x9e3779b97f4a7c15);

	return (h ^ h >> 29) * UINT64_C(0xbf58476d1ce4e5b9) + (uint64_t)p->sort_order;
}

static void remember(struct flows *f, const struct model_call *c, uint64_t handle,
		     const struct flow *flow)
{
	struct flow *copy;

	if (f->persistent.cnt >= PERSISTENT_MAX)
		return;
	copy = xmalloc(sizeof(*copy));
	*copy = *flow;
	free(map_set(&f->persistent, request_key(c->thread->proc, handle), copy));
}

void flows_of_call(struct flows *f, const struct model_call *c,
		   void (*tell)(void *ctx, const struct model_call *c, const struct flow *flow),
		   void *ctx)
{
	const struct call_roles *roles = &c->view->roles;
	struct flow own = {c->func, roles->sends, roles->receives, roles->send_bytes,
			   roles->recv_bytes};
	const struct flow *known;
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
			known = map_get(&f->persistent, request_key(c->thread->proc, handle));
			if (known)
				tell(ctx, c, known);
			break;
		case REQUEST_FREE:
			free(map_remove(&f->persistent, request_key(c->thread->proc, handle)));
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
	struct flow *flow;
	size_t at = 0;

	while ((flow = map_next(&f->persistent, &at, NULL)))
		free(flow);
	map_release(&f->persistent);
}
