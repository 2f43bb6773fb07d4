/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Keeps a row for each combination that occurs. Rows are summed on request. traffic_settle.c
 * decides which layer counts and what was received.
 */
#include "analysis/traffic.h"

#include <stdlib.h>

#include "lib/table.h"

/* ---- rows ---- */

static uint64_t key_hash(const struct traffic_key *key)
{
	const uint32_t *word = (const uint32_t *)key;
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < sizeof(*key) / sizeof(*word); i++) {
		h = (h ^ word[i]) * UINT64_C(0x100000001b3);
		h ^= h >> 32;
	}
	return h;
}
_Static_assert(sizeof(struct traffic_key) == 14 * sizeof(uint32_t), "no padding: it is hashed");

static struct traffic_row *row_get(struct traffic *a, const struct traffic_key *key)
{
	uint64_t hash = key_hash(key);
	uint32_t first = (uint32_t)(uintptr_t)map_get(&a->by_key, hash);
	struct traffic_row *r;

	for (uint32_t i = first; i; i = a->same_hash[i - 1]) {
		if (!memcmp(&a->row[i - 1].key, key, sizeof(*key)))
			return &a->row[i - 1];
	}
	r = table_row(a->row, a->rows_cap, a->nrow);
	r->key = *key;
	*table_row(a->same_hash, a->same_cap, a->nrow) = first;
	map_set(&a->by_key, hash, (void *)(uintptr_t)++a->nrow);
	return r;
}

void traffic_func_note(struct traffic *a, const struct func_info *f)
{
	*table_row(a->func, a->nfunc, f->id) = f;
}

static void context_set(struct traffic *a, const struct model_post *p, struct traffic_key *key)
{
	if (p->within) {
		key->context = TRAFFIC_IN_CALL;
		key->func = p->within->func->id;
		traffic_func_note(a, p->within->func);
	} else if (p->within_unknown) {
		key->context = TRAFFIC_UNCLEAR;
	} else {
		key->context = TRAFFIC_BACKGROUND;
		key->thread = names_id(&a->names, p->call->thread->comm);
	}
	key->phase = phases_at(&a->phases, p->call->thread, p->call->begin_ns);
	key->region = phases_at(&a->regions, p->call->thread, p->call->begin_ns);
}

static void posts_add(struct traffic_posts *to, const struct call_post *post)
{
	if (post->kind >= POST_KIND_CNT)
		return;
	if (post->failed) {
		to->failed++;
		return;
	}
	to->cnt[post->kind]++;
	if (post->bytes < 0)
		to->unknown[post->kind]++;
	else
		to->bytes[post->kind] += (uint64_t)post->bytes;
}

static void on_post(void *ctx, const struct model_post *p)
{
	const struct func_info *func = p->call->func;
	const struct call_post *post = p->post;
	struct traffic *a = ctx;
	struct traffic_key key = {
		.process = p->call->thread->proc->idx,
		.layer = names_id(&a->names, func->layer_name),
		.carrier = post->carrier,
		.transport = names_id(&a->names, post->transport),
		.device = names_id(&a->names, post->device),
		.dest = names_id(&a->names, post->dest),
		.step = post->step,
		.remote_end = names_id(&a->names, post->remote_end),
		.peer = -1,
	};

	a->posts++;
	context_set(a, p, &key);
	posts_add(&row_get(a, &key)->posts, post);
	*table_row(a->nearness, a->nnearness, key.layer) = func->layer ? func->layer->nearness : 0;
	ends_own(&a->ends, names_id(&a->names, post->local_end), key.process);
}

static void on_call(void *ctx, const struct model_call *c)
{
	const struct call_roles *r = &c->view->roles;
	struct traffic *a = ctx;

	if (r->mark == MARK_BEGIN)
		phases_set(&a->phases, c->thread, c->end_ns, r->mark_level,
			   names_id(&a->names, r->mark_name));
	else if (r->mark == MARK_END)
		phases_set(&a->phases, c->thread, c->begin_ns, r->mark_level, 0);
}

static void on_region(void *ctx, const struct model_region *r)
{
	struct traffic *a = ctx;

	if (r->ended == REGION_UNDER_WAY)
		phases_set(&a->regions, r->thread, r->begin_ns, r->depth,
			   names_id(&a->names, r->name));
	else
		phases_set(&a->regions, r->thread, r->end_ns, r->depth, 0);
}

static void on_finish(void *ctx, const struct model *m)
{
	traffic_settle(ctx, m);
}

/* ---- groups ---- */

static uint64_t sum_of(const uint64_t *by_kind, bool send, bool read)
{
	uint64_t both = by_kind[POST_ATOMIC];

	return both + (send ? by_kind[POST_SEND] + by_kind[POST_WRITE] : 0) +
	       (read ? by_kind[POST_READ] : 0);
}

static void flow_of(const struct traffic_row *r, struct traffic_flow *f)
{
	const struct traffic_posts *p = &r->posts;

	*f = (struct traffic_flow){0};
	if (r->counts) {
		f->posts = sum_of(p->cnt, true, true);
		f->sent = sum_of(p->cnt, true, false);
		f->sent_bytes = sum_of(p->bytes, true, false);
		f->sent_unknown = sum_of(p->unknown, true, false);
		f->read = sum_of(p->cnt, false, true);
		f->read_bytes = sum_of(p->bytes, false, true);
		f->read_unknown = sum_of(p->unknown, false, true);
		f->failed = p->failed;
		f->moved_bytes = f->sent_bytes + f->read_bytes;
	}
	if (r->arrivals_count) {
		f->arrived = p->cnt[POST_ARRIVAL];
		f->arrived_bytes = p->bytes[POST_ARRIVAL];
		f->arrived_unknown = p->unknown[POST_ARRIVAL];
	}
	if (r->key.context == TRAFFIC_IN_CALL)
		f->call_bytes = f->moved_bytes;
	else if (r->key.context == TRAFFIC_BACKGROUND)
		f->background_bytes = f->moved_bytes;
	else
		f->unclear_bytes = f->moved_bytes;
}

/* Clears the members of the key that are not asked for. */
static void key_reduce(struct traffic_key *k, uint32_t by)
{
	k->remote_end = 0;
	if (!(by & TRAFFIC_BY_PROCESS))
		k->process = 0;
	if (!(by & TRAFFIC_BY_CARRIER))
		k->carrier = k->transport = 0;
	if (!(by & TRAFFIC_BY_LAYER))
		k->layer = 0;
	if (!(by & TRAFFIC_BY_DEVICE))
		k->device = 0;
	if (!(by & TRAFFIC_BY_DEST))
		k->dest = 0;
	if (!(by & TRAFFIC_BY_PEER))
		k->peer = -1;
	if (!(by & TRAFFIC_BY_CONTEXT))
		k->context = k->func = k->thread = 0;
	if (!(by & TRAFFIC_BY_PHASE))
		k->phase = k->region = 0;
	if (!(by & TRAFFIC_BY_STEP))
		k->step = STEP_NONE;
}

TABLE_ORDER(key_compare, struct traffic_group, memcmp(&a->key, &b->key, sizeof(a->key)))

TABLE_ORDER(moved_compare, struct traffic_group, u64_compare(a->key.process, b->key.process),
	    u64_compare(b->flow.moved_bytes, a->flow.moved_bytes),
	    u64_compare(b->flow.arrived_bytes, a->flow.arrived_bytes),
	    u64_compare(b->flow.posts, a->flow.posts), key_compare(a, b))

struct traffic_group *traffic_by(const struct traffic *a, const bool *wanted, uint32_t n,
				 uint32_t by, uint32_t *ngroup)
{
	struct traffic_group *g = xcalloc(a->nrow, sizeof(*g));
	uint32_t cnt = 0, kept = 0;

	for (uint32_t i = 0; i < a->nrow; i++) {
		const struct traffic_row *r = &a->row[i];

		if (r->key.process >= n || !wanted[r->key.process])
			continue;
		flow_of(r, &g[cnt].flow);
		if (!g[cnt].flow.posts && !g[cnt].flow.arrived && !g[cnt].flow.failed)
			continue;
		g[cnt].key = r->key;
		key_reduce(&g[cnt++].key, by);
	}
	table_sort(g, cnt, key_compare);
	for (uint32_t i = 0; i < cnt; i++) {
		if (kept && !key_compare(&g[kept - 1], &g[i]))
			table_row_add(&g[kept - 1].flow, &g[i].flow, posts);
		else
			g[kept++] = g[i];
	}
	table_sort(g, kept, moved_compare);
	*ngroup = kept;
	return g;
}

void traffic_init(struct traffic *a)
{
	*a = (struct traffic){.sink = {.ctx = a,
				       .call = on_call,
				       .region = on_region,
				       .post = on_post,
				       .finish = on_finish}};
	phases_init(&a->phases, &a->names);
	phases_init(&a->regions, &a->names);
}

void traffic_release(struct traffic *a)
{
	phases_release(&a->phases);
	phases_release(&a->regions);
	ends_release(&a->ends);
	names_release(&a->names);
	map_release(&a->by_key);
	free(a->row);
	free(a->same_hash);
	free(a->layer);
	free(a->nearness);
	free(a->received);
	free(a->func);
}

/* ---- pairs: bytes that a process sent go to its peer, bytes that it read come from it ---- */

TABLE_ORDER(pair_ends_compare, struct pair, u64_compare(a->from, b->from),
	    u64_compare(a->to, b->to), u64_compare(a->context, b->context),
	    u64_compare(a->func, b->func))

TABLE_ORDER(pair_bytes_compare, struct pair, u64_compare(b->bytes, a->bytes),
	    pair_ends_compare(a, b))

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
	table_sort(p, cnt, pair_ends_compare);
	for (uint32_t i = 0; i < cnt; i++) {
		if (kept && !pair_ends_compare(&p[kept - 1], &p[i]))
			table_row_add(&p[kept - 1], &p[i], messages);
		else
			p[kept++] = p[i];
	}
	table_sort(p, kept, pair_bytes_compare);
	*npair = kept;
	return p;
}
