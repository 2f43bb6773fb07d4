/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Requests of the model: their CPU time and their completion. A partitioned request has one message
 * per part. Tags distinguish the messages, and each is sent when its part is ready.
 */
#include "model/sim.h"

#include "lib/log.h"

#define PART_TAG 65536 /* above all tags of the benchmarks */

/* An agent advances by itself only if data move by themselves. */
static bool request_done(const struct sim *sim, const struct request *r)
{
	const struct task *t = sim->current;

	if (r->pending)
		return false;
	return !t->agent || sim->set.overlap_send > 0 || sim->set.overlap_recv > 0 ||
	       core_attended(t->rank->core);
}

void request_wait(struct sim *sim, struct request *r)
{
	int taken;

	if (!request_done(sim, r)) {
		core_leave(sim);
		do {
			task_block(sim);
		} while (!request_done(sim, r));
		core_enter(sim);
	}
	taken = r->taken;
	r->taken = 0;
	r->active = false;
	core_use(sim, taken * sim->set.recv_ns);
}

static int part_tag(int tag, int part)
{
	return tag + (part + 1) * PART_TAG;
}

static struct comm_msg part_of(const struct comm_msg *m, int parts, int part)
{
	size_t bytes = m->bytes / (size_t)parts;
	size_t at = bytes * (size_t)part * (m->layout == COMM_STRIDED ? 2 : 1);

	return (struct comm_msg){(char *)m->buf + at, bytes, m->layout};
}

static void send_cost(struct sim *sim, const struct comm_msg *m, bool nonblocking)
{
	double ns = sim->set.send_ns + (nonblocking ? sim->set.isend_ns : 0);

	if (m->layout == COMM_STRIDED)
		ns += (double)m->bytes * sim->set.pack_byte_ns;
	core_use(sim, ns);
}

void request_send_begin(struct model_comm *mc, struct request *r, const struct comm_msg *m,
			int peer, int tag, bool nonblocking)
{
	r->kind = REQUEST_SEND;
	r->rank = mc->rank;
	r->active = true;
	r->env = (struct envelope){mc->context, mc->rank->idx, peer, tag};
	r->msg = *m;
	send_cost(mc->rank->sim, m, nonblocking);
	transfer_send(r, &r->env, m);
}

void request_recv_begin(struct model_comm *mc, struct request *r, const struct comm_msg *m,
			int peer, int tag)
{
	r->kind = REQUEST_RECV;
	r->rank = mc->rank;
	r->active = true;
	r->env = (struct envelope){mc->context, peer, mc->rank->idx, tag};
	r->msg = *m;
	transfer_recv(r, &r->env, m);
}

void request_start(struct request *r)
{
	struct envelope env = r->env;
	struct comm_msg m = r->msg;
	int i;

	if (r->active)
		die("model: rank %d starts a request that is active", r->rank->idx);
	r->active = true;
	if (!r->parts && r->kind == REQUEST_SEND) {
		send_cost(r->rank->sim, &m, true);
		transfer_send(r, &env, &m);
	} else if (!r->parts) {
		transfer_recv(r, &env, &m);
	} else if (r->kind == REQUEST_SEND) {
		r->pending = r->parts; /* pending until ready, then until sent */
	} else {
		for (i = 0; i < r->parts; i++) {
			env.tag = part_tag(r->env.tag, i);
			m = part_of(&r->msg, r->parts, i);
			transfer_recv(r, &env, &m);
		}
	}
}

void request_part_ready(struct request *r, int part)
{
	struct envelope env = r->env;
	struct comm_msg m = part_of(&r->msg, r->parts, part);

	env.tag = part_tag(env.tag, part);
	send_cost(r->rank->sim, &m, true);
	transfer_send(r, &env, &m);
	r->pending--;
}
