/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* See messages.h. */
#include "analysis/messages.h"

#include <stdlib.h>
#include <string.h>

#include "lib/table.h"

const char *const message_class_names[MESSAGE_CLASS_CNT] = {
	[MESSAGE_P2P] = "p2p", [MESSAGE_COLL] = "coll",	  [MESSAGE_RMA] = "rma",
	[MESSAGE_IO] = "io",   [MESSAGE_OTHER] = "other",
};

static enum message_class class_of(const struct func_info *f)
{
	if (f->group_bit & (GROUP_P2P | GROUP_PART))
		return MESSAGE_P2P;
	if (f->group_bit & (GROUP_COLL | GROUP_NEIGH))
		return MESSAGE_COLL;
	if (f->group_bit & GROUP_RMA)
		return MESSAGE_RMA;
	return f->group_bit & GROUP_IO ? MESSAGE_IO : MESSAGE_OTHER;
}

static void on_operation(void *ctx, const struct model_call *c, const struct func_info *func,
			 const struct call_roles *roles)
{
	struct messages *a = ctx;
	struct message_row **at, *r;
	enum message_class class;
	unsigned int bucket;

	if (!roles->sends)
		return;
	class = class_of(func);
	at = table_row(a->process, a->nprocess, c->thread->proc->idx);
	if (!*at)
		*at = xcalloc(1, sizeof(**at));
	r = *at;
	if (roles->send_bytes < 0) {
		r->unknown[class]++;
		return;
	}
	bucket = roles->send_bytes ?
			 64 - (unsigned int)__builtin_clzll((uint64_t)roles->send_bytes) :
			 0;
	r->cnt[class][bucket]++;
	r->bytes[class][bucket] += (uint64_t)roles->send_bytes;
}

static void on_call(void *ctx, const struct model_call *c)
{
	struct messages *a = ctx;

	if (!c->nested && func_is_top(c->func))
		model_call_operations(c, on_operation, a);
}

static void pair_add(struct messages *a, const struct model_message *msg)
{
	const struct model_operation *o = msg->operation;
	const struct model_process *self = o->thread->proc, *peer = NULL;
	struct pair *p;

	if (msg->sends && msg->why == PEER_KNOWN && o->roles->has_peer && func_is_top(o->func))
		peer = model_peer(a->model, self, msg->peer_job, msg->peer_world);
	if (!peer)
		return;
	p = map_make(&a->pairs, map_pair(self->idx, peer->idx), sizeof(*p));
	p->from = self->idx;
	p->to = peer->idx;
	p->messages++;
	p->bytes += msg->bytes == BYTES_UNKNOWN ? 0 : (uint64_t)msg->bytes;
	p->unknown += msg->bytes == BYTES_UNKNOWN;
}

static void on_message(void *ctx, const struct model_message *msg)
{
	struct messages *a = ctx;
	struct peers_row *r = table_row(a->peers, a->npeers, msg->operation->thread->proc->idx);

	r->messages++;
	r->by[msg->why]++;
	pair_add(a, msg);
}

const struct message_row *messages_of(const struct messages *a, uint32_t idx)
{
	static const struct message_row none;

	return idx < a->nprocess && a->process[idx] ? a->process[idx] : &none;
}

const struct peers_row *messages_peers(const struct messages *a, uint32_t idx)
{
	return table_get(a->peers, a->npeers, idx);
}

const struct pair *messages_pair(const struct messages *a, uint32_t from, uint32_t to)
{
	return map_get(&a->pairs, map_pair(from, to));
}

void messages_init(struct messages *a)
{
	*a = (struct messages){
		.sink = {.ctx = a, .model = &a->model, .call = on_call, .message = on_message}};
}

void messages_release(struct messages *a)
{
	for (uint32_t i = 0; i < a->nprocess; i++)
		free(a->process[i]);
	free(a->process);
	free(a->peers);
	map_free(&a->pairs, free);
}
