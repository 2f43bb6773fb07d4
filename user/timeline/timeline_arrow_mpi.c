/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Arrows of MPI. Messages: from an instant "sent" at the begin of the call that posted the send, to
 * an instant "received" at the end of the call that completed the receive. Nonblocking operations:
 * from an instant "started" at the return of the call that started it, to an instant "finished" at
 * the end of the call that completed it. They have their own instants for two reasons. Which calls
 * belong together is known late, and an arrow between the calls would point backwards where a
 * receive waits for its send.
 */
#include "analysis/late.h"
#include "timeline/timeline_priv.h"

/*
 * If a call has several ends of arrows at its begin or its end, they lie a nanosecond apart.
 * Otherwise the reader would nest one inside another.
 */
static uint64_t arrow_time_after(uint64_t begin_ns, uint64_t end_ns, uint64_t nth)
{
	return begin_ns + nth < end_ns ? begin_ns + nth : begin_ns;
}

static uint64_t arrow_time_before(uint64_t begin_ns, uint64_t end_ns, uint64_t nth)
{
	return begin_ns + nth < end_ns ? end_ns - 1 - nth : end_ns - 1;
}

/* Writes one end of an arrow. */
static void arrow_end_write(struct timeline *tl, const struct model_thread *t, struct slice *s)
{
	tl_instant_write(tl, &tl_thread_of(tl, (struct model_thread *)t)->track, s);
}

static void args_add_peer(struct timeline *tl, const struct model_process *p, const char *name)
{
	if (p->rank >= 0)
		args_add_int(&tl->args, name, p->rank);
}

static void args_add_match(struct timeline *tl, const struct match *m)
{
	if (m->bytes >= 0)
		args_add_int(&tl->args, "bytes", m->bytes);
	args_add_int(&tl->args, "tag", m->tag);
	args_add_us(&tl->args, "latency_us", m->recv.end_ns - m->send.begin_ns);
	if (m->assumed) {
		args_add_bool(&tl->args, "assumed", true);
		return; /* no conclusions from an assumed match */
	}
	if (late_ns(m, LATE_SENDER))
		args_add_us(&tl->args, "receiver_waited_us", late_ns(m, LATE_SENDER));
	if (late_ns(m, LATE_RECEIVER))
		args_add_us(&tl->args, "sender_waited_us", late_ns(m, LATE_RECEIVER));
}

/* A receive or a send with a long wait keeps its arrow. */
static bool message_is_brief(const struct timeline *tl, const struct match *m)
{
	uint64_t ns = tl->opt.resolution_ns;

	return m->send.posted_ns - m->send.begin_ns < ns &&
	       m->send.end_ns - m->send.completing_ns < ns &&
	       m->recv.end_ns - m->recv.completing_ns < ns;
}

void tl_arrow_message(void *ctx, const void *event)
{
	const struct match *m = event;
	struct timeline *tl = ctx;
	uint64_t from_ns = m->send.begin_ns, to_ns = m->recv.end_ns - 1;
	uint64_t out_ns = arrow_time_after(from_ns, m->send.posted_ns, m->send.place);
	uint64_t in_ns = arrow_time_before(m->recv.completing_ns, m->recv.end_ns,
					   2 * (uint64_t)m->recv.end_place + 1);

	if (!m->recv.completer || !tl_call_shown(tl, m->send.process, m->send.func) ||
	    !tl_call_shown(tl, m->recv.process, m->recv.func) || !tl_in_window(tl, from_ns) ||
	    !tl_in_window(tl, to_ns))
		return;
	if (to_ns < from_ns) { /* the clocks of two hosts differ by more than the message took */
		tl->totals->arrows_reversed++;
		return;
	}
	if (!tl_arrow_drawn(tl, m->send.thread, ARROW_MESSAGE, from_ns, message_is_brief(tl, m)))
		return;
	if (in_ns < out_ns) {
		out_ns = from_ns;
		in_ns = to_ns;
	}
	tl->flow_id++;
	args_reset(&tl->args);
	args_add_peer(tl, m->recv.process, "to_rank");
	args_add_match(tl, m);
	arrow_end_write(tl, m->send.thread,
			&(struct slice){.name = "sent",
					.category = "message",
					.begin_ns = out_ns,
					.flow_out = tl->flow_id});
	args_reset(&tl->args);
	args_add_peer(tl, m->send.process, "from_rank");
	args_add_match(tl, m);
	arrow_end_write(tl, m->recv.completer,
			&(struct slice){.name = "received",
					.category = "message",
					.begin_ns = in_ns,
					.flow_in = tl->flow_id});
	tl->totals->flows++;
	tl->totals->arrows++;
}

static void operation_values_add(struct timeline *tl, const struct model_operation *o)
{
	int64_t send = o->roles->sends ? o->roles->send_bytes : 0;
	int64_t recv = o->roles->receives ? o->roles->recv_bytes : 0;

	args_add_text(&tl->args, "operation", o->func->name);
	if (o->completion->bytes >= 0)
		recv = o->completion->bytes;
	if (send >= 0 && recv >= 0)
		args_add_int(&tl->args, "bytes", send + recv);
}

static bool operation_is_drawn(struct timeline *tl, const struct model_operation *o,
			       uint64_t from_ns)
{
	uint64_t ns = tl->opt.resolution_ns;
	bool brief = o->posted_ns - o->begin_ns < ns && o->end_ns - o->completing_ns < ns;

	if (brief && o->end_ns - o->begin_ns < ns) { /* from a group to itself */
		tl->totals->arrows_hidden++;
		return false;
	}
	return tl_arrow_drawn(tl, o->starter, ARROW_OPERATION, from_ns, brief);
}

void tl_arrow_operation(void *ctx, const struct model_operation *o)
{
	struct timeline *tl = ctx;
	uint64_t from_ns = arrow_time_before(o->begin_ns, o->posted_ns, o->place);
	uint64_t to_ns = arrow_time_before(o->completing_ns, o->end_ns, 2 * (uint64_t)o->end_place);

	if (!o->completion || !o->starter || from_ns < o->begin_ns || to_ns < o->completing_ns ||
	    to_ns < from_ns || !tl_call_shown(tl, o->thread->proc, o->func) ||
	    !tl_in_window(tl, from_ns) || !tl_in_window(tl, to_ns) ||
	    !operation_is_drawn(tl, o, from_ns))
		return;
	tl->flow_id++;
	args_reset(&tl->args);
	operation_values_add(tl, o);
	arrow_end_write(tl, o->starter,
			&(struct slice){.name = "started",
					.category = "operation",
					.begin_ns = from_ns,
					.flow_out = tl->flow_id});
	if (o->completing_ns > o->posted_ns)
		args_add_us(&tl->args, "between_us", o->completing_ns - o->posted_ns);
	args_add_us(&tl->args, "completing_us", o->end_ns - o->completing_ns);
	arrow_end_write(tl, o->thread,
			&(struct slice){.name = "finished",
					.category = "operation",
					.begin_ns = to_ns,
					.flow_in = tl->flow_id});
	tl->totals->flows++;
	tl->totals->operations++;
}
