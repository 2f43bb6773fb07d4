/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Arrows from sends to receives: from an instant "sent" where the call that posted the send begins, to an instant "received" where
 * the call ends that completed the receive. Instants of their own, for which call belongs to which is known late, and since an
 * arrow between the calls themselves would point backwards where a receive waits for its send.
 */
#include "analysis/match.h"
#include "writer/timeline_priv.h"

static void end_write(struct timeline *tl, const struct model_thread *t, struct slice *s)
{
	s->instant = s->few_names = true;
	s->category = "message";
	s->args = &tl->args;
	tl->ops->slice(tl->ctx, &tl_thread_of(tl, (struct model_thread *)t)->track, s);
	tl->totals->instants++;
}

static void peer_add(struct timeline *tl, const struct model_process *p, const char *name)
{
	if (p->rank >= 0)
		args_add_int(&tl->args, name, p->rank);
}

static void values_add(struct timeline *tl, const struct match *m)
{
	if (m->bytes >= 0)
		args_add_int(&tl->args, "bytes", m->bytes);
	args_add_int(&tl->args, "tag", m->tag);
	if (m->assumed)
		args_add_bool(&tl->args, "assumed", true);
}

void tl_arrow(void *ctx, const struct match *m)
{
	struct timeline *tl = ctx;
	uint64_t from_ns = m->send.begin_ns, to_ns = m->recv.end_ns - 1;

	if (!m->recv.completer || !tl_call_shown(tl, m->send.process, m->send.func) ||
	    !tl_call_shown(tl, m->recv.process, m->recv.func) || !tl_in_window(tl, from_ns) ||
	    !tl_in_window(tl, to_ns))
		return;
	if (to_ns < from_ns) { /* the clocks of two hosts differ by more than the message took */
		tl->totals->arrows_reversed++;
		return;
	}
	tl->flow_id++;
	args_reset(&tl->args);
	peer_add(tl, m->recv.process, "to_rank");
	values_add(tl, m);
	end_write(tl, m->send.thread,
		  &(struct slice){.name = "sent",
				  .begin_ns = from_ns,
				  .end_ns = from_ns,
				  .flow_out = tl->flow_id});
	args_reset(&tl->args);
	peer_add(tl, m->send.process, "from_rank");
	values_add(tl, m);
	args_add_us(&tl->args, "after_us", m->recv.end_ns - m->send.begin_ns);
	end_write(tl, m->recv.completer,
		  &(struct slice){.name = "received",
				  .begin_ns = to_ns,
				  .end_ns = to_ns,
				  .flow_in = tl->flow_id});
	tl->totals->flows++;
	tl->totals->arrows++;
}
