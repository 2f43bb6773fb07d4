/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Follows operations from the call that starts them to the call that completes them, and waits for
 * their messages to be matched.
 */
#include "analysis/overlap_settle.h"

#include <stdlib.h>

#include "lib/table.h"

/* The call that started a request's operation. */
struct overlap_start {
	const struct model_thread *thread;
	uint64_t begin_ns;
	struct model_site site;
	struct overlap_position at;
};

static struct overlap_thread *thread_of(struct overlaps *a, const struct model_thread *t)
{
	return table_row(a->thread, a->nthread, t->idx);
}

/* ---- time outside MPI ---- */

/* Running time up to ts_ns, or up to the last reported state if that is later. */
static uint64_t running_until(const struct model_thread *t, uint64_t ts_ns)
{
	uint64_t ns = t->times.ns[THREAD_RUNNING];

	return t->state == THREAD_RUNNING ? ns + u64_minus(ts_ns, t->since_ns) : ns;
}

static struct overlap_position position_before(const struct overlaps *a,
					       const struct overlap_thread *t,
					       const struct model_call *c)
{
	struct overlap_position p = {.outside_ns = u64_minus(c->begin_ns, t->mpi_ns)};
	uint64_t running_ns = running_until(c->thread, c->end_ns);

	p.computing_ns = a->sched ? u64_minus(running_ns,
					      c->split.ns[THREAD_RUNNING] + t->mpi_running_ns) :
				    p.outside_ns;
	return p;
}

static void on_state(void *ctx, const struct model_thread *t, uint64_t from_ns, uint64_t to_ns,
		     enum thread_state s, uint16_t cpu)
{
	struct overlaps *a = ctx;
	struct overlap_thread *row;

	if (s != THREAD_RUNNABLE || !t->proc->is_rank)
		return;
	row = thread_of(a, t);
	/* grows in powers of two, as most threads have few */
	if (row->naway < OVERLAP_AWAY_MAX && !(row->naway & (row->naway - 1)))
		row->away = xrealloc(row->away, (2 * row->naway + 1) * sizeof(*row->away));
	row->away[row->naway++ % OVERLAP_AWAY_MAX] = (struct overlap_away){from_ns, to_ns};
}

/* Time without a core between two times, as far as it is kept. */
static uint64_t away_ns(const struct overlaps *a, const struct model_thread *t, uint64_t from_ns,
			uint64_t to_ns)
{
	const struct overlap_thread *row = t->idx < a->nthread ? &a->thread[t->idx] : NULL;
	uint64_t ns = 0;

	for (uint64_t i = 0; row && i < row->naway && i < OVERLAP_AWAY_MAX;
	     i++) { /* from the newest one on */
		const struct overlap_away *w = &row->away[(row->naway - 1 - i) % OVERLAP_AWAY_MAX];

		if (w->to_ns <= from_ns)
			break;
		ns += u64_minus(u64_min(w->to_ns, to_ns), u64_max(w->from_ns, from_ns));
	}
	return ns;
}

/*
 * Polls that are far apart belong to a computation that tests for completion now and then. The time
 * between them counts as outside MPI.
 */
static void on_spin(void *ctx, const struct model_spin *s)
{
	struct overlaps *a = ctx;
	struct overlap_thread *t;
	uint64_t ns = s->end_ns - s->begin_ns;

	if (s->nested || !func_is_top(s->func[0].func))
		return;
	t = thread_of(a, s->thread);
	t->mpi_ns += s->computes ? s->busy_ns : ns;
	t->mpi_running_ns += s->computes ? s->busy_ns : s->split.ns[THREAD_RUNNING];
}

/* ---- starts ---- */

static struct map *started_of(struct overlaps *a, const struct model_thread *t)
{
	return table_row(a->started, a->nprocess, t->proc->idx);
}

static void request_started(struct overlaps *a, const struct model_call *c, uint64_t request,
			    struct overlap_position at)
{
	struct overlap_start *s = map_make(started_of(a, c->thread), request,
					   sizeof(struct overlap_start));

	*s = (struct overlap_start){c->thread, c->begin_ns, c->site, at};
}

/* ---- ends ---- */

/* Size of the operation, or BYTES_UNKNOWN. 0 also if it is no message. */
static int64_t op_bytes(const struct call_request *q)
{
	const struct call_roles *r = &q->op->roles;
	int64_t in = !r->receives ? 0 : q->has_status ? q->bytes : r->recv_bytes;
	int64_t out = r->sends ? r->send_bytes : 0;

	return in < 0 || out < 0 ? BYTES_UNKNOWN : in > out ? in : out;
}

static bool is_looked_at(const struct call_request *q)
{
	uint32_t group = q->op->func->group_bit;

	return !q->error && ((group & GROUP_P2P && op_bytes(q)) ||
			     group & (GROUP_COLL | GROUP_NEIGH | GROUP_PART));
}

static uint32_t bucket_of(int64_t bytes)
{
	return bytes < 0 ? OVERLAP_BUCKET_UNKNOWN :
	       bytes	 ? 64 - (uint32_t)__builtin_clzll((uint64_t)bytes) :
			   0;
}

/* s: the call that started the operation, or NULL. */
static void op_fill(struct overlap_op *op, const struct model_call *c, const struct call_request *q,
		    const struct overlap_start *s, struct overlap_position now)
{
	bool known = s && s->begin_ns == q->op->begin_ns,
	     p2p = (q->op->func->group_bit & GROUP_P2P);
	int64_t bytes = op_bytes(q);

	*op = (struct overlap_op){
		.key = {.start = q->op->func,
			.done = c->func,
			.start_site = known ? s->site : (struct model_site){0},
			.done_site = c->site,
			.process = c->thread->proc->idx,
			.bucket = bucket_of(bytes)},
		.begin_ns = q->op->begin_ns,
		.posted_ns = q->op->posted_ns,
		.bytes = bytes,
		.sends = p2p && q->op->roles.sends,
		.receives = p2p && q->op->roles.receives,
		.unsure = !p2p,
	};
	if (!known || s->thread != c->thread)
		return;
	op->computed_from_ns = s->at.computing_ns;
	op->outside_ns = u64_minus(now.outside_ns, s->at.outside_ns);
	op->computing_ns = u64_minus(now.computing_ns, s->at.computing_ns);
}

static void call_over(struct overlaps *a, struct overlap_call *c)
{
	map_remove(&a->thread[c->thread].calls, c->begin_ns);
	*(c->prev ? &c->prev->next : &a->first) = c->next;
	*(c->next ? &c->next->prev : &a->last) = c->prev;
	a->kept -= c->nop;
	overlap_call_settle(a, c);
	free(c);
}

static bool is_settled(const struct overlap_call *c)
{
	return !table_any(c->nop, i, c->op[i].sends || c->op[i].receives);
}

static void call_keep(struct overlaps *a, struct overlap_call *c)
{
	c->prev = a->last;
	*(a->last ? &a->last->next : &a->first) = c;
	a->last = c;
	a->kept += c->nop;
	map_set(&a->thread[c->thread].calls, c->begin_ns, c);
	if (is_settled(c))
		call_over(a, c);
	while (a->kept > OVERLAP_KEPT_MAX)
		call_over(a, a->first);
}

static void requests_completed(struct overlaps *a, const struct model_call *c,
			       struct overlap_position now)
{
	const struct call_roles *r = &c->view->roles;
	struct overlap_call *done = xcalloc(1, sizeof(*done) + r->nrequests * sizeof(done->op[0]));
	struct map *started = started_of(a, c->thread);

	for (uint32_t i = 0; i < r->nrequests; i++) {
		const struct call_request *q = &r->requests[i];
		struct overlap_start *s;

		if (q->event != REQUEST_COMPLETE && q->event != REQUEST_FREE)
			continue;
		s = map_remove(started, q->handle);
		if (q->event == REQUEST_COMPLETE && q->op && is_looked_at(q))
			op_fill(&done->op[done->nop++], c, q, s, now);
		free(s);
	}
	if (!done->nop) {
		free(done);
		return;
	}
	done->thread = c->thread->idx;
	done->begin_ns = c->begin_ns;
	done->end_ns = c->end_ns;
	done->runnable_ns = c->split.ns[THREAD_RUNNABLE];
	call_keep(a, done);
}

static void on_call(void *ctx, const struct model_call *c)
{
	const struct call_roles *r = &c->view->roles;
	struct overlaps *a = ctx;
	struct overlap_position at;
	struct overlap_thread *t;
	bool completes = false;

	if (c->nested || !func_is_top(c->func))
		return;
	t = thread_of(a, c->thread);
	at = position_before(a, t, c);
	t->mpi_ns += c->end_ns - c->begin_ns;
	t->mpi_running_ns += c->split.ns[THREAD_RUNNING];
	if (r->requests_forgotten)
		map_free(started_of(a, c->thread), free);
	for (uint32_t i = 0; i < r->nrequests; i++) {
		const struct call_request *q = &r->requests[i];

		if (q->event == REQUEST_START || q->event == REQUEST_RESTART)
			request_started(a, c, q->handle, at);
		completes |= q->event == REQUEST_COMPLETE || q->event == REQUEST_FREE;
	}
	if (completes)
		requests_completed(a, c, at);
}

/* ---- the other ends ---- */

static struct overlap_call *call_of(const struct overlaps *a, const struct match_end *e)
{
	if (!e->completer || e->completer->idx >= a->nthread)
		return NULL;
	return map_get(&a->thread[e->completer->idx].calls, e->completing_ns);
}

/*
 * Finds the operation of a message end, preferably one of the same size. It does not matter which
 * of several operations it is that one call started with one size.
 */
static struct overlap_op *op_of(struct overlap_call *c, const struct match_end *e, bool sends)
{
	struct overlap_op *found = NULL;

	for (uint32_t i = 0; i < c->nop; i++) {
		struct overlap_op *op = &c->op[i];

		if (op->begin_ns != e->begin_ns || !(sends ? op->sends : op->receives))
			continue;
		if (op->bytes == e->bytes)
			return op;
		found = op;
	}
	return found;
}

static void end_found(struct overlaps *a, const struct match *m, bool sends)
{
	const struct match_end *own = sends ? &m->send : &m->recv,
			       *other = sends ? &m->recv : &m->send;
	struct overlap_call *c = call_of(a, own);
	struct overlap_op *op = c ? op_of(c, own, sends) : NULL;
	uint64_t from_ns, away;

	if (!op)
		return;
	from_ns = u64_max(other->begin_ns, c->begin_ns);
	away = away_ns(a, other->completer ?: other->thread, from_ns, c->end_ns);
	op->other_away_ns = u64_max(op->other_away_ns, away);
	if (sends)
		op->sends = false;
	else
		op->receives = false;
	op->unsure |= m->assumed;
	op->other_host |= own->process->host_idx != other->process->host_idx;
	op->other_begin_ns = u64_max(op->other_begin_ns, other->begin_ns);
	if (sends && other->completer && other->completing_ns < own->completing_ns)
		op->other_end_ns = other->end_ns;
	if (is_settled(c))
		call_over(a, c);
}

/* True if the thread was in MPI from the call that posted to the end of the call that completed. */
static bool computed_nothing(const struct match_end *e)
{
	return e->completer && (e->completing_ns == e->begin_ns ||
				e->completing_ns < e->posted_ns + OVERLAP_LEAST_NS);
}

/* Adds a time. Replaces the oldest one if the ring is full. */
static void alone_add(struct overlap_alone *alone, uint64_t ns)
{
	uint64_t *oldest = &alone->ns[alone->cnt % OVERLAP_ALONE_MAX], *s = alone->sorted;
	uint64_t n = alone->cnt < OVERLAP_ALONE_MAX ? alone->cnt : OVERLAP_ALONE_MAX, at = n;

	if (n == OVERLAP_ALONE_MAX)
		for (at = 0; s[at] != *oldest;)
			at++;
	/* moves the replaced entry to where the new time belongs */
	for (; at && s[at - 1] > ns; at--)
		s[at] = s[at - 1];
	for (; at + 1 < n && s[at + 1] < ns; at++)
		s[at] = s[at + 1];
	s[at] = *oldest = ns;
	alone->cnt++;
}

/*
 * True if the receiver waited before the message was sent, or began so shortly after it that the
 * measured time is the message's own.
 */
static bool receiver_waited(const struct match *m)
{
	return u64_minus(m->recv.completing_ns, m->send.begin_ns) * OVERLAP_WAITED_PART <=
	       u64_minus(m->recv.end_ns, m->send.begin_ns);
}

static void alone_learn(struct overlaps *a, const struct match *m)
{
	bool other_host = m->send.process->host_idx != m->recv.process->host_idx;
	uint64_t key = overlap_alone_key(m->bytes, other_host);
	struct overlap_alone *alone;

	if (m->assumed || m->bytes <= 0 || !computed_nothing(&m->send) ||
	    !computed_nothing(&m->recv) || m->recv.end_ns <= m->send.begin_ns ||
	    !receiver_waited(m))
		return;
	alone = map_get(&a->alone, key);
	if (!alone && a->alone.cnt >= OVERLAP_SIZES_MAX)
		return;
	if (!alone)
		alone = map_make(&a->alone, key, sizeof(*alone));
	alone_add(alone, m->recv.end_ns - m->send.begin_ns);
}

void overlaps_match(void *overlaps, const void *event)
{
	const struct match *m = event;
	struct overlaps *a = overlaps;

	alone_learn(a, m);
	end_found(a, m, true);
	end_found(a, m, false);
}

void overlaps_settle(struct overlaps *a)
{
	while (a->first)
		call_over(a, a->first);
}

static void on_start(void *ctx, const struct model *m)
{
	((struct overlaps *)ctx)->sched = model_get_info(m)->sched_recorded;
}

void overlaps_init(struct overlaps *a)
{
	*a = (struct overlaps){
		.sink = {.ctx = a,
			 .start = on_start,
			 .call = on_call,
			 .spin = on_spin,
			 .state = on_state},
	};
}

static void rows_free(void *value)
{
	for (struct overlap_row *r = value, *next; r; r = next) {
		next = r->next;
		free(r);
	}
}

static void overlap_thread_release(struct overlap_thread *t)
{
	map_release(&t->calls);
	free(t->away);
}

void overlaps_release(struct overlaps *a)
{
	struct overlap_call *c;

	while ((c = a->first)) {
		a->first = c->next;
		free(c);
	}
	for (uint32_t i = 0; i < a->nthread; i++)
		overlap_thread_release(&a->thread[i]);
	for (uint32_t i = 0; i < a->nprocess; i++)
		map_free(&a->started[i], free);
	free(a->thread);
	free(a->started);
	map_free(&a->rows, rows_free);
	map_free(&a->alone, free);
}
