/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Keeps everything that may matter, up to a limit. transfer_settle.c decides at the end what it
 * means.
 */
#include "analysis/transfer_settle.h"

#include <stdlib.h>

#include "lib/table.h"

static struct transfer_process *process_of(struct transfer_start *a, const struct model_thread *t)
{
	struct transfer_process **p = table_row(a->process, a->nprocess, t->proc->idx);

	if (!*p)
		*p = xcalloc(1, sizeof(**p));
	return *p;
}

/* True if there is room for another entry. Else nothing more of the process is kept from ns on. */
static bool room_take(struct transfer_start *a, struct transfer_process *p, uint64_t ns)
{
	if (a->kept < TRANSFERS_KEPT_MAX && !p->until_ns) {
		a->kept++;
		return true;
	}
	if (!p->until_ns || ns < p->until_ns)
		p->until_ns = ns ? ns : 1;
	return false;
}

static bool is_p2p(const struct func_info *f)
{
	return f->group_bit & (GROUP_P2P | GROUP_PART);
}

/* Operations other than point-to-point may send and receive, whatever their arguments say. */
static void directions_set(struct transfer_op *op, const struct func_info *f,
			   const struct call_roles *r)
{
	op->func = f->id;
	op->sends = r->sends || !is_p2p(f);
	op->receives = r->receives || !is_p2p(f);
	op->peer = op->peer_world = op->peer_job = op->source = op->tag = -1;
	op->p2p = is_p2p(f);
}

static struct transfer_row *row_of(struct transfer_process *p, uint32_t func)
{
	struct transfer_row *row;

	for (uint32_t i = 0; i < p->nrow; i++) {
		if (p->row[i].func == func)
			return &p->row[i];
	}
	row = table_append(p->row, p->nrow);
	row->func = func;
	return row;
}

struct transfer_row *transfer_count(struct transfer_process *p, const struct transfer_op *op,
				    enum transfer_when w)
{
	struct transfer_row *r = row_of(p, op->func);

	r->cnt[w]++;
	r->bytes[w] += op->bytes > 0 ? (uint64_t)op->bytes : 0;
	return r;
}

static void op_add(struct transfer_start *a, struct transfer_process *p,
		   const struct transfer_op *op)
{
	if (!room_take(a, p, op->begin_ns)) {
		if (op->wanted)
			transfer_count(p, op, TRANSFER_UNCLEAR);
		return;
	}
	*table_append(p->op, p->nop) = *op;
}

/* ---- incoming records ---- */

static void request_started(struct transfer_start *a, const struct model_call *c,
			    const struct call_request *r)
{
	struct transfer_process *p = process_of(a, c->thread);
	struct transfer_op op = {.begin_ns = c->begin_ns, .end_ns = UINT64_MAX}, *old;

	directions_set(&op, r->op ? r->op->func : c->func, r->op ? &r->op->roles : &c->view->roles);
	old = map_get(&p->outstanding, r->handle);
	if (old) { /* its end was not seen */
		op_add(a, p, old);
		*old = op;
		return;
	}
	if (!room_take(a, p, c->begin_ns))
		return;
	old = map_make(&p->outstanding, r->handle, sizeof(*old));
	*old = op;
}

static void request_over(struct transfer_start *a, const struct model_call *c,
			 const struct call_request *r)
{
	struct transfer_process *p = process_of(a, c->thread);
	void *started = map_remove(&p->outstanding, r->handle);

	a->kept -= started != NULL;
	free(started);
	if (r->op)
		return;
	/* an operation whose begin was not seen may be anything */
	op_add(a, p,
	       &(struct transfer_op){.end_ns = c->end_ns,
				     .sends = true,
				     .receives = true,
				     .p2p = true,
				     .peer = -1,
				     .peer_world = -1,
				     .source = -1,
				     .tag = -1});
}

/*
 * True for calls that may send messages of their own though they move none of the program's data:
 * barriers, synchronisation of windows, creation of communicators.
 */
static bool may_post(const struct func_info *f)
{
	return f->group_bit & (GROUP_COLL | GROUP_NEIGH | GROUP_RMA | GROUP_COMM | GROUP_TOPO |
			       GROUP_INIT | GROUP_IO);
}

static void on_call(void *ctx, const struct model_call *c)
{
	const struct call_roles *r = &c->view->roles;
	struct transfer_start *a = ctx;
	struct transfer_op op = {.begin_ns = c->begin_ns, .end_ns = c->end_ns};

	if (!a->on || c->nested || !func_is_top(c->func))
		return;
	if (r->requests_forgotten)
		process_of(a, c->thread)->forgotten = true;
	for (uint32_t i = 0; i < r->nrequests; i++) {
		if (r->requests[i].event == REQUEST_START ||
		    r->requests[i].event == REQUEST_RESTART)
			request_started(a, c, &r->requests[i]);
		else if (r->requests[i].event == REQUEST_COMPLETE)
			request_over(a, c, &r->requests[i]);
	}
	if (r->sends || r->receives || !may_post(c->func))
		return;
	directions_set(&op, c->func, r);
	op_add(a, process_of(a, c->thread), &op);
}

static void on_operation(void *ctx, const struct model_operation *o)
{
	struct transfer_start *a = ctx;
	const struct call_roles *r = o->roles;
	struct transfer_op op = {
		.begin_ns = o->begin_ns,
		.posted_ns = o->posted_ns,
		.completing_ns = o->completing_ns,
		.end_ns = o->end_ns,
		.request = o->completion ? o->completion->handle : 0,
	};
	bool has_status = o->completion && o->completion->has_status;

	if (!a->on || !func_is_top(o->func))
		return;
	traffic_func_note(a->traffic, o->func);
	directions_set(&op, o->func, r);
	if (is_p2p(o->func) && r->sends != r->receives) {
		op.peer_world = r->sends   ? r->peer_world :
				has_status ? o->completion->source_world :
					     r->recv_peer_world;
		op.peer_job = r->sends	 ? r->peer_job :
			      has_status ? o->completion->source_job :
					   r->recv_peer_job;
		if (r->receives) {
			op.source = has_status ? o->completion->source : r->recv_peer;
			op.tag = has_status ? o->completion->tag : r->recv_tag;
		}
		op.bytes = r->sends   ? r->send_bytes :
			   has_status ? o->completion->bytes :
					r->recv_bytes;
		/*
		 * an operation without a request was complete when the call that started it
		 * returned
		 */
		op.wanted = (o->completion || !o->func->waits) && op.bytes &&
			    (r->sends ? r->peer : r->recv_peer) != PEER_NULL;
	}
	op_add(a, process_of(a, o->thread), &op);
}

static void arrival_keep(struct transfer_start *a, const struct model_post *p)
{
	struct transfer_process *proc = process_of(a, p->call->thread);
	const struct call_post *post = p->post;
	struct names *names = &a->traffic->names;

	/* libraries give the messages of their collectives negative tags */
	if (!post->bytes || (post->has_envelope && post->tag < 0) ||
	    !room_take(a, proc, p->call->begin_ns))
		return;
	*table_append(proc->arrival, proc->narrival) = (struct transfer_arrival){
		.ns = p->call->end_ns,
		.message = post->message,
		.bytes = post->bytes,
		.end = names_id(names, post->remote_end),
		.layer = names_id(names, p->call->func->layer_name),
		.source = post->source,
		.tag = post->tag,
		.carrier = (uint8_t)post->carrier,
		.has_envelope = post->has_envelope,
	};
}

static void on_post(void *ctx, const struct model_post *p)
{
	const struct call_post *post = p->post;
	const struct model_thread *t = p->call->thread;
	struct transfer_start *a = ctx;
	struct transfer_process *proc = process_of(a, t);
	struct names *names = &a->traffic->names;
	bool data = post->kind == POST_SEND || post->kind == POST_WRITE || post->kind == POST_READ;
	bool protocol = post->step == STEP_RTS || post->step == STEP_RTR || post->step == STEP_FIN;

	if (post->kind == POST_ARRIVAL && !post->failed)
		arrival_keep(a, p);
	if (!data || protocol || post->failed || post->carrier == CARRIER_UNKNOWN ||
	    !room_take(a, proc, p->call->begin_ns))
		return;
	*table_append(proc->post, proc->npost) = (struct transfer_post){
		.ns = p->call->begin_ns,
		.message = post->message,
		.bytes = post->bytes,
		.end = names_id(names, post->remote_end),
		.layer = names_id(names, p->call->func->layer_name),
		.thread = names_id(names, t->comm),
		.in_func = p->within ? p->within->func->id + 1u : 0,
		.kind = (uint8_t)post->kind,
		.step = (uint8_t)post->step,
		.carrier = (uint8_t)post->carrier,
	};
}

static void on_start(void *ctx, const struct model *m)
{
	struct transfer_start *a = ctx;

	for (uint32_t i = 0; i < model_func_count(m); i++) {
		const struct func_info *f = model_func_get(m, i);

		a->on |= f->layer && f->layer->nearness;
	}
}

void transfer_start_init(struct transfer_start *a, struct traffic *traffic,
			 const struct losses *losses)
{
	*a = (struct transfer_start){
		.sink = {.ctx = a,
			 .start = on_start,
			 .call = on_call,
			 .operation = on_operation,
			 .post = on_post,
			 .finish = transfer_settle},
		.traffic = traffic,
		.losses = losses,
	};
}

void transfer_start_release(struct transfer_start *a)
{
	for (uint32_t i = 0; i < a->nprocess; i++) {
		struct transfer_process *p = a->process[i];

		if (!p)
			continue;
		map_free(&p->outstanding, free);
		free(p->op);
		free(p->post);
		free(p->arrival);
		free(p->row);
		free(p);
	}
	free(a->process);
	free(a->row);
	free(a->by);
}
