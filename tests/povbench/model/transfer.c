/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Messages in flight: announced, matched in the order of announcement, requested if there is a
 * handshake, and moved. The speed changes whenever a core at either end starts or ends a
 * computation (model.h states the rules). Without shared_link, messages are independent of each
 * other.
 */
#include "model/sim.h"

#include <stdlib.h>
#include <string.h>

#include "lib/log.h"

#define BLOCK_BYTES 32	/* COMM_STRIDED: blocks of this size alternate with gaps */
#define NOTHING_NS 1e-6 /* smaller times are rounding errors */

enum phase {
	PHASE_FLYING, /* announcement not yet received */
	PHASE_UNEXPECTED,
	PHASE_MATCHED, /* eager: waits for its data */
	PHASE_ANSWERED,
	PHASE_SENDER, /* a CPU of the sender must read the answer */
	PHASE_QUEUED, /* another message uses the link */
	PHASE_DATA,
};

struct message {
	struct sim *sim;
	struct message *next; /* active messages, in the order of sending */
	struct envelope env;
	struct comm_msg from, to;
	void *copy; /* eager: contiguous copy of the data; owned */
	struct request *send, *recv;
	enum phase phase;
	bool eager, data_here, slowed, outside;
	double total_ns, left_ns, outside_ns, speed, since_ns;
	uint64_t announced; /* order of arrival, which decides the matching */
	uint64_t generation;
};

struct receive {
	struct receive *next;
	struct envelope env;
	struct comm_msg to;
	struct request *request;
};

/* ---- data ---- */

static size_t layout_at(enum comm_layout layout, size_t i)
{
	return layout == COMM_STRIDED ? i / BLOCK_BYTES * 2 * BLOCK_BYTES + i % BLOCK_BYTES : i;
}

static void data_copy(void *to, enum comm_layout to_layout, const void *from,
		      enum comm_layout from_layout, size_t bytes)
{
	size_t i, n = bytes;

	if (to_layout == COMM_CONTIGUOUS && from_layout == COMM_CONTIGUOUS) {
		if (bytes)
			memmove(to, from, bytes);
		return;
	}
	for (i = 0; i < bytes; i += n) {
		n = bytes - i < BLOCK_BYTES ? bytes - i : BLOCK_BYTES;
		memcpy((char *)to + layout_at(to_layout, i),
		       (const char *)from + layout_at(from_layout, i), n);
	}
}

/* ---- the life of a message ---- */

double model_link_ns(const struct model_settings *s, int from, int to)
{
	if (from == to)
		return 0;
	return s->far_ns > 0 && (from ^ to) & 1 ? s->far_ns : s->latency_ns;
}

static double link_ns(const struct message *m, bool back)
{
	return model_link_ns(&m->sim->set, back ? m->env.to : m->env.from,
			     back ? m->env.from : m->env.to);
}

static struct message *message_new(struct sim *sim)
{
	struct message *m = sim->spare, **last = &sim->active;
	uint64_t generation;

	if (!m)
		m = xcalloc(1, sizeof(*m));
	else
		sim->spare = m->next;
	generation = m->generation + 1;
	*m = (struct message){.sim = sim, .generation = generation};
	while (*last)
		last = &(*last)->next;
	*last = m;
	return m;
}

static void message_done(struct message *m)
{
	struct sim *sim = m->sim;
	struct message **at = &sim->active;

	data_copy(m->to.buf, m->to.layout, m->eager ? m->copy : m->from.buf,
		  m->eager ? COMM_CONTIGUOUS : m->from.layout, m->from.bytes);
	m->recv->pending--;
	m->recv->taken++;
	rank_wake(m->recv->rank);
	if (!m->eager) {
		m->send->pending--;
		rank_wake(m->send->rank);
	}
	free(m->copy);
	while (*at != m)
		at = &(*at)->next;
	*at = m->next;
	m->generation++;
	m->next = sim->spare;
	sim->spare = m;
}

/* ---- moving data ---- */

static void data_settle(struct message *m)
{
	double moved_ns = m->speed * (m->sim->now_ns - m->since_ns);

	m->left_ns -= moved_ns;
	if (m->outside)
		m->outside_ns += moved_ns;
	m->since_ns = m->sim->now_ns;
}

/* Returns the share of full speed that both ends allow now. */
static double data_share(struct message *m)
{
	const struct model_settings *set = &m->sim->set;
	bool away_from = !core_attended(m->sim->ranks[m->env.from].core);
	bool away_to = !core_attended(m->sim->ranks[m->env.to].core);
	double f = 1;

	m->outside = away_from || away_to;
	if (away_from && set->overlap_send < f)
		f = set->overlap_send;
	if (away_to && set->overlap_recv < f)
		f = set->overlap_recv;
	if (m->outside && set->overlap_strided < f &&
	    (m->from.layout == COMM_STRIDED || m->to.layout == COMM_STRIDED))
		f = set->overlap_strided;
	return f;
}

static void data_moved(struct sim *sim, void *arg, uint64_t generation);
static void link_next(const struct message *done);

static void data_go_on(struct message *m)
{
	double f = data_share(m), slow = m->sim->set.slow, step_ns;

	if (m->outside && !m->slowed && slow > 1) {
		m->slowed = true;
		m->left_ns *= slow;
		m->total_ns *= slow;
	}
	step_ns = m->left_ns;
	if (f < 1 && f * m->total_ns - m->outside_ns < step_ns)
		step_ns = f * m->total_ns - m->outside_ns;
	/* If all data moved at this very moment, the event for that is now outdated. */
	m->speed = step_ns > NOTHING_NS ? f : 0;
	m->generation++;
	if (m->left_ns <= NOTHING_NS)
		sim_at(m->sim, m->sim->now_ns, data_moved, m, m->generation);
	else if (m->speed > 0)
		sim_at(m->sim, m->sim->now_ns + step_ns / m->speed, data_moved, m, m->generation);
}

static void data_moved(struct sim *sim, void *arg, uint64_t generation)
{
	struct message *m = arg;

	if (m->generation != generation)
		return;
	data_settle(m);
	if (m->left_ns > NOTHING_NS) {
		data_go_on(m);
		return;
	}
	message_done(m);
	link_next(m);
}

static bool same_link(const struct message *a, const struct message *b)
{
	return a->env.from == b->env.from && a->env.to == b->env.to;
}

static bool link_taken(const struct message *m)
{
	const struct message *o;

	for (o = m->sim->active; o; o = o->next) {
		if (o != m && o->phase == PHASE_DATA && same_link(o, m))
			return true;
	}
	return false;
}

static void data_begin(struct message *m, double first_ns)
{
	if (m->sim->set.shared_link && link_taken(m)) {
		m->phase = PHASE_QUEUED;
		m->left_ns = first_ns;
		return;
	}
	m->phase = PHASE_DATA;
	m->total_ns = first_ns + (double)m->from.bytes * m->sim->set.byte_ns;
	m->left_ns = m->total_ns;
	m->since_ns = m->sim->now_ns;
	/* An empty message ends in an event, so that the task that matched it goes on first. */
	if (m->total_ns <= NOTHING_NS)
		sim_at(m->sim, m->sim->now_ns, data_moved, m, ++m->generation);
	else
		data_go_on(m);
}

/* Gives the link to the message that was sent first. `done` still knows its link. */
static void link_next(const struct message *done)
{
	struct message *m;

	for (m = done->sim->active; m; m = m->next) {
		if (m->phase == PHASE_QUEUED && same_link(m, done)) {
			data_begin(m, m->left_ns);
			return;
		}
	}
}

/* ---- meeting ---- */

/* After the answer, data move once the sender is in a call to read it. */
static void message_step(struct message *m)
{
	if (m->phase == PHASE_SENDER && core_attended(m->sim->ranks[m->env.from].core))
		data_begin(m, link_ns(m, false));
}

static void message_answered(struct sim *sim, void *arg, uint64_t generation)
{
	struct message *m = arg;

	if (m->generation != generation)
		return;
	m->phase = PHASE_SENDER;
	message_step(m);
}

static void message_match(struct message *m, struct request *r, const struct comm_msg *to)
{
	struct sim *sim = m->sim;

	if (m->from.bytes > to->bytes)
		die("model: rank %d receives %zu bytes, but %d sent %zu", m->env.to, to->bytes,
		    m->env.from, m->from.bytes);
	m->recv = r;
	m->to = *to;
	if (m->eager) {
		m->phase = PHASE_MATCHED;
		if (m->data_here)
			message_done(m);
	} else if (!sim->set.handshake) {
		data_begin(m, 0);
	} else {
		m->phase = PHASE_ANSWERED;
		sim_at(sim, sim->now_ns + link_ns(m, true), message_answered, m, m->generation);
	}
}

static bool envelope_matches(const struct envelope *wanted, const struct envelope *env)
{
	return wanted->context == env->context && wanted->to == env->to &&
	       wanted->tag == env->tag && (wanted->from == COMM_ANY || wanted->from == env->from);
}

static void message_announced(struct sim *sim, void *arg, uint64_t generation)
{
	struct message *m = arg;
	struct receive **at, *r;

	m->phase = PHASE_UNEXPECTED;
	m->announced = sim->order;
	for (at = &sim->receives; (r = *at); at = &r->next) {
		if (!envelope_matches(&r->env, &m->env))
			continue;
		*at = r->next;
		message_match(m, r->request, &r->to);
		free(r);
		return;
	}
}

static void message_data_here(struct sim *sim, void *arg, uint64_t generation)
{
	struct message *m = arg;

	m->data_here = true;
	if (m->phase == PHASE_MATCHED)
		message_done(m);
}

void transfer_send(struct request *r, const struct envelope *env, const struct comm_msg *msg)
{
	struct sim *sim = r->rank->sim;
	struct message *m = message_new(sim);
	double at_ns = sim->now_ns + model_link_ns(&sim->set, env->from, env->to);

	m->env = *env;
	m->from = *msg;
	m->send = r;
	m->eager = msg->bytes <= sim->set.eager_bytes;
	sim_at(sim, at_ns, message_announced, m, 0);
	if (!m->eager) {
		r->pending++;
		return;
	}
	m->copy = xmalloc(msg->bytes ? msg->bytes : 1);
	data_copy(m->copy, COMM_CONTIGUOUS, msg->buf, msg->layout, msg->bytes);
	sim_at(sim, at_ns + (double)msg->bytes * sim->set.byte_ns, message_data_here, m, 0);
}

void transfer_recv(struct request *r, const struct envelope *env, const struct comm_msg *to)
{
	struct sim *sim = r->rank->sim;
	struct message *m, *first = NULL;
	struct receive **last, *posted;

	r->pending++;
	for (m = sim->active; m; m = m->next) {
		if (m->phase == PHASE_UNEXPECTED && envelope_matches(env, &m->env) &&
		    (!first || m->announced < first->announced))
			first = m;
	}
	if (first) {
		message_match(first, r, to);
		return;
	}
	posted = xmalloc(sizeof(*posted));
	*posted = (struct receive){NULL, *env, *to, r};
	for (last = &sim->receives; *last; last = &(*last)->next)
		;
	*last = posted;
}

void transfers_update(struct sim *sim, const struct core *core)
{
	struct message *m;
	struct task *t;

	for (m = sim->active; m; m = m->next) {
		if (sim->ranks[m->env.from].core != core && sim->ranks[m->env.to].core != core)
			continue;
		if (m->phase == PHASE_DATA && m->total_ns > NOTHING_NS) {
			data_settle(m);
			data_go_on(m);
		} else {
			message_step(m);
		}
	}
	if (!core_attended(core))
		return;
	for (t = sim->tasks; t; t = t->next) {
		if (t->agent && t->rank->core == core)
			task_wake(t);
	}
}

static void messages_free(struct message *m)
{
	struct message *next;

	for (; m; m = next) {
		next = m->next;
		free(m->copy);
		free(m);
	}
}

void transfers_release(struct sim *sim)
{
	struct receive *r;
	struct message *m;

	while ((r = sim->receives)) {
		sim->receives = r->next;
		free(r);
	}
	for (m = sim->spare; m; m = m->next)
		m->copy = NULL;
	messages_free(sim->spare);
	messages_free(sim->active);
}
