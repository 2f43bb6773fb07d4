/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Bytes that a process sent go to its peer; bytes that it read come from the peer.
 */
#include "analysis/pairs.h"

#include <stdlib.h>

#include "analysis/table.h"

static int ends_compare(const void *va, const void *vb)
{
	const struct pair *a = va, *b = vb;
	const uint32_t x[] = {a->from, a->to, a->context, a->func},
		       y[] = {b->from, b->to, b->context, b->func};

	for (size_t i = 0; i < sizeof(x) / sizeof(x[0]); i++) {
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
	}
	return 0;
}

static int bytes_compare(const void *va, const void *vb)
{
	const struct pair *a = va, *b = vb;

	return u64_compare(b->bytes, a->bytes) ?: ends_compare(a, b);
}

/* Splits a group into its two directions. */
static uint32_t group_split(const struct traffic_group *g, bool by_func, struct pair *out)
{
	const struct traffic_flow *f = &g->flow;
	struct pair sent = {.from = g->key.process,
			    .to = (uint32_t)g->key.peer,
			    .context = by_func ? g->key.context : 0,
			    .func = by_func ? g->key.func : 0,
			    .messages = f->sent,
			    .bytes = f->sent_bytes,
			    .unknown = f->sent_unknown},
		    read = sent;
	uint32_t n = 0;

	read.from = sent.to;
	read.to = sent.from;
	read.messages = f->read;
	read.bytes = f->read_bytes;
	read.unknown = f->read_unknown;
	if (sent.messages)
		out[n++] = sent;
	if (read.messages)
		out[n++] = read;
	return n;
}

struct pair *pairs_find(const struct traffic *a, const bool *wanted, uint32_t n, bool by_func,
			uint32_t *npair)
{
	uint32_t by = TRAFFIC_BY_PROCESS | TRAFFIC_BY_PEER | (by_func ? TRAFFIC_BY_CONTEXT : 0);
	uint32_t ngroup, cnt = 0, kept = 0;
	struct traffic_group *g = traffic_by(a, wanted, n, by, &ngroup);
	struct pair *p = xcalloc(2 * (size_t)ngroup, sizeof(*p));

	for (uint32_t i = 0; i < ngroup; i++) {
		if (g[i].key.peer >= 0)
			cnt += group_split(&g[i], by_func, &p[cnt]);
	}
	free(g);
	if (cnt)
		qsort(p, cnt, sizeof(*p), ends_compare);
	for (uint32_t i = 0; i < cnt; i++) {
		if (kept && !ends_compare(&p[kept - 1], &p[i]))
			table_row_add(&p[kept - 1], &p[i], messages);
		else
			p[kept++] = p[i];
	}
	if (kept)
		qsort(p, kept, sizeof(*p), bytes_compare);
	*npair = kept;
	return p;
}

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
