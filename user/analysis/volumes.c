/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* See volumes.h. */
#include "analysis/volumes.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/table.h"

static void add(struct volumes *a, const struct model_process *p, int64_t bytes)
{
	uint64_t *row = table_row(a->bytes, a->nprocess, p->idx);

	*row += bytes > 0 ? (uint64_t)bytes : 0;
}

static void on_message(void *ctx, const struct model_message *msg)
{
	const struct model_operation *o = msg->operation;
	const struct model_process *self = o->thread->proc, *peer = NULL;
	struct volumes *a = ctx;

	if (msg->sends && msg->why == PEER_KNOWN && o->roles->has_peer && func_is_top(o->func))
		peer = model_peer(a->model, self, msg->peer_job, msg->peer_world);
	if (!peer)
		return;
	add(a, self, msg->bytes);
	add(a, peer, msg->bytes);
}

static void on_operation(void *ctx, const struct model_call *c, const struct func_info *func,
			 const struct call_roles *roles)
{
	static const char *const groups[] = {"coll", "neigh", "rma"};

	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
		if (strcmp(func->group, groups[i]) != 0)
			continue;
		add(ctx, c->thread->proc, roles->send_bytes);
		add(ctx, c->thread->proc, roles->recv_bytes);
	}
}

static void on_call(void *ctx, const struct model_call *c)
{
	if (!c->nested && !c->open && !c->view->roles.error && func_is_top(c->func))
		model_call_operations(c, on_operation, ctx);
}

static void on_start(void *ctx, const struct model *m)
{
	((struct volumes *)ctx)->model = m;
}

static int on_finish(void *ctx, const struct model *m)
{
	struct volumes *a = ctx;

	/* makes all rows valid */
	(void)table_row(a->bytes, a->nprocess, model_process_count(m));
	return 0;
}

void volumes_init(struct volumes *a)
{
	*a = (struct volumes){.sink = {.ctx = a,
				       .start = on_start,
				       .call = on_call,
				       .message = on_message,
				       .finish = on_finish}};
}

void volumes_release(struct volumes *a)
{
	free(a->bytes);
}
