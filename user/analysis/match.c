/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Collects what processes post and complete, from the model's calls, operations and messages.
 * match_lane.c matches the ends.
 */
#include "analysis/match.h"

#include <stdlib.h>

#include "abi/event.h"
#include "analysis/match_lane.h"
#include "lib/table.h"

#define LOOK_EVERY 1024 /* calls between two retries of waiting inboxes */

/* Operations that a process has posted by requests and not completed. */
struct match_process {
	/* [0] sends, [1] receives: request → struct match_posted, owned by its inbox */
	struct map posted[2];
	const struct model_thread *caller;
	bool several; /* several threads have made calls */
};

static struct match_process *process_of(struct matches *a, const struct model_process *p)
{
	return table_row(a->process, a->nprocess, p->idx);
}

/*
 * True if several threads of the process make calls. Then calls may be reported in another order
 * than that of their begin.
 */
static bool match_by_threads(const struct matches *a, const struct model_process *p)
{
	return p->idx < a->nprocess && a->process[p->idx].several;
}

/* True if earlier records of the process may be missing. */
static bool may_miss(const struct matches *a, const struct model_process *p)
{
	return a->lost || model_ran_before(a->model, p);
}

bool match_settled(const struct matches *a, const struct match_posted *p)
{
	const struct model_process *proc = p->end.process;

	return a->over || !match_by_threads(a, proc) ||
	       model_calls_reported_until(a->model, proc) > p->order_ns;
}

uint64_t match_known_until(const struct matches *a)
{
	uint64_t first_ns = a->clocks_apart ? 0 : UINT64_MAX, ns;

	for (uint32_t i = 0; i < model_process_count(a->model); i++) {
		const struct model_process *p = model_process_get(a->model, i);

		if (!p->is_rank) /* ranks come first */
			break;
		ns = model_calls_reported_until(a->model, p);
		first_ns = ns < first_ns ? ns : first_ns;
	}
	return first_ns;
}

/* True if earlier ends are missing in the queues because their peers were unknown. */
static bool is_behind_skipped(const struct matches *a, const struct match *m)
{
	return map_get(&a->skipped[false], map_pair(m->comm_id, m->recv.process->idx)) ||
	       map_get(&a->skipped[true], map_pair(m->comm_id, m->send.process->idx));
}

enum match_assumed match_assumed(const struct matches *a, const struct match *m, bool doubtful)
{
	if (may_miss(a, m->send.process) || may_miss(a, m->recv.process))
		return ASSUMED_WHOLE;
	if (doubtful)
		return ASSUMED_CANCELLED;
	return is_behind_skipped(a, m) ? ASSUMED_SKIPPED : ASSUMED_NOTHING;
}

static void end_count(struct matches *a, const struct model_process *p, bool sends,
		      enum match_why why)
{
	struct match_row *r = table_row(a->row, a->nrow, p->idx);

	(sends ? r->sends : r->recvs)[why]++;
}

void match_count(struct matches *a, const struct match_posted *p, enum match_why why)
{
	end_count(a, p->end.process, p->sends, why);
}

/* ---- posting ---- */

/* One end of a message, as described by the call that posts it or by a completed message. */
struct described {
	bool sends, any_source;
	int32_t peer, tag, peer_world, peer_job;
	enum peer_unknown why;
	int64_t bytes;
	uint64_t matched_ns; /* see call_roles */
};

static struct described send_of(const struct call_roles *r)
{
	return (struct described){
		.sends = true,
		.peer = r->peer,
		.tag = r->tag,
		.peer_world = r->peer_world,
		.peer_job = r->peer_job,
		.why = (enum peer_unknown)r->peer_why,
		.bytes = r->send_bytes,
	};
}

static struct described recv_of(const struct call_roles *r)
{
	return (struct described){
		.peer = r->recv_peer,
		.tag = r->recv_tag,
		.peer_world = r->recv_peer_world,
		.peer_job = r->recv_peer_job,
		.why = (enum peer_unknown)r->recv_peer_why,
		.bytes = r->recv_bytes,
		.matched_ns = r->matched_ns,
		.any_source = r->any_source,
	};
}

static struct described message_of(const struct model_message *msg)
{
	return (struct described){
		.sends = msg->sends,
		.peer = msg->peer,
		.tag = msg->tag,
		.peer_world = msg->peer_world,
		.peer_job = msg->peer_job,
		.why = msg->why,
		.bytes = msg->bytes,
		.any_source = !msg->sends && msg->operation->roles->any_source,
		.matched_ns = msg->sends ? 0 : msg->operation->roles->matched_ns,
	};
}

/* Finds the other process. NULL: unknown. Then counts the end, with the reason. */
static const struct model_process *peer_of(struct matches *a, const struct model_process *self,
					   const struct described *d, uint32_t comm_id)
{
	const struct model_process *peer = NULL;
	enum match_why why = MATCH_PEER_UNKNOWN;

	if (comm_id && d->why == PEER_KNOWN) {
		peer = model_peer(a->model, self, d->peer_job, d->peer_world);
		why = MATCH_NO_PEER;
	}
	if (!peer)
		end_count(a, self, d->sends, why);
	if (d->sends && comm_id && d->why != PEER_KNOWN)
		map_set(&a->unknown_to, comm_id, a);
	if (comm_id && d->why != PEER_KNOWN)
		map_set(&a->skipped[d->sends], map_pair(comm_id, self->idx), a);
	return peer;
}

/* Queues a new end. NULL: it cannot be matched, or is no message (its peer is MPI_PROC_NULL). */
static struct match_posted *posted_new(struct matches *a, const struct match_end *end,
				       const struct described *d, uint32_t comm_id)
{
	bool any = !d->sends && d->peer == PEER_ANY;
	const struct model_process *self = end->process, *peer = NULL;
	struct match_posted *p;

	if (d->peer == PEER_NULL || d->peer == PEER_ROOT)
		return NULL;
	if (!any || !comm_id) {
		peer = peer_of(a, self, d, comm_id);
		if (!peer)
			return NULL;
	}
	if (a->kept >= MATCH_KEPT_MAX)
		a->full = true;
	if (a->full) {
		end_count(a, self, d->sends, MATCH_TOO_MANY);
		return NULL;
	}
	p = xcalloc(1, sizeof(*p));
	p->end = *end;
	p->end.bytes = d->bytes;
	p->end.any_source = d->any_source;
	p->order_ns = d->matched_ns ?: end->begin_ns;
	p->sends = d->sends;
	p->from = d->sends ? (int64_t)self->idx : any ? FROM_ANY : (int64_t)peer->idx;
	p->tag = d->tag;
	p->inbox = match_inbox(a, comm_id, d->sends ? peer->idx : self->idx);
	match_post(a, p);
	return p;
}

/*
 * Removes and returns the operation that a process posted with this request, in a call that began
 * at begin_ns. A request's handle may be reused before the call that completed the previous
 * operation has returned.
 */
static struct match_posted *posted_take(struct map *posted, uint64_t request, uint64_t begin_ns,
					uint32_t place)
{
	struct match_posted *first = map_get(posted, request), **at = &first, *p;

	while ((p = *at) && (p->end.begin_ns != begin_ns || p->end.place != place))
		at = &p->replaced;
	if (!p)
		return NULL;
	*at = p->replaced;
	if (first)
		map_set(posted, request, first);
	else
		map_remove(posted, request);
	return p;
}

static void posted_keep(struct matches *a, struct map *posted, uint64_t request,
			struct match_posted *p)
{
	struct match_posted *before = map_set(posted, request, p), *lost;

	p->replaced = before;
	lost = before ? before->replaced : NULL;
	if (!lost)
		return;
	/* the handle was used again twice, so the first operation must be over */
	before->replaced = NULL;
	match_over(a, lost, FROM_ANY, TAG_ANY);
}

static void request_posts(struct matches *a, const struct model_call *c, uint64_t request,
			  const struct func_info *func, const struct call_roles *r, uint32_t place)
{
	struct match_process *proc = process_of(a, c->thread->proc);
	const struct match_end end = {
		.process = c->thread->proc,
		.thread = c->thread,
		.func = func,
		.begin_ns = c->begin_ns,
		.posted_ns = c->end_ns,
		.place = place,
	};

	for (int way = 0; r->has_peer && r->has_tag && way < 2; way++) {
		struct match_posted *p;
		struct described d;

		if (!(way ? r->receives : r->sends))
			continue;
		d = way ? recv_of(r) : send_of(r);
		p = posted_new(a, &end, &d, r->comm_id);
		if (p)
			posted_keep(a, &proc->posted[way], request, p);
	}
}

/*
 * Marks an operation as perhaps cancelled. The status of the completing call shows whether it was.
 */
static void request_cancelled(struct match_process *proc, const struct call_request *q)
{
	for (int way = 0; q->op && way < 2; way++) {
		struct match_posted *p = map_get(&proc->posted[way], q->handle);

		while (p && (p->end.begin_ns != q->op->begin_ns || p->end.place != q->op->place))
			p = p->replaced;
		if (p)
			p->cancelled = true;
	}
}

/* The freed operation still moves its data, at an unknown time. */
static void request_freed(struct matches *a, struct match_process *proc,
			  const struct call_request *q)
{
	for (int way = 0; q->op && way < 2; way++) {
		struct match_posted *p = posted_take(&proc->posted[way], q->handle, q->op->begin_ns,
						     q->op->place);

		if (p)
			match_over(a, p, FROM_ANY, TAG_ANY);
	}
}

static void on_call(void *ctx, const struct model_call *c)
{
	const struct call_roles *r = &c->view->roles;
	struct match_process *proc;
	struct matches *a = ctx;

	if (c->nested || !func_is_top(c->func))
		return;
	proc = process_of(a, c->thread->proc);
	proc->several |= proc->caller && proc->caller != c->thread;
	proc->caller = c->thread;
	if (++a->events % LOOK_EVERY == 0)
		match_look(a);
	for (uint32_t i = 0; i < r->nrequests; i++) {
		const struct call_request *q = &r->requests[i];

		if (q->event == REQUEST_START)
			request_posts(a, c, q->handle, c->func, r, 0);
		else if (q->event == REQUEST_RESTART && q->op)
			request_posts(a, c, q->handle, q->op->func, &q->op->roles, q->op->place);
		else if (q->event == REQUEST_FREE)
			request_freed(a, proc, q);
		else if (q->event == REQUEST_CANCEL)
			request_cancelled(proc, q);
		else if (q->event == REQUEST_COMPLETE && c->func->waits &&
			 model_ran_before(a->model, c->thread->proc))
			*(q->op ? &a->since : &a->before) += 1;
	}
}

/* ---- completion ---- */

/* Withdraws the last operation's ends if no message was reported for it: it moved no data. */
static void last_withdraw(struct matches *a)
{
	for (int way = 0; way < 2; way++) {
		if (a->last[way])
			match_withdraw(a, a->last[way]);
		a->last[way] = NULL;
	}
}

static void on_operation(void *ctx, const struct model_operation *o)
{
	struct matches *a = ctx;

	last_withdraw(a);
	if (!o->completion || !func_is_top(o->func))
		return;
	for (int way = 0; way < 2; way++)
		if (way ? o->roles->receives : o->roles->sends)
			a->last[way] = posted_take(&process_of(a, o->thread->proc)->posted[way],
						   o->completion->handle, o->begin_ns, o->place);
}

static void on_message(void *ctx, const struct model_message *msg)
{
	const struct model_operation *o = msg->operation;
	const struct described d = message_of(msg);
	const struct model_process *self = o->thread->proc, *peer = NULL;
	const struct match_end end = {
		.process = self,
		.thread = o->thread,
		.func = o->func,
		.begin_ns = o->begin_ns,
		.posted_ns = o->posted_ns,
		.place = o->place,
	};
	struct matches *a = ctx;
	struct match_posted *p = a->last[!msg->sends];

	a->last[!msg->sends] = NULL;
	if (!o->roles->has_tag || !func_is_top(o->func) || (o->completion && !p))
		return;
	if (!p)
		p = posted_new(a, &end, &d, msg->comm_id);
	if (!p)
		return;
	p->end.completer = o->thread;
	p->end.completing_ns = o->completing_ns;
	p->end.waiting_ns = o->waiting_ns;
	p->end.end_place = o->end_place;
	p->end.end_ns = o->end_ns;
	if (p->cancelled && !o->completion->has_status) {
		p->inbox->doubtful |= p->sends;
		(p->sends ? match_withdraw : match_in_doubt)(a, p);
		return;
	}
	p->end.bytes = d.bytes;
	if (d.why == PEER_KNOWN)
		peer = model_peer(a->model, self, d.peer_job, d.peer_world);
	match_over(a, p, peer ? (int64_t)peer->idx : FROM_ANY, d.tag);
}

static void on_lost(void *ctx, const struct model_lost *l)
{
	struct matches *a = ctx;

	a->lost |= model_lost_calls(l, "p2p req part") || l->class == POV_CLASS_MORE;
}

/* True if some host kept its time of day, because no messages corrected its clock. */
static bool clocks_apart(const struct model *m)
{
	for (uint32_t i = 1; i < model_get_info(m)->nhosts; i++)
		if (model_host_get(m, i)->clock_by == TRACE_CLOCK_TIME_OF_DAY)
			return true;
	return false;
}

static void on_start(void *ctx, const struct model *m)
{
	struct matches *a = ctx;

	a->model = m;
	a->clocks_apart = clocks_apart(m);
}

static void on_finish(void *ctx, const struct model *m)
{
	struct matches *a = ctx;

	last_withdraw(a);
	match_finish(a);
}

void matches_init(struct matches *a, void (*notify)(void *ctx, const struct match *m), void *ctx)
{
	*a = (struct matches){
		.sink = {.ctx = a,
			 .start = on_start,
			 .call = on_call,
			 .operation = on_operation,
			 .message = on_message,
			 .lost = on_lost,
			 .finish = on_finish},
		.notify = notify,
		.ctx = ctx,
	};
}

void matches_release(struct matches *a)
{
	match_inboxes_release(a);
	map_release(&a->unknown_to);
	map_release(&a->skipped[false]);
	map_release(&a->skipped[true]);
	for (uint32_t i = 0; i < a->nprocess; i++) {
		map_release(&a->process[i].posted[0]);
		map_release(&a->process[i].posted[1]);
	}
	free(a->process);
	free(a->row);
	free(a->waiting);
}

const struct match_row *matches_of(const struct matches *a, uint32_t idx)
{
	return table_get(a->row, a->nrow, idx);
}
