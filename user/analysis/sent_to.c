/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* See sent_to.h. */
#include "analysis/sent_to.h"

#include <stdlib.h>

static uint64_t key_of(uint32_t from, uint32_t to)
{
	return (uint64_t)from << 32 | to;
}

static void on_message(void *ctx, const struct model_message *msg)
{
	const struct model_operation *o = msg->operation;
	const struct model_process *self = o->thread->proc, *peer = NULL;
	struct sent_to *a = ctx;
	struct pair *p;

	if (msg->sends && msg->why == PEER_KNOWN && o->roles->has_peer && func_is_top(o->func))
		peer = model_peer(a->model, self, msg->peer_job, msg->peer_world);
	if (!peer)
		return;
	p = map_make(&a->pairs, key_of(self->idx, peer->idx), sizeof(*p));
	p->from = self->idx;
	p->to = peer->idx;
	p->messages++;
	p->bytes += msg->bytes == BYTES_UNKNOWN ? 0 : (uint64_t)msg->bytes;
	p->unknown += msg->bytes == BYTES_UNKNOWN;
}

static void on_start(void *ctx, const struct model *m)
{
	((struct sent_to *)ctx)->model = m;
}

const struct pair *sent_to_find(const struct sent_to *a, uint32_t from, uint32_t to)
{
	return map_get(&a->pairs, key_of(from, to));
}

void sent_to_init(struct sent_to *a)
{
	*a = (struct sent_to){.sink = {.ctx = a, .start = on_start, .message = on_message}};
}

void sent_to_release(struct sent_to *a)
{
	map_free(&a->pairs, free);
}
