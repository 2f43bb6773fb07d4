/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* See messages.h. */
#include "analysis/messages.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/table.h"

const char *const message_class_names[MESSAGE_CLASS_CNT] = {
	[MESSAGE_P2P] = "p2p", [MESSAGE_COLL] = "coll",	  [MESSAGE_RMA] = "rma",
	[MESSAGE_IO] = "io",   [MESSAGE_OTHER] = "other",
};

static enum message_class class_of(const struct func_info *f)
{
	static const struct {
		const char *group;
		enum message_class class;
	} known[] = {
		{"p2p", MESSAGE_P2P},	 {"part", MESSAGE_P2P}, {"coll", MESSAGE_COLL},
		{"neigh", MESSAGE_COLL}, {"rma", MESSAGE_RMA},	{"io", MESSAGE_IO},
	};
	size_t i;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (!strcmp(f->group, known[i].group))
			return known[i].class;
	}
	return MESSAGE_OTHER;
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

const struct message_row *messages_of(const struct messages *a, uint32_t idx)
{
	static const struct message_row none;

	return idx < a->nprocess && a->process[idx] ? a->process[idx] : &none;
}

void messages_init(struct messages *a)
{
	*a = (struct messages){.sink = {.ctx = a, .call = on_call}};
}

void messages_release(struct messages *a)
{
	uint32_t i;

	for (i = 0; i < a->nprocess; i++)
		free(a->process[i]);
	free(a->process);
}

/* ---- how well peers are known ---- */

static void on_message(void *ctx, const struct model_message *msg)
{
	uint32_t idx = msg->operation->thread->proc->idx;
	struct peers *a = ctx;
	struct peers_row *r = table_row(a->process, a->nprocess, idx);

	r->messages++;
	r->by[msg->why]++;
}

void peers_init(struct peers *a)
{
	*a = (struct peers){.sink = {.ctx = a, .message = on_message}};
}

void peers_release(struct peers *a)
{
	free(a->process);
}

const struct peers_row *peers_of(const struct peers *a, uint32_t idx)
{
	static const struct peers_row none;

	return idx < a->nprocess ? &a->process[idx] : &none;
}
