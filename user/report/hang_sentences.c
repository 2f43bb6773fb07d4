/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Writes sentences about faults and about ranks that others wait for. A sentence states only what
 * the records prove. If a proof would need records that the recording lacks, the sentence names
 * them.
 */
#include "report/hang_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/human.h"
#include "lib/log.h"
#include "lib/table.h"
#include "lib/u64.h"

#define SENTENCES_OF_A_KIND 4 /* most sentences of one kind */
#define CYCLE_NAMED 8

/* Adds a sentence. Its first letter becomes a capital. */
static void hang_say(struct hang_text *x, const char *kind, bool certain, const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	if (*text >= 'a' && *text <= 'z')
		*text = (char)(*text - 'a' + 'A');
	*table_append(x->sentence, x->nsentences) =
		(struct hang_sentence){kind, certain, text_pool_take(&x->pool, text)};
}

static uint32_t hang_said(const struct hang_text *x, const char *kind)
{
	return table_sum(x->nsentences, i, !strcmp(x->sentence[i].kind, kind));
}

/* ---- lists of processes ---- */

/* A list of processes, sorted, each one once. */
struct hang_members {
	const struct model_process **p; /* owned */
	uint32_t n;
};

static void hang_members_add(struct hang_members *m, const struct model_process *p)
{
	uint32_t at = m->n;

	while (at && m->p[at - 1]->idx > p->idx)
		at--;
	if (at && m->p[at - 1] == p)
		return;
	(void)table_append(m->p, m->n);
	memmove(&m->p[at + 1], &m->p[at], (m->n - 1 - at) * sizeof(*m->p));
	m->p[at] = p;
}

TABLE_ORDER(member_compare, struct model_process *, u64_compare((*a)->idx, (*b)->idx))

static bool hang_members_have(const struct hang_members *m, const struct model_process *p)
{
	return m->n && bsearch(&p, m->p, m->n, sizeof(*m->p), member_compare);
}

/* "rank 3 is", "ranks 0-2, 5 are" */
static const char *hang_members_text(struct hang_text *x, const struct hang_members *m,
				     const char *one, const char *many)
{
	return PHRASE(x, "%s %s", hang_of_ranks_text(x, m->p, m->n), m->n == 1 ? one : many);
}

/* ---- cycles ---- */

/* Returns what a thread in a cycle waits for from the next process; NULL: unknown. */
static const struct hang_want *want_of_next(const struct hang_thread *t,
					    const struct model_process *next)
{
	return table_where(t->want, t->nwant, i,
			   (t->want[i].other == HANG_UNSEEN || t->presumed) &&
				   (t->want[i].process == next ||
				    t->want[i].kind == HANG_TOGETHER));
}

static const struct hang_thread *thread_that_waits(const struct hang *h, uint32_t process,
						   uint32_t next)
{
	for (uint32_t i = 0; i < h->nthread; i++) {
		const struct hang_thread *t = &h->thread[i];

		for (uint32_t k = 0;
		     t->thread && t->stuck && t->thread->proc->idx == process && k < t->nwaits_for;
		     k++)
			if (t->waits_for[k] == next)
				return t;
	}
	return NULL;
}

struct cycle {
	bool by_send, multiple, presumed;
	uint64_t least_ns;
};

static const char *link_text(struct hang_text *x, uint32_t process, uint32_t next, struct cycle *c)
{
	const struct hang *h = &x->r->hang;
	const struct model_process *p = model_process_get(h->model, process);
	const struct model_process *q = model_process_get(h->model, next);
	const struct hang_thread *t = thread_that_waits(h, process, next);
	const struct hang_want *w = t ? want_of_next(t, q) : NULL;
	const char *what = w && w->kind != HANG_TOGETHER ? hang_want_text(x, t, w) :
			   w				 ? hang_rank_text(x, q) :
							   "";

	c->by_send |= w && w->kind == HANG_SEND;
	c->multiple |= h->process[process].multiple;
	c->presumed |= t && t->presumed;
	if (t && hang_since_ns(x->r, t) < c->least_ns)
		c->least_ns = hang_since_ns(x->r, t);
	return PHRASE(x, "%s in %s%s waits for %s", hang_rank_text(x, p), t ? t->func->name : "?",
		      t ? hang_at_text(x, &t->site) : "", what);
}

/* Says why the ranks of a cycle cannot go on, and what could help. */
static const char *cycle_end_text(struct hang_text *x, const struct cycle *c)
{
	if (c->presumed)
		return PHRASE(x,
			      "None of them went on in the %s of the recording; what they sent "
			      "before is unknown",
			      NS_TEXT(c->least_ns));
	return PHRASE(
		x, "None of them can go on%s%s",
		c->by_send ? "; the library did not accept messages before they were received" : "",
		c->multiple ? ", unless another of their threads calls MPI (MPI_THREAD_MULTIPLE "
			      "allows that)" :
			      "");
}

/* in_cycle: by process index; set for the members. */
static void cycle_say(struct hang_text *x, const uint32_t *cycle, uint32_t n, bool *in_cycle)
{
	struct cycle c = {.least_ns = UINT64_MAX};
	const char *links = "";

	for (uint32_t i = 0; i < n; i++) {
		const char *link = link_text(x, cycle[i], cycle[(i + 1) % n], &c);

		in_cycle[cycle[i]] = true;
		if (i < CYCLE_NAMED)
			links = PHRASE(x, "%s%s%s", links, i ? "; " : "", link);
	}
	if (n > CYCLE_NAMED)
		links = PHRASE(x, "%s; and so on, %u ranks in all", links, n);
	hang_say(x, "deadlock", !c.multiple && !c.presumed, "%s: %s. %s",
		 c.presumed ? "Each waits for the next one" : "Deadlock", links,
		 cycle_end_text(x, &c));
}

static void cycles_say(struct hang_text *x, bool *in_cycle)
{
	const struct hang *h = &x->r->hang;
	uint32_t *cycle = xcalloc(h->nprocess + 1, sizeof(*cycle)), n;
	bool *seen = xcalloc(h->nprocess + 1, sizeof(*seen));

	while ((n = hang_cycle(h, seen, cycle)))
		cycle_say(x, cycle, n, in_cycle);
	free(cycle);
	free(seen);
}

/* ---- messages ---- */

static bool same_message(const struct hang_want *a, const struct hang_want *b)
{
	return a->kind == b->kind && a->other == b->other && a->process == b->process &&
	       a->peer == b->peer && a->tag == b->tag && a->comm_id == b->comm_id;
}

/* Returns all ranks that wait for the same message. Marks their threads as mentioned. */
static struct hang_members message_waiters(const struct hang *h, const struct hang_want *w,
					   uint32_t from, bool *mentioned)
{
	struct hang_members m = {0};

	for (uint32_t i = from; i < h->nthread; i++) {
		const struct hang_thread *t = &h->thread[i];

		for (uint32_t k = 0; t->thread && t->func && k < t->nwant; k++)
			if (same_message(w, &t->want[k])) {
				hang_members_add(&m, t->thread->proc);
				mentioned[i] = true;
			}
	}
	return m;
}

static const char *stray_text(struct hang_text *x, const struct hang_want *w,
			      const struct model_process *to)
{
	struct hang_message stray;
	const char *where = "";

	if (w->kind == HANG_SEND || !hang_other_message(&x->r->hang, w->process, to, &stray))
		return "";
	if (stray.comm_id != w->comm_id)
		where = "in another communicator ";
	return PHRASE(x, ". It has sent it %s with tag %d %s(%s), which nobody has received",
		      PLURAL_TEXT(stray.cnt, "message", "messages"), stray.tag, where,
		      stray.func->name);
}

/* What the process at the other end does, as far as it is known. */
static const char *other_end_text(struct hang_text *x, const struct hang_thread *t,
				  const struct hang_want *w)
{
	if (!w->process)
		return "no such message is on its way";
	if (w->other != HANG_UNSEEN)
		return PHRASE(x, "%s: %s", hang_rank_text(x, w->process),
			      hang_where_text(x, w->process));
	return PHRASE(x, "%s has %s: %s%s", hang_rank_text(x, w->process),
		      w->kind == HANG_SEND ? "begun no such receive" : "not sent it",
		      hang_where_text(x, w->process), stray_text(x, w, t->thread->proc));
}

static void message_say(struct hang_text *x, const struct hang_thread *t, const struct hang_want *w,
			uint32_t idx, bool *mentioned)
{
	const struct hang *h = &x->r->hang;
	struct hang_members m = message_waiters(h, w, idx, mentioned);
	const struct hang_process *other = w->process ? &h->process[w->process->idx] : NULL;
	bool gone = other && (other->ends || other->finalized);

	hang_say(x, w->kind == HANG_SEND ? "send" : "receive", gone && w->other == HANG_UNSEEN,
		 "%s in %s%s for %s; %s", hang_members_text(x, &m, "waits", "wait"), t->func->name,
		 hang_at_text(x, &t->site), hang_want_text(x, t, w), other_end_text(x, t, w));
	free(m.p);
}

/* True for a receive from any rank when nobody has sent a matching message. */
static bool nobody_sends(const struct hang_want *w)
{
	return w->kind == HANG_RECV && w->other == HANG_UNSEEN && !w->process;
}

/*
 * True if a sentence describes the want. For a member of a reported cycle this needs more: its peer
 * sent it another message, with another tag or communicator.
 */
static bool message_counts(const struct hang *h, const struct hang_thread *t,
			   const struct hang_want *w, bool in_cycle)
{
	struct hang_message stray;

	if (!hang_waits(t, w) && !nobody_sends(w))
		return false;
	return !in_cycle || (w->process && w->kind != HANG_SEND &&
			     hang_other_message(h, w->process, t->thread->proc, &stray));
}

static void messages_say(struct hang_text *x, const bool *in_cycle)
{
	const struct hang *h = &x->r->hang;
	/* by index of hang.thread: a sentence covers its wait */
	bool *mentioned = xcalloc(h->nthread + 1, sizeof(*mentioned));

	for (uint32_t i = 0; i < h->nthread; i++) {
		const struct hang_thread *t = &h->thread[i];

		for (uint32_t k = 0; t->thread && t->func && !mentioned[i] && k < t->nwant; k++) {
			const struct hang_want *w = &t->want[k];
			const char *kind = w->kind == HANG_SEND ? "send" : "receive";

			if (message_counts(h, t, w, in_cycle[t->thread->proc->idx]) &&
			    hang_said(x, kind) < SENTENCES_OF_A_KIND)
				message_say(x, t, w, i, mentioned);
		}
	}
	free(mentioned);
}

/* ---- other sentences ---- */

static bool is_stopped(const struct hang_thread *t)
{
	return !strncmp(hang_activity(t), "stopped", 7);
}

static void stopped_say(struct hang_text *x)
{
	const struct hang *h = &x->r->hang;
	struct hang_members m = {0};

	for (uint32_t i = 0; i < h->nthread; i++)
		if (h->thread[i].thread && is_stopped(&h->thread[i]))
			hang_members_add(&m, h->thread[i].thread->proc);
	if (m.n)
		hang_say(x, "stopped", true,
			 "%s stopped by a signal (SIGSTOP, a terminal) or a debugger; SIGCONT lets "
			 "%s go on",
			 hang_members_text(x, &m, "is", "are"), m.n == 1 ? "it" : "them");
	free(m.p);
}

static void locks_say(struct hang_text *x)
{
	const struct hang *h = &x->r->hang;

	for (uint32_t i = 0; i < h->nthread; i++) {
		const struct hang_thread *t = &h->thread[i];
		const struct model_process *holder;

		if (!t->thread || !t->func || !t->nwant || t->want->kind != HANG_LOCK ||
		    hang_said(x, "lock") == SENTENCES_OF_A_KIND)
			continue;
		holder = hang_lock_holder(h, t->want, t->thread->proc);
		if (holder)
			hang_say(x, "lock", false, "%s is in %s%s, for %s; %s holds that lock: %s",
				 hang_rank_text(x, t->thread->proc), t->func->name,
				 hang_at_text(x, &t->site), hang_want_text(x, t, t->want),
				 hang_rank_text(x, holder), hang_where_text(x, holder));
	}
}

static bool in_file(const struct hang_thread *t)
{
	return t->func &&
	       ((t->nwant && t->want->kind == HANG_FILE) || t->func->group_bit & GROUP_IO);
}

/* Reports only if all ranks are in I/O. Otherwise, ranks may wait for one that is not. */
static void files_say(struct hang_text *x)
{
	const struct hang *h = &x->r->hang;
	struct hang_members files = {0}, all = {0};
	uint32_t asleep = 0;

	for (uint32_t i = 0; i < h->nthread; i++) {
		const struct hang_thread *t = &h->thread[i];
		bool hard = t->thread && !strcmp(hang_activity(t), "uninterruptible");

		if (!t->thread)
			continue;
		hang_members_add(&all, t->thread->proc);
		if (in_file(t) || hard)
			hang_members_add(&files, t->thread->proc);
		asleep += hard;
	}
	if (files.n && files.n == all.n)
		hang_say(x, "io", false, "%s in %s", hang_members_text(x, &files, "is", "are all"),
			 asleep == files.n ? "uninterruptible sleep in the kernel, as in file I/O" :
					     "file I/O");
	free(files.p);
	free(all.p);
}

static void unseen_say(struct hang_text *x)
{
	const struct hang *h = &x->r->hang;
	uint32_t before = 0;

	for (uint32_t i = 0; i < h->nthread; i++) {
		const struct hang_thread *t = &h->thread[i];

		before += t->thread && t->func && !t->polls && hang_may_miss(h, t->thread->proc);
	}
	if (before)
		hang_say(
			x, "unseen", false, "%s",
			h->lost ?
				"Records of calls were lost, so missing messages and the number of "
				"collective calls are unknown" :
				"What ranks did before the recording is unknown, so missing "
				"messages and the number of collective calls are, too");
}

/* ---- collective calls ---- */

#define MISSING_NAMED 3 /* with more missing ranks, does not describe where each one is */

static const struct hang_want *joint_want(const struct hang_thread *t, uint64_t joint,
					  uint64_t number)
{
	for (uint32_t i = 0; t->thread && t->func && i < t->nwant; i++)
		if (t->want[i].kind == HANG_TOGETHER && t->want[i].joint == joint && joint &&
		    (!number || t->want[i].number == number))
			return &t->want[i];
	return NULL;
}

/* Members in an open call with that number; number 0: in an open call of the same function. */
static struct hang_members members_in(const struct hang *h, const struct hang_want *w,
				      uint64_t number)
{
	struct hang_members m = {0};

	for (uint32_t i = 0; i < h->nthread; i++) {
		const struct hang_want *k = joint_want(&h->thread[i], w->joint, number);

		if (k && (number || k->func == w->func))
			hang_members_add(&m, h->thread[i].thread->proc);
	}
	return m;
}

/* ---- different calls ---- */

/*
 * Divides the members whose call with that number is known: here, those that called the same
 * function; there, those that called another one. Returns the first such call of another function.
 */
static const struct hang_part *mismatch_find(const struct hang *h, const struct hang_want *w,
					     struct hang_members *here, struct hang_members *there)
{
	const struct hang_joint *j = map_get(&h->joints, w->joint);
	const struct hang_part *part, *other = NULL;
	uint64_t idx;

	for (size_t i = 0; (part = map_next(&j->part, &i, &idx));) {
		const struct model_process *p = model_process_get(h->model, (uint32_t)idx);

		if (part->number != w->number || hang_may_miss(h, p))
			continue;
		if (!strcmp(part->func->name, w->func->name)) {
			hang_members_add(here, p);
		} else if (!other || !strcmp(part->func->name, other->func->name)) {
			other = part;
			hang_members_add(there, p);
		}
	}
	return other;
}

/* Reports members that made different calls with the same number. Returns true if any did. */
static bool mismatch_say(struct hang_text *x, const struct hang_thread *t,
			 const struct hang_want *w)
{
	struct hang_members here = {0}, there = {0};
	const struct hang_part *other = mismatch_find(&x->r->hang, w, &here, &there);

	if (here.n && there.n)
		hang_say(x, "mismatch", true,
			 "%s called %s%s, %s %s%s, both as call %llu on %s: all members must "
			 "make the same calls in the same order",
			 hang_of_ranks_text(x, here.p, here.n), w->func->name,
			 hang_at_text(x, &t->site), hang_of_ranks_text(x, there.p, there.n),
			 other->func->name, hang_at_text(x, &other->site),
			 (unsigned long long)w->number, hang_comm_text(x, w));
	free(here.p);
	free(there.p);
	return other;
}

/* ---- missing calls ---- */

/*
 * Members that have not made that call. known: judges by call numbers, else by who is in the call
 * now.
 */
static struct hang_members members_missing(const struct hang *h, const struct hang_thread *t,
					   const struct hang_want *w, bool known,
					   uint32_t *unrecorded)
{
	const struct hang_joint *j = map_get(&h->joints, w->joint);
	struct hang_members m = {0}, in = members_in(h, w, 0);

	*unrecorded = 0;
	for (int32_t i = 0; j->member && i < j->size; i++) {
		const struct model_process *p = hang_member(h, t->thread->proc, j->member[i]);

		if (!p)
			++*unrecorded;
		else if (known ? hang_number(j, p) < w->number : !hang_members_have(&in, p))
			hang_members_add(&m, p);
	}
	free(in.p);
	return m;
}

/* "ranks 2, 3 have not called it. Rank 2: it is …; rank 3: it is …" */
static const char *missing_text(struct hang_text *x, const struct hang_members *missing, bool known)
{
	const char *text = known ? hang_members_text(x, missing, "has not called it",
						     "have not called it") :
				   hang_members_text(x, missing, "is not in it", "are not in it");

	if (missing->n == 1)
		return PHRASE(x, "%s: %s", text, hang_where_text(x, missing->p[0]));
	for (uint32_t i = 0; missing->n <= MISSING_NAMED && i < missing->n; i++)
		text = PHRASE(x, "%s%s %s: %s", text, i ? "; rank" : ". Rank",
			      hang_ranks_text(x, &missing->p[i], 1),
			      hang_where_text(x, missing->p[i]));
	return text;
}

static void missing_say(struct hang_text *x, const struct hang_thread *t, const struct hang_want *w)
{
	bool known = w->other == HANG_UNSEEN;
	struct hang_members in = members_in(&x->r->hang, w, known ? w->number : 0), missing;
	const char *call = "", *others = "", *more = "";
	uint32_t unrecorded;

	missing = members_missing(&x->r->hang, t, w, known, &unrecorded);
	if (known)
		call = PHRASE(x, ", call %llu", (unsigned long long)w->number);
	if (missing.n)
		others = PHRASE(x, "; %s", missing_text(x, &missing, known));
	if (unrecorded)
		more = PHRASE(x, "; %u of its members %s not recorded", unrecorded,
			      unrecorded == 1 ? "was" : "were");
	if (missing.n || unrecorded)
		hang_say(x, "missing", false, "%s in %s%s%s on %s%s%s%s",
			 hang_members_text(x, &in, "is", "are"), w->func->name,
			 hang_at_text(x, &t->site), call, hang_comm_text(x, w), others, more,
			 !known && missing.n ? ". Earlier calls of it are unknown" : "");
	free(missing.p);
	free(in.p);
}

/* Writes sentences about collective calls that members have not made, or made differently. */
static void hang_together_say(struct hang_text *x)
{
	const struct hang *h = &x->r->hang;

	for (uint32_t i = 0; i < h->nthread; i++) {
		const struct hang_thread *t = &h->thread[i];

		for (uint32_t k = 0; t->thread && t->func && k < t->nwant; k++) {
			const struct hang_want *w = &t->want[k];
			bool first = true, known;

			if (w->kind != HANG_TOGETHER || !map_get(&h->joints, w->joint))
				continue;
			known = w->number && !hang_may_miss(h, t->thread->proc);
			for (uint32_t b = 0; b < i && first; b++)
				first = !joint_want(&h->thread[b], w->joint, known ? w->number : 0);
			/* reports each collective call once */
			if (!first || (known && mismatch_say(x, t, w)))
				continue;
			if (w->other != HANG_SEEN && hang_said(x, "missing") < SENTENCES_OF_A_KIND)
				missing_say(x, t, w);
		}
	}
}

void hang_sentences_make(struct hang_text *x)
{
	/* by process index: is in a reported cycle */
	bool *in_cycle = xcalloc(x->r->hang.nprocess + 1, sizeof(*in_cycle));

	stopped_say(x);
	cycles_say(x, in_cycle);
	hang_together_say(x);
	messages_say(x, in_cycle);
	locks_say(x);
	files_say(x);
	unseen_say(x);
	free(in_cycle);
}
