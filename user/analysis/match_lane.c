/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* See match_lane.h. */
#include "analysis/match_lane.h"

#include <stdlib.h>

#include "lib/table.h"

#define SWEEP_LANES 256
#define DRAIN_TRIES 64

/* ---- queues ---- */

static bool is_before(const struct match_posted *a, const struct match_posted *b)
{
	return a->order_ns != b->order_ns ? a->order_ns < b->order_ns : a->end.place < b->end.place;
}

static void queue_add(struct posted_queue *q, struct match_posted *p)
{
	struct match_posted *at = q->last;

	while (at && is_before(p, at))
		at = at->prev;
	p->prev = at;
	p->next = at ? at->next : q->first;
	*(p->next ? &p->next->prev : &q->last) = p;
	*(at ? &at->next : &q->first) = p;
	q->cnt++;
}

static void queue_remove(struct posted_queue *q, struct match_posted *p)
{
	*(p->next ? &p->next->prev : &q->last) = p->prev;
	*(p->prev ? &p->prev->next : &q->first) = p->next;
	q->cnt--;
}

/* Removes and frees the first end. */
static void queue_drop(struct matches *a, struct posted_queue *q)
{
	struct match_posted *p = q->first;

	queue_remove(q, p);
	free(p);
	a->kept--;
}

static void queue_give_up(struct matches *a, struct posted_queue *q, uint64_t until_ns,
			  enum match_why why)
{
	while (q->first && q->first->order_ns <= until_ns) {
		match_count(a, q->first, q->first->over ? why : MATCH_NO_OTHER);
		queue_drop(a, q);
	}
}

/* ---- inboxes ---- */

struct inbox *match_inbox(struct matches *a, uint32_t comm_id, uint32_t to)
{
	struct inbox *in = map_make(&a->inboxes, map_pair(comm_id, to), sizeof(*in));

	in->comm_id = comm_id;
	in->to = to;
	return in;
}

static struct lane *lane_of(struct inbox *in, uint32_t from, int32_t tag)
{
	struct lane *l = map_make(&in->lanes, map_pair(from, (uint32_t)tag), sizeof(*l));

	l->from = from;
	l->tag = tag;
	return l;
}

/* Frees empty lanes, as a program may use each tag only once. */
static void lanes_sweep(struct inbox *in)
{
	struct map left = {0};
	struct lane *l;
	uint64_t key;

	if (in->lanes.cnt < (in->sweep_at ? in->sweep_at : SWEEP_LANES))
		return;
	for (size_t at = 0; (l = map_next(&in->lanes, &at, &key));) {
		if (l->sends.cnt || l->recvs.cnt)
			map_set(&left, key, l);
		else
			free(l);
	}
	map_release(&in->lanes);
	in->lanes = left;
	in->sweep_at = left.cnt * 2 + SWEEP_LANES;
}

static struct posted_queue *queue_of(const struct match_posted *p)
{
	return !p->lane ? &p->inbox->wild : p->sends ? &p->lane->sends : &p->lane->recvs;
}

static void wait_for_calls(struct matches *a, struct inbox *in)
{
	if (in->waits)
		return;
	in->waits = true;
	*table_append(a->waiting, a->nwaiting) = in;
}

/* ---- matching first to first ---- */

static bool may_take(const struct match_posted *wild, const struct lane *l)
{
	return (wild->from == FROM_ANY || wild->from == l->from) &&
	       (wild->tag == TAG_ANY || wild->tag == l->tag);
}

/* True if a wildcard receive that was posted earlier may take the message. */
static bool is_blocked(const struct inbox *in, const struct lane *l, const struct match_posted *r)
{
	for (const struct match_posted *w = in->wild.first; w && is_before(w, r); w = w->next)
		if (may_take(w, l))
			return true;
	return false;
}

static void lane_pair(struct matches *a, struct inbox *in, struct lane *l)
{
	struct match_posted *s = l->sends.first, *r = l->recvs.first;
	struct match m = {
		.send = s->end,
		.recv = r->end,
		.tag = l->tag,
		.comm_id = in->comm_id,
		.bytes = s->end.bytes >= 0 ? s->end.bytes : r->end.bytes,
	};
	bool one_clock = s->end.process->host_idx == r->end.process->host_idx;
	bool fits = s->end.bytes < 0 || r->end.bytes < 0 || s->end.bytes <= r->end.bytes;

	m.assumed = match_assumed(a, &m, in->doubtful);
	if (one_clock && r->end.completer && r->end.end_ns < s->end.begin_ns) {
		/* the message was sent before the recording began, or its record is lost */
		match_count(a, r, MATCH_NO_OTHER);
		queue_drop(a, &l->recvs);
		return;
	}
	match_count(a, s, fits ? MATCHED : MATCH_CONFLICT);
	match_count(a, r, fits ? MATCHED : MATCH_CONFLICT);
	if (fits && m.assumed) {
		a->row[m.send.process->idx].assumed++;
		a->row[m.recv.process->idx].assumed++;
	}
	if (fits && a->notify)
		a->notify(a->ctx, &m);
	queue_drop(a, &l->sends);
	queue_drop(a, &l->recvs);
}

static void lane_settle(struct matches *a, struct inbox *in, struct lane *l)
{
	struct match_posted *s, *r;

	while ((s = l->sends.first) && (r = l->recvs.first) && s->over && r->over) {
		if (is_blocked(in, l, r)) {
			in->blocked = true;
			return;
		}
		if (!match_settled(a, s) || !match_settled(a, r)) {
			wait_for_calls(a, in);
			return;
		}
		lane_pair(a, in, l);
	}
}

static void lanes_settle(struct matches *a, struct inbox *in)
{
	struct lane *l;

	in->blocked = false;
	for (size_t at = 0; (l = map_next(&in->lanes, &at, NULL));)
		lane_settle(a, in, l);
}

/* ---- receives from several lanes ---- */

static void wild_known(struct matches *a, struct match_posted *w, uint32_t from, int32_t tag)
{
	struct inbox *in = w->inbox;
	struct lane *l = lane_of(in, from, tag);

	queue_remove(&in->wild, w);
	w->lane = l;
	w->from = from;
	w->tag = tag;
	queue_add(&l->recvs, w);
	lane_settle(a, in, l);
}

/*
 * Begin of a send if it is comparable with the receiver's times, that is, on the same host; else 0.
 */
static uint64_t begun_ns(const struct match_posted *s, const struct model_process *to)
{
	return s->end.process->host_idx == to->host_idx ? s->end.begin_ns : 0;
}

/*
 * True if the lane has a send that the wildcard may have taken: one beyond those that earlier
 * receives take.
 */
static bool is_candidate(const struct lane *l, const struct match_posted *w)
{
	const struct match_posted *s = l->sends.first, *r = l->recvs.first;

	if (!may_take(w, l))
		return false;
	for (; s && r && is_before(r, w); r = r->next)
		s = s->next;
	return s && begun_ns(s, w->end.process) < w->end.end_ns;
}

/*
 * False if some receive was never completed (its request was freed): the time of its message is
 * unknown.
 */
static bool all_completed(const struct posted_queue *q)
{
	const struct match_posted *p = q->first;

	while (p && p->over && p->end.completer)
		p = p->next;
	return !p;
}

/* Counts the ends in an inbox that were posted up to until_ns. */
struct tally {
	uint64_t until_ns;
	uint64_t last_ns; /* latest end of these receives */
	/* earliest end of the receives posted right after until_ns; UINT64_MAX: none is over */
	uint64_t next_ns;
	uint32_t sends, recvs;
	bool over; /* all of these ends are over */
};

static void tally_recvs(struct tally *t, const struct posted_queue *q)
{
	const struct match_posted *p;

	for (p = q->first; p && p->order_ns <= t->until_ns; p = p->next) {
		t->over &= p->over && p->end.completer && !p->in_doubt;
		t->last_ns = u64_max(p->end.end_ns, t->last_ns);
		t->recvs++;
	}
	if (p && p->end.completer && p->end.end_ns < t->next_ns)
		t->next_ns = p->end.end_ns;
}

static void tally_sends(struct tally *t, const struct posted_queue *q,
			const struct model_process *to)
{
	for (const struct match_posted *p = q->first; p && begun_ns(p, to) <= t->until_ns;
	     p = p->next) {
		t->over &= p->over;
		t->sends++;
	}
}

static struct tally tally_until(const struct inbox *in, uint64_t until_ns)
{
	struct tally t = {.until_ns = until_ns, .next_ns = UINT64_MAX, .over = true};
	struct lane *l;

	tally_recvs(&t, &in->wild);
	for (size_t at = 0; (l = map_next(&in->lanes, &at, NULL));) {
		tally_recvs(&t, &l->recvs);
		tally_sends(&t, &l->sends, in->wild.first->end.process);
	}
	return t;
}

static void inbox_give_up(struct matches *a, struct inbox *in, uint64_t until_ns)
{
	const struct model_process *to = in->wild.first->end.process;
	struct lane *l;

	queue_give_up(a, &in->wild, until_ns, MATCH_STATUS);
	for (size_t at = 0; (l = map_next(&in->lanes, &at, NULL));) {
		bool one_clock = l->sends.first && begun_ns(l->sends.first, to);

		queue_give_up(a, &l->sends, one_clock ? until_ns : UINT64_MAX, MATCH_BEHIND);
		queue_give_up(a, &l->recvs, until_ns, MATCH_BEHIND);
	}
}

/*
 * Looks for a time at which all posted receives had their messages, and as many messages had been
 * sent. Which receive took which message remains unknown, but everything later is unambiguous
 * again.
 */
static bool inbox_drained(struct matches *a, struct inbox *in, uint64_t known_ns)
{
	uint64_t until_ns = in->wild.first->end.end_ns;

	for (int i = 0; i < DRAIN_TRIES && until_ns < known_ns; i++) {
		struct tally t = tally_until(in, until_ns);

		if (!t.over)
			return false;
		if (t.last_ns <= until_ns && t.sends == t.recvs) {
			inbox_give_up(a, in, until_ns);
			return true;
		}
		until_ns = t.last_ns > until_ns ? t.last_ns : t.next_ns;
	}
	return false;
}

/* Number of lanes with a message that the receive may take; *found is one of them. */
static uint32_t candidates_count(const struct inbox *in, const struct match_posted *w,
				 struct lane **found)
{
	uint32_t cnt = 0;
	struct lane *l;

	for (size_t at = 0; (l = map_next(&in->lanes, &at, NULL));) {
		if (!is_candidate(l, w))
			continue;
		*found = l;
		cnt++;
	}
	return cnt;
}

/*
 * Settles the first wildcard receive whose status the program did not ask for, by the messages
 * available to it. Returns false if it cannot be settled yet.
 */
static bool wild_settle(struct matches *a, struct inbox *in, uint64_t known_ns)
{
	bool sent_anywhere = map_get(&a->unknown_to, in->comm_id);
	struct match_posted *w = in->wild.first;
	struct lane *found = NULL;
	uint32_t cnt;

	if (!w || !w->over || !w->end.completer || (sent_anywhere && !w->in_doubt))
		return false;
	cnt = candidates_count(in, w, &found);
	if (w->in_doubt) {
		in->doubtful |= sent_anywhere || cnt;
		queue_drop(a, &in->wild);
		return true;
	}
	if (cnt > 1)
		return inbox_drained(a, in, known_ns);
	if (cnt) {
		wild_known(a, w, found->from, found->tag);
		return true;
	}
	match_count(a, w, MATCH_NO_OTHER);
	queue_drop(a, &in->wild);
	return true;
}

/* ---- incoming ends ---- */

void match_post(struct matches *a, struct match_posted *p)
{
	lanes_sweep(p->inbox);
	if (p->from != FROM_ANY && p->tag != TAG_ANY)
		p->lane = lane_of(p->inbox, (uint32_t)p->from, p->tag);
	queue_add(queue_of(p), p);
	a->kept++;
}

/* Settles the ends that may have waited for a removed end. */
static void end_left(struct matches *a, struct inbox *in, bool wild, struct lane *l)
{
	if (!wild)
		lane_settle(a, in, l);
	else if (in->blocked)
		lanes_settle(a, in);
}

void match_over(struct matches *a, struct match_posted *p, int64_t from, int32_t tag)
{
	struct inbox *in = p->inbox;
	struct lane *l = p->lane;
	bool wild = !l;

	p->over = true;
	if (wild && from != FROM_ANY && tag != TAG_ANY)
		wild_known(a, p, (uint32_t)from, tag);
	else if (wild)
		wait_for_calls(a, in);
	end_left(a, in, wild, l);
}

void match_withdraw(struct matches *a, struct match_posted *p)
{
	struct inbox *in = p->inbox;
	struct lane *l = p->lane;
	bool wild = !l;

	queue_remove(queue_of(p), p);
	free(p);
	a->kept--;
	end_left(a, in, wild, l);
}

void match_in_doubt(struct matches *a, struct match_posted *p)
{
	struct inbox *in = p->inbox;

	queue_remove(queue_of(p), p);
	p->lane = NULL;
	queue_add(&in->wild, p);
	p->over = p->in_doubt = true;
	wait_for_calls(a, in);
}

void match_look(struct matches *a)
{
	struct inbox **waited = a->waiting;
	uint64_t known_ns = a->over ? UINT64_MAX : match_known_until(a);
	uint32_t n = a->nwaiting;

	a->waiting = NULL;
	a->nwaiting = 0;
	for (uint32_t i = 0; i < n; i++) {
		struct inbox *in = waited[i];

		in->waits = false;
		lanes_settle(a, in);
		while (in->wild.first && in->wild.first->end.end_ns < known_ns &&
		       wild_settle(a, in, known_ns))
			lanes_settle(a, in);
		if (in->wild.first && !a->over)
			wait_for_calls(a, in);
	}
	free(waited);
}

/* Ends all sends: it is unknown when sends without a completer were over. */
static void sends_end(struct lane *l)
{
	for (struct match_posted *p = l->sends.first; p; p = p->next)
		p->over = true;
}

/* Settles a lane with as many sends as receives: no wildcard took any of its messages. */
static void lane_settle_alone(struct matches *a, struct inbox *in, struct lane *l)
{
	const struct posted_queue none = {0}, wild = in->wild;

	if (l->sends.cnt != l->recvs.cnt || !all_completed(&l->recvs))
		return;
	in->wild = none;
	lane_settle(a, in, l);
	in->wild = wild;
}

static void inbox_finish(struct matches *a, struct inbox *in)
{
	struct lane *l;

	for (size_t at = 0; (l = map_next(&in->lanes, &at, NULL));)
		sends_end(l);
	lanes_settle(a, in);
	while (wild_settle(a, in, UINT64_MAX))
		lanes_settle(a, in);
	for (size_t at = 0; in->wild.first && (l = map_next(&in->lanes, &at, NULL));)
		lane_settle_alone(a, in, l);
	if (a->left)
		a->left(a->left_ctx, a, in);
	for (size_t at = 0; (l = map_next(&in->lanes, &at, NULL));) {
		enum match_why why = in->wild.cnt ? MATCH_BEHIND : MATCH_NO_OTHER;

		queue_give_up(a, &l->sends, UINT64_MAX, why);
		queue_give_up(a, &l->recvs, UINT64_MAX, why);
	}
	queue_give_up(a, &in->wild, UINT64_MAX, MATCH_STATUS);
}

void match_finish(struct matches *a)
{
	struct inbox *in;

	a->over = true;
	for (size_t at = 0; (in = map_next(&a->inboxes, &at, NULL));)
		inbox_finish(a, in);
}

void match_inboxes_release(struct matches *a)
{
	struct inbox *in;
	struct lane *l;

	for (size_t at = 0; (in = map_next(&a->inboxes, &at, NULL));) {
		for (size_t i = 0; (l = map_next(&in->lanes, &i, NULL));) {
			while (l->sends.first)
				queue_drop(a, &l->sends);
			while (l->recvs.first)
				queue_drop(a, &l->recvs);
		}
		map_free(&in->lanes, free);
		while (in->wild.first)
			queue_drop(a, &in->wild);
	}
	map_free(&a->inboxes, free);
}
