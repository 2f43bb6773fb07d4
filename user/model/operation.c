/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Derives operations and messages from what the layers report about each call and its requests.
 * Also counts the bytes each process has in flight. Only the layers store outstanding requests:
 * they need them for decoding.
 */
#include "model/what.h"

/* ---- operations that a call starts ---- */

void model_call_operations(const struct model_call *c,
			   void (*tell)(void *ctx, const struct model_call *c,
					const struct func_info *func,
					const struct call_roles *roles),
			   void *ctx)
{
	const struct call_roles *own = &c->view->roles;
	bool inits = false;

	for (uint32_t i = 0; i < own->nrequests; i++) {
		const struct call_request *r = &own->requests[i];

		inits |= r->event == REQUEST_INIT;
		if (r->event == REQUEST_RESTART && r->op)
			tell(ctx, c, r->op->func, &r->op->roles);
	}
	if (!inits && (own->sends || own->receives))
		tell(ctx, c, c->func, own);
}

/* ---- finished operations ---- */

static void message_tell(struct model *m, const struct model_operation *o, struct model_message msg)
{
	if (msg.peer == PEER_NULL || msg.peer == PEER_ROOT)
		return;
	msg.operation = o;
	msg.comm_id = o->roles->comm_id;
	if (msg.peer == PEER_ANY)
		msg.why = PEER_UNKNOWN_ANY;
	TELL(m, message, &msg);
}

static void messages_tell(struct model *m, const struct model_operation *o)
{
	const struct call_roles *r = o->roles;
	const struct call_request *done = o->completion;
	struct model_message received = {
		.peer = r->recv_peer,
		.tag = r->recv_tag,
		.peer_world = r->recv_peer_world,
		.peer_job = r->recv_peer_job,
		.why = r->recv_peer_why,
		.bytes = r->recv_bytes,
	};

	if (!r->has_peer)
		return;
	if (r->sends)
		message_tell(m, o,
			     (struct model_message){.sends = true,
						    .peer = r->peer,
						    .tag = r->tag,
						    .peer_world = r->peer_world,
						    .peer_job = r->peer_job,
						    .why = r->peer_why,
						    .bytes = r->send_bytes});
	if (!r->receives)
		return;
	if (done && done->has_status) {
		received.peer = done->source;
		received.tag = done->tag;
		received.peer_world = done->source_world;
		received.peer_job = done->source_job;
		received.why = done->source_why;
		received.bytes = done->bytes;
	}
	message_tell(m, o, received);
}

/* Usually the same thread as the one that completes it. */
static const struct model_thread *starter_of(const struct model *m, const struct model_thread *self,
					     const struct call_operation *op)
{
	const struct mthread *t;

	if (op->tid == self->tid && self->start_ns <= op->posted_ns)
		return self;
	t = identity_thread_at(m, op->tid, op->posted_ns);
	return t ? &t->pub : NULL;
}

static void operation_tell(struct model *m, const struct model_operation *o)
{
	TELL(m, operation, o);
	messages_tell(m, o);
}

void operations_tell(struct model *m, const struct model_call *c)
{
	const struct call_roles *own = &c->view->roles;
	bool goes_on = false;
	uint32_t done = 0;

	for (uint32_t i = 0; i < own->nrequests; i++) {
		const struct call_request *r = &own->requests[i];

		goes_on |= r->event == REQUEST_START || r->event == REQUEST_INIT;
		if (r->event == REQUEST_COMPLETE && r->op)
			operation_tell(m, &(struct model_operation){
						  .thread = c->thread,
						  .starter = starter_of(m, c->thread, r->op),
						  .func = r->op->func,
						  .roles = &r->op->roles,
						  .begin_ns = r->op->begin_ns,
						  .posted_ns = r->op->posted_ns,
						  .place = r->op->place,
						  .completing_ns = c->begin_ns,
						  .waiting_ns = c->polled_since_ns,
						  .end_ns = c->end_ns,
						  .end_place = done++,
						  .completion = r,
					  });
	}
	if (!goes_on && (own->sends || own->receives) && !c->open && !c->unwound && !own->error)
		operation_tell(m, &(struct model_operation){
					  .thread = c->thread,
					  .starter = c->thread,
					  .func = c->func,
					  .roles = own,
					  .begin_ns = c->begin_ns,
					  .posted_ns = c->end_ns,
					  .completing_ns = c->begin_ns,
					  .waiting_ns = c->begin_ns,
					  .end_ns = c->end_ns,
				  });
}

/* ---- bytes in flight ---- */

static void in_flight_set(struct model *m, struct mprocess *p, int64_t bytes, uint64_t ts_ns)
{
	struct model_counter counter = {
		.id = COUNTER_BYTES_IN_FLIGHT,
		.ts_ns = ts_ns,
		.proc = &p->pub,
		.value = bytes,
	};

	if (p->in_flight_bytes == bytes)
		return;
	p->in_flight_bytes = bytes;
	TELL(m, counter, &counter);
}

void in_flight_call(struct model *m, struct mprocess *p, const struct call_roles *roles,
		    uint64_t ts_ns)
{
	int64_t bytes = roles->requests_forgotten ? 0 : p->in_flight_bytes;

	for (uint32_t i = 0; i < roles->nrequests; i++)
		bytes += roles->requests[i].in_flight_bytes;
	in_flight_set(m, p, bytes > 0 ? bytes : 0, ts_ns);
}

void in_flight_end(struct model *m, struct mprocess *p, uint64_t ts_ns)
{
	in_flight_set(m, p, 0, ts_ns);
}
