/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Finds whom threads wait for, and which can never go on. */
#include "analysis/hang.h"

#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "lib/table.h"

#define SEND_WAITS_NS 100000000

/* ---- messages ---- */

static bool has_own_end(const struct hang_thread *t, const struct hang_want *w)
{
	return t->func == w->func && (w->kind == HANG_RECV || w->kind == HANG_SEND) && w->comm_id;
}

static void hang_end_add(struct hang *h, const struct hang_end *e)
{
	struct hang_inbox *in = map_make(&h->inboxes, map_pair(e->comm_id, e->to), sizeof(*in));

	*table_append(in->end, in->cnt) = *e;
}

/* Adds the messages that blocking open calls send or receive. No request was posted for them. */
static void ends_add_open(struct hang *h, const struct hang_thread *t)
{
	const struct model_process *self = t->thread->proc;

	for (uint32_t i = 0; i < t->nwant; i++) {
		const struct hang_want *w = &t->want[i];
		bool sends = w->kind == HANG_SEND;
		struct hang_end e = {
			.comm_id = w->comm_id,
			.tag = w->tag,
			.sends = sends,
			.func = w->func,
		};

		if (!has_own_end(t, w) || (!w->process && (sends || w->peer != PEER_ANY)))
			continue;
		e.from = sends	    ? (int64_t)self->idx :
			 w->process ? (int64_t)w->process->idx :
				      FROM_ANY;
		e.to = sends ? w->process->idx : self->idx;
		hang_end_add(h, &e);
	}
}

static bool tags_fit(int32_t a, int32_t b)
{
	return a == TAG_ANY || b == TAG_ANY || a == b;
}

/* Number of ends of the other kind that fit an end with this sender and tag. */
static uint32_t ends_that_fit(const struct hang_inbox *in, bool sends, int64_t from, int32_t tag)
{
	uint32_t cnt = 0;

	for (uint32_t i = 0; in && i < in->cnt; i++) {
		const struct hang_end *e = &in->end[i];

		cnt += e->sends == sends && tags_fit(e->tag, tag) &&
		       (from == FROM_ANY || e->from == FROM_ANY || e->from == from);
	}
	return cnt;
}

/* True if all members of a communicator of this size are in the trace, with all their calls. */
static bool all_recorded(const struct hang *h, int32_t job, int32_t size)
{
	int32_t cnt = 0;

	for (uint32_t i = 0; i < model_process_count(h->model); i++) {
		const struct model_process *p = model_process_get(h->model, i);

		if (!p->is_rank || p->job_idx != job)
			continue;
		if (hang_may_miss(h, p))
			return false;
		cnt++;
	}
	return size >= 0 && cnt >= size;
}

static enum hang_other message_other(const struct hang *h, const struct hang_thread *t,
				     const struct hang_want *w)
{
	const struct model_process *self = t->thread->proc;
	bool sends = w->kind == HANG_SEND;
	const struct hang_inbox *in;
	int64_t from = FROM_ANY;

	if (!w->comm_id || hang_may_miss(h, self))
		return HANG_UNKNOWN;
	if (w->process ? hang_may_miss(h, w->process) :
			 w->peer != PEER_ANY || !all_recorded(h, self->job_idx, w->comm_size))
		return HANG_UNKNOWN;
	in = map_get(&h->inboxes, map_pair(w->comm_id, sends ? w->process->idx : self->idx));
	if (in && in->doubtful)
		return HANG_UNKNOWN;
	if (sends)
		from = self->idx;
	else if (w->process)
		from = w->process->idx;
	return ends_that_fit(in, !sends, from, w->tag) ? HANG_SEEN : HANG_UNSEEN;
}

bool hang_other_message(const struct hang *h, const struct model_process *from,
			const struct model_process *to, struct hang_message *out)
{
	const struct hang_inbox *in;

	*out = (struct hang_message){0};
	for (size_t at = 0; (in = map_next(&h->inboxes, &at, NULL));) {
		for (uint32_t i = 0; !in->doubtful && i < in->cnt; i++) {
			const struct hang_end *e = &in->end[i];

			if (!e->sends || e->to != to->idx || e->from != from->idx)
				continue;
			if (out->cnt && (e->comm_id != out->comm_id || e->tag != out->tag))
				continue;
			out->func = e->func;
			out->comm_id = e->comm_id;
			out->tag = e->tag;
			out->cnt++;
		}
	}
	return out->cnt;
}

/* ---- calls together ---- */

/*
 * True if all members are in the trace, with all their calls. The members may be of several jobs.
 */
static bool members_recorded(const struct hang *h, const struct model_process *self,
			     const struct hang_joint *j)
{
	if (!j->member)
		return all_recorded(h, self->job_idx, j->size);
	for (int32_t i = 0; i < j->size; i++) {
		const struct model_process *p = hang_member(h, self, j->member[i]);

		if (!p || hang_may_miss(h, p))
			return false;
	}
	return true;
}

static enum hang_other together_other(const struct hang *h, const struct hang_thread *t,
				      const struct hang_want *w)
{
	const struct hang_joint *j = map_get(&h->joints, w->joint);
	const struct model_process *self = t->thread->proc;
	struct hang_part *part;
	int32_t there = 0;

	if (!j || !w->number || j->size < 0 || hang_may_miss(h, self))
		return HANG_UNKNOWN;
	for (size_t at = 0; (part = map_next(&j->part, &at, NULL));)
		there += part->number >= w->number;
	if (there >= j->size)
		return HANG_SEEN;
	return members_recorded(h, self, j) ? HANG_UNSEEN : HANG_UNKNOWN;
}

/* ---- who waits for whom ---- */

static void waits_for(struct hang_thread *t, const struct model_process *p)
{
	*table_append(t->waits_for, t->nwaits_for) = p->idx;
}

static void together_waits(const struct hang *h, struct hang_thread *t, const struct hang_want *w)
{
	const struct hang_joint *j = map_get(&h->joints, w->joint);

	for (int32_t i = 0; j && j->member && i < j->size; i++) {
		const struct model_process *p = hang_member(h, t->thread->proc, j->member[i]);

		if (p && hang_number(j, p) < w->number &&
		    (w->for_all || (w->for_root && p == w->root)))
			waits_for(t, p);
	}
}

/*
 * True if the call has lasted for SEND_WAITS_NS, not counting time without a core. By then, a
 * library that buffers or delivers messages without the receiver would have done so.
 */
static bool thread_worked(const struct hang_thread *t)
{
	const struct state_times *s = &t->times;

	return s->ns[THREAD_RUNNING] + s->ns[THREAD_BLOCKED] >= SEND_WAITS_NS ||
	       s->ns[THREAD_UNKNOWN] >= 10 * SEND_WAITS_NS;
}

static bool want_waits(const struct hang_thread *t, const struct hang_want *w)
{
	return w->other == HANG_UNSEEN || (w->other == HANG_UNKNOWN && t->presumed);
}

bool hang_waits(const struct hang_thread *t, const struct hang_want *w)
{
	return (w->kind == HANG_RECV || (w->kind == HANG_SEND && thread_worked(t))) && w->process &&
	       want_waits(t, w);
}

static void thread_settle(const struct hang *h, struct hang_thread *t)
{
	t->presumed = t->began_before && !h->lost && thread_worked(t);
	for (uint32_t i = 0; i < t->nwant; i++) {
		struct hang_want *w = &t->want[i];

		if (w->kind == HANG_RECV || w->kind == HANG_SEND) {
			w->other = message_other(h, t, w);
			if (hang_waits(t, w))
				waits_for(t, w->process);
		} else if (w->kind == HANG_TOGETHER) {
			w->other = together_other(h, t, w);
			if (want_waits(t, w))
				together_waits(h, t, w);
		}
	}
}

/* ---- who cannot go on ---- */

static bool never_will(const struct hang *h, uint32_t process)
{
	const struct hang_process *p = &h->process[process];

	return p->stuck || p->ends || p->finalized;
}

static bool thread_is_stuck(const struct hang *h, const struct hang_thread *t)
{
	uint32_t never = 0;

	for (uint32_t i = 0; i < t->nwaits_for; i++)
		never += never_will(h, t->waits_for[i]);
	if (!t->any_suffices)
		return never;
	return !table_any(t->nwant, i,
			  !hang_waits(t, &t->want[i]) || !never_will(h, t->want[i].process->idx)) &&
	       t->nwant;
}

/*
 * Clears `stuck` of processes that may go on, because the processes that they wait for may. Returns
 * true if it cleared any.
 */
static bool stuck_lessen(struct hang *h)
{
	uint32_t *stuck = xcalloc(h->nprocess + 1, sizeof(*stuck));
	uint32_t *callers = xcalloc(h->nprocess + 1, sizeof(*callers));
	bool less = false;

	for (uint32_t i = 0; i < h->nthread; i++) {
		struct hang_thread *t = &h->thread[i];

		if (!t->thread)
			continue;
		t->stuck = t->func && !t->polls && thread_is_stuck(h, t);
		stuck[t->thread->proc->idx] += t->stuck;
		callers[t->thread->proc->idx]++;
	}
	for (uint32_t i = 0; i < h->nprocess; i++) {
		struct hang_process *p = &h->process[i];
		bool is = stuck[i] && (!p->multiple || stuck[i] == callers[i]);

		less |= p->stuck && !is;
		p->stuck &= is;
	}
	free(stuck);
	free(callers);
	return less;
}

void hang_settle(struct hang *h)
{
	for (uint32_t i = 0; i < h->nthread; i++)
		if (h->thread[i].thread && h->thread[i].func)
			ends_add_open(h, &h->thread[i]);
	for (uint32_t i = 0; i < h->nthread; i++)
		if (h->thread[i].thread && h->thread[i].func)
			thread_settle(h, &h->thread[i]);
	for (uint32_t i = 0; i < h->nprocess; i++)
		h->process[i].stuck = h->process[i].called;
	while (stuck_lessen(h))
		;
}

/*
 * A stuck process that the given stuck process waits for. NONE: it waits only for processes that
 * have ended.
 */
#define NONE UINT32_MAX
static uint32_t next_stuck(const struct hang *h, uint32_t process)
{
	for (uint32_t i = 0; i < h->nthread; i++) {
		const struct hang_thread *t = &h->thread[i];

		for (uint32_t k = 0;
		     t->thread && t->stuck && t->thread->proc->idx == process && k < t->nwaits_for;
		     k++)
			if (h->process[t->waits_for[k]].stuck)
				return t->waits_for[k];
	}
	return NONE;
}

uint32_t hang_cycle(const struct hang *h, bool *seen, uint32_t *cycle)
{
	for (uint32_t i = 0; i < h->nprocess; i++) {
		uint32_t n = 0, at = i, first = 0;

		if (!h->process[i].stuck || seen[i])
			continue;
		while (at != NONE && !seen[at]) {
			seen[at] = true;
			cycle[n++] = at;
			at = next_stuck(h, at);
		}
		while (first < n && cycle[first] != at)
			first++;
		if (first == n)
			continue;
		memmove(cycle, cycle + first, (n - first) * sizeof(*cycle));
		return n - first;
	}
	return 0;
}

static void queue_take(struct hang *h, const struct inbox *in, const struct posted_queue *q,
		       uint32_t skip)
{
	for (const struct match_posted *p = q->first; p; p = p->next) {
		if (skip && skip--)
			continue;
		hang_end_add(h, &(struct hang_end){
					.comm_id = in->comm_id,
					.from = p->from,
					.to = in->to,
					.tag = p->tag,
					.sends = p->sends,
					.func = p->end.func,
				});
	}
}

/* True if some wildcard receive is over: it has taken an unknown message. */
static bool wild_is_over(const struct inbox *in)
{
	for (const struct match_posted *p = in->wild.first; p; p = p->next)
		if (p->over)
			return true;
	return false;
}

void hang_ends_left(void *ctx, const struct matches *a, const struct inbox *in)
{
	struct hang *h = ctx;
	struct hang_inbox *own;
	struct lane *l;

	for (size_t at = 0; (l = map_next(&in->lanes, &at, NULL));) {
		uint32_t both = l->sends.cnt < l->recvs.cnt ? l->sends.cnt : l->recvs.cnt;

		queue_take(h, in, &l->sends, both);
		queue_take(h, in, &l->recvs, both);
	}
	queue_take(h, in, &in->wild, 0);
	if (!a->full && !in->doubtful && !wild_is_over(in) && !map_get(&a->unknown_to, in->comm_id))
		return;
	own = map_make(&h->inboxes, map_pair(in->comm_id, in->to), sizeof(*own));
	own->doubtful = true;
}

static void inbox_free(void *value)
{
	free(((struct hang_inbox *)value)->end);
	free(value);
}

void hang_ends_release(struct hang *h)
{
	map_free(&h->inboxes, inbox_free);
}
