/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Finds each operation's first post with data, once it is known which layers count and who owns
 * which end.
 */
#include "analysis/transfer_settle.h"

#include <stdlib.h>

#include "lib/table.h"

/*
 * A post of this many bytes is data, however large the message is: no protocol messages are that
 * large.
 */
#define DATA_BYTES 4096

/* ---- arrivals of the data of receives ---- */

TABLE_ORDER(arrival_compare, struct transfer_arrival, u64_compare(a->ns, b->ns))

static bool is_named(const struct transfer_arrival *v)
{
	return v->message || v->has_envelope;
}

/*
 * Finds which arrivals may belong to a receive. Every layer that data pass through sees them
 * arrive. Only arrivals that name their receive are kept. If there are none, those of the layers
 * that count are kept. Call after peers and doubtful operations have been found.
 */
static void transfer_arrivals_choose(struct transfer_start *a, const struct model *m,
				     uint32_t process)
{
	const struct model_process *self = model_process_get(m, process);
	struct transfer_process *p = a->process[process];
	bool named = false;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < p->narrival; i++)
		named |= is_named(&p->arrival[i]);
	for (uint32_t i = 0; i < p->narrival; i++) {
		struct transfer_arrival *v = &p->arrival[i];
		const struct traffic_layer *l = traffic_layer_find(a->traffic, process, v->carrier,
								   v->layer);

		if (named ? !is_named(v) : !l || !l->arrivals_count)
			continue;
		v->peer = ends_find(&a->traffic->ends, m, v->end, self,
				    (enum post_carrier)v->carrier);
		p->arrival[kept++] = *v;
	}
	p->narrival = kept;
	table_sort(p->arrival, kept, arrival_compare);
}

static bool transfer_arrival_is_of(const struct transfer_op *op, const struct transfer_arrival *v)
{
	if (v->message)
		return v->message == op->request;
	if (v->has_envelope)
		return !op->envelope_doubtful && v->source >= 0 && v->source == op->source &&
		       v->tag >= 0 && v->tag == op->tag;
	return !op->doubtful && (v->peer < 0 || op->peer < 0 || v->peer == op->peer);
}

static uint32_t first_from(const struct transfer_process *p, uint64_t ns)
{
	return (uint32_t)table_first(0, p->narrival, i, p->arrival[i].ns >= ns);
}

/* When all data of a receive had arrived. 0: unknown. */
static uint64_t transfer_arrived_ns(const struct transfer_process *p, const struct transfer_op *op)
{
	int64_t left = op->bytes;

	if (!op->receives || op->sends || op->bytes <= 0)
		return 0;
	for (uint32_t i = first_from(p, op->begin_ns); i < p->narrival; i++) {
		const struct transfer_arrival *v = &p->arrival[i];

		if (v->ns > op->end_ns)
			break;
		if (!transfer_arrival_is_of(op, v))
			continue;
		if (v->bytes < 0)
			return 0;
		left -= v->bytes;
		if (left <= 0)
			return v->ns;
	}
	return 0;
}

/* ---- the first post of data ---- */

TABLE_ORDER(op_compare, struct transfer_op, u64_compare(a->begin_ns, b->begin_ns))

TABLE_ORDER(post_compare, struct transfer_post, u64_compare(a->ns, b->ns))

static bool may_be_same(int32_t peer, int32_t other)
{
	return peer < 0 || other < 0 || peer == other;
}

static void ops_compare(struct transfer_op *a, struct transfer_op *b)
{
	bool same_way = (a->sends && b->sends) || (a->receives && b->receives);

	if (same_way && may_be_same(a->peer, b->peer))
		a->doubtful = b->doubtful = true;
	if (a->receives && a->p2p && b->receives && b->p2p && may_be_same(a->source, b->source) &&
	    may_be_same(a->tag, b->tag))
		a->envelope_doubtful = b->envelope_doubtful = true;
}

/*
 * Finds doubtful operations. Compares each one with those in progress when it begins. Operations
 * are in order of begin.
 */
static void doubts_find(struct transfer_process *p)
{
	struct transfer_op **active = xcalloc(p->nop, sizeof(struct transfer_op *));
	uint32_t n = 0, left;

	for (uint32_t i = 0; i < p->nop; i++) {
		left = 0;
		for (uint32_t k = 0; k < n; k++) {
			if (active[k]->end_ns < p->op[i].begin_ns)
				continue;
			ops_compare(active[k], &p->op[i]);
			active[left++] = active[k];
		}
		active[left] = &p->op[i];
		n = left + 1;
	}
	free(active);
}

static bool is_of(const struct transfer_op *op, const struct transfer_post *post)
{
	return (op->sends ? post->kind != POST_READ : post->kind == POST_READ) &&
	       may_be_same(op->peer, post->peer);
}

static bool post_carries(const struct transfer_op *op, const struct transfer_post *post)
{
	int64_t least = op->bytes > 0 && op->bytes < DATA_BYTES ? op->bytes : DATA_BYTES;

	return post->step != STEP_NONE || post->bytes >= least;
}

/*
 * Finds an operation's first post of data. *doubt: a post of unknown size comes before it, or may
 * be it.
 */
static const struct transfer_post *first_post(const struct transfer_process *p,
					      const struct transfer_op *op, bool by_request,
					      bool *doubt)
{
	size_t i = table_first(0, p->npost, k, p->post[k].ns >= op->begin_ns);

	*doubt = op->bytes < 0;
	for (; i < p->npost && p->post[i].ns <= op->end_ns; i++) {
		const struct transfer_post *post = &p->post[i];

		if (by_request && post->message != op->request)
			continue;
		if (!is_of(op, post))
			continue;
		if (post_carries(op, post))
			return post;
		*doubt |= post->bytes < 0;
	}
	return NULL;
}

/* True if records of the operation, or of others that may be mistaken for it, may be missing. */
static bool has_gap(const struct transfer_start *a, const struct transfer_process *p,
		    const struct transfer_op *op)
{
	return p->forgotten || (p->until_ns && op->end_ns >= p->until_ns) ||
	       losses_in(a->losses, op->begin_ns, op->end_ns) & LOSS_OF_BYTES;
}

static enum transfer_when op_when(const struct transfer_start *a, const struct transfer_process *p,
				  const struct transfer_op *op, const struct transfer_post **out)
{
	bool doubt = false, gap = has_gap(a, p, op);

	*out = op->request && !gap ? first_post(p, op, true, &doubt) : NULL;
	if (!*out && (gap || op->doubtful))
		return TRANSFER_UNCLEAR;
	if (!*out)
		*out = first_post(p, op, false, &doubt);
	if (doubt || !*out)
		return doubt ? TRANSFER_UNCLEAR : TRANSFER_NOT_HERE;
	return (*out)->ns <= op->posted_ns     ? TRANSFER_IN_CALL :
	       (*out)->ns >= op->completing_ns ? TRANSFER_IN_WAIT :
						 TRANSFER_MEANWHILE;
}

/* ---- the result ---- */

static struct transfer_by *by_of(struct transfer_start *a, uint32_t process, uint32_t func,
				 const struct transfer_post *post)
{
	uint32_t thread = post->in_func ? 0 : post->thread;
	struct transfer_by *b;

	for (uint32_t i = a->nby; i-- > 0 && a->by[i].process == process;) {
		b = &a->by[i];
		if (b->func == func && b->in_func == post->in_func && b->thread == thread)
			return b;
	}
	b = table_append(a->by, a->nby);
	*b = (struct transfer_by){process, func, post->in_func, thread, 0, 0};
	return b;
}

static void op_arrival_count(struct transfer_start *a, struct transfer_process *p,
			     const struct transfer_op *op, struct transfer_row *r)
{
	uint64_t ns = has_gap(a, p, op) ? 0 : transfer_arrived_ns(p, op);

	if (!ns)
		return;
	r->come++;
	if (ns >= op->completing_ns)
		return;
	r->early++;
	r->early_ns += op->completing_ns - ns;
}

static void op_count(struct transfer_start *a, uint32_t process, const struct transfer_op *op)
{
	const struct transfer_post *post;
	enum transfer_when w = op_when(a, a->process[process], op, &post);
	struct transfer_by *b;

	op_arrival_count(a, a->process[process], op, transfer_count(a->process[process], op, w));
	if (w != TRANSFER_MEANWHILE)
		return;
	b = by_of(a, process, op->func, post);
	b->cnt++;
	b->bytes += op->bytes > 0 ? (uint64_t)op->bytes : 0;
}

static void peers_find(struct transfer_start *a, const struct model *m, uint32_t process)
{
	const struct model_process *self = model_process_get(m, process), *peer;
	struct transfer_process *p = a->process[process];

	for (uint32_t i = 0; i < p->nop; i++) {
		struct transfer_op *op = &p->op[i];

		peer = model_peer(m, self, op->peer_job, op->peer_world);
		op->peer = peer ? (int32_t)peer->idx : -1;
	}
	for (uint32_t i = 0; i < p->npost; i++)
		p->post[i].peer = ends_find(&a->traffic->ends, m, p->post[i].end, self,
					    (enum post_carrier)p->post[i].carrier);
}

/* Keeps only the posts of the layers that count. */
static void posts_choose(struct transfer_start *a, uint32_t process)
{
	struct transfer_process *p = a->process[process];
	const struct traffic_layer *l;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < p->npost; i++) {
		l = traffic_layer_find(a->traffic, process, p->post[i].carrier, p->post[i].layer);
		if (l && l->counts)
			p->post[kept++] = p->post[i];
	}
	p->npost = kept;
}

static void process_settle(struct transfer_start *a, const struct model *m, uint32_t process)
{
	struct transfer_process *p = a->process[process];
	struct transfer_op *op;

	for (size_t at = 0; (op = map_next(&p->outstanding, &at, NULL));) {
		*table_append(p->op, p->nop) = *op;
	}
	posts_choose(a, process);
	peers_find(a, m, process);
	table_sort(p->op, p->nop, op_compare);
	table_sort(p->post, p->npost, post_compare);
	doubts_find(p);
	transfer_arrivals_choose(a, m, process);
	for (uint32_t i = 0; i < p->nop; i++) {
		if (p->op[i].wanted)
			op_count(a, process, &p->op[i]);
	}
	for (uint32_t i = 0; i < p->nrow; i++) {
		p->row[i].process = process;
		*table_append(a->row, a->nrow) = p->row[i];
	}
}

void transfer_settle(void *ctx, const struct model *m)
{
	struct transfer_start *a = ctx;
	for (uint32_t i = 0; i < a->nprocess; i++) {
		if (a->process[i])
			process_settle(a, m, i);
	}
}
