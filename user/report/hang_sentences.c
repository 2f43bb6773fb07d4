/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Writes sentences about faults and about ranks that others wait for. A sentence states only what
 * the records prove. If a proof would need records that the recording lacks, the sentence names
 * them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/human.h"
#include "lib/log.h"
#include "analysis/find.h"
#include "report/hang_text.h"
#include "report/section.h"

#define SENTENCES_OF_A_KIND 4 /* most sentences of one kind */
#define RANKS_NAMED 12	      /* most ranges in a list of ranks */
#define CYCLE_NAMED 8
#define MISSING_NAMED 3 /* up to this many missing ranks, tells where each one is */

struct telling {
	const struct report *r;
	const struct hang *h;
	struct hang_text *out;
	bool *in_cycle;	 /* by process index: is in a reported cycle */
	bool *mentioned; /* by index of hang.thread: a sentence covers its wait */
};

static void say(struct telling *s, const char *kind, bool certain, char *text)
{
	struct hang_text *o = s->out;

	o->sentence = xrealloc(o->sentence, (o->nsentences + 1) * sizeof(*o->sentence));
	o->sentence[o->nsentences++] =
		(struct hang_sentence){.kind = kind, .certain = certain, .text = text};
}

static uint32_t said(const struct telling *s, const char *kind)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->out->nsentences; i++)
		n += !strcmp(s->out->sentence[i].kind, kind);
	return n;
}

/* ---- ranks ---- */

static char *join(char *text, char *more)
{
	char *longer = xasprintf("%s%s", text, more);

	free(text);
	free(more);
	return longer;
}

static bool follows(const struct model_process *a, const struct model_process *b)
{
	return a->job_idx == b->job_idx && a->rank >= 0 && b->rank == a->rank + 1;
}

char *hang_ranks_text(const struct report *r, const struct model_process *const *p, uint32_t n)
{
	char *text = xstrdup("");
	uint32_t ranges = 0, end;

	for (uint32_t i = 0; i < n; i = end) {
		for (end = i + 1; end < n && follows(p[end - 1], p[end]);)
			end++;
		if (ranges++ == RANKS_NAMED)
			return words(text, " and %u more", n - i);
		text = words(text, "%s%s", i ? ", " : "", RANK_LABEL(r, p[i]));
		if (end > i + 1)
			text = words(text, "%s%s", end == i + 2 ? ", " : "-",
				     RANK_LABEL(r, p[end - 1]));
	}
	return text;
}

/* "rank 3", "ranks 0-2, 5" */
static char *ranks_text(const struct report *r, const struct model_process *const *p, uint32_t n)
{
	return join(xstrdup(n == 1 ? "rank " : "ranks "), hang_ranks_text(r, p, n));
}

static char *rank_text(const struct report *r, const struct model_process *p)
{
	return ranks_text(r, &p, 1);
}

static char *capital(char *text)
{
	if (*text >= 'a' && *text <= 'z')
		*text = (char)(*text - 'a' + 'A');
	return text;
}

/* ---- where a process is ---- */

/* Returns a thread of the process in a call, or else any thread. */
static const struct hang_thread *thread_of(const struct hang *h, const struct model_process *p)
{
	const struct hang_thread *found = NULL;

	for (uint32_t i = 0; i < h->nthread; i++) {
		const struct hang_thread *t = &h->thread[i];

		if (t->thread && t->thread->proc == p && (!found || (!found->func && t->func)))
			found = t;
	}
	return found;
}

static char *place_in(const struct report *r, const struct model_site *site)
{
	char *place = hang_place_text(r, site), *text;

	text = *place ? xasprintf(" at %s", place) : xstrdup("");
	free(place);
	return text;
}

static char *activity_in(const struct hang_thread *t)
{
	const char *a = hang_activity(t);

	return *a ? xasprintf(" (%s)", a) : xstrdup("");
}

static char *call_text(const struct report *r, const struct hang_thread *t)
{
	char *place = place_in(r, &t->site), *activity = activity_in(t);
	char *want = t->nwant ? hang_want_text(r, t, t->want) : xstrdup("");
	char *text = xasprintf("it is in %s%s for %s%s%s", t->func->name, place,
			       t->before ? "at least " : "", NS_TEXT(hang_since_ns(r, t)),
			       activity);

	if (*want)
		text = words(text, ", and waits for %s", want);
	free(want);
	free(place);
	free(activity);
	return text;
}

static char *outside_text(const struct report *r, const struct hang_thread *t)
{
	char ns[HUMAN_BYTES], *place = place_in(r, &t->last_site), *activity = activity_in(t);
	char *at = place_in(r, &t->at), *text;

	human_ns(ns, sizeof(ns), hang_since_ns(r, t));
	text = t->last ?
		       xasprintf("it is %s%s%s since %s%s returned %s ago", hang_outside(r), at,
				 activity, t->last->name, place, ns) :
		       xasprintf("it is %s%s%s for at least %s", hang_outside(r), at, activity, ns);
	free(at);

	free(place);
	free(activity);
	return text;
}

static char *polls_text(const struct report *r, const struct hang_thread *t)
{
	char *place = place_in(r, &t->site);
	char *text = xasprintf("it has polled %s%s for %s without success", t->func->name, place,
			       NS_TEXT(hang_since_ns(r, t)));

	free(place);
	return text;
}

/* "it is outside MPI …", "it has ended" */
static char *where_text(const struct telling *s, const struct model_process *p)
{
	const struct hang_thread *t = thread_of(s->h, p);

	if (s->h->process[p->idx].ends)
		return xstrdup("it has ended");
	if (s->h->process[p->idx].finalized)
		return xstrdup("it has finalised MPI");
	if (!t)
		return xstrdup("no MPI call of it was recorded");
	if (t->polls)
		return polls_text(s->r, t);
	return t->func ? call_text(s->r, t) : outside_text(s->r, t);
}

/* ---- collective calls ---- */

struct members {
	const struct model_process **p;
	uint32_t n;
};

static void member_add(struct members *m, const struct model_process *p)
{
	if (m->n && m->p[m->n - 1] == p)
		return;
	m->p = xrealloc(m->p, (m->n + 1) * sizeof(*m->p));
	m->p[m->n++] = p;
}

static int process_compare(const void *va, const void *vb)
{
	const struct model_process *a = *(const struct model_process *const *)va;
	const struct model_process *b = *(const struct model_process *const *)vb;

	return a->idx < b->idx ? -1 : a->idx > b->idx;
}

static void members_sort(struct members *m)
{
	uint32_t n = 0;

	if (!m->n)
		return;
	qsort(m->p, m->n, sizeof(*m->p), process_compare);
	for (uint32_t i = 0; i < m->n; i++)
		if (!n || m->p[n - 1] != m->p[i])
			m->p[n++] = m->p[i];
	m->n = n;
}

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
static struct members members_in(const struct telling *s, const struct hang_want *w,
				 uint64_t number)
{
	struct members m = {0};

	for (uint32_t i = 0; i < s->h->nthread; i++) {
		const struct hang_want *k = joint_want(&s->h->thread[i], w->joint, number);

		if (k && (number || k->func == w->func))
			member_add(&m, s->h->thread[i].thread->proc);
	}
	members_sort(&m);
	return m;
}

static char *joint_name(const struct hang_joint *j, const struct hang_want *w)
{
	char *comm = hang_comm_text(w), *text;

	text = xasprintf("%s%s", j->is_window ? "a window of " : "", comm);
	free(comm);
	return text;
}

/* Reports members that made different calls with the same number. Returns true if any did. */
static bool mismatch_say(struct telling *s, const struct hang_thread *t, const struct hang_want *w)
{
	const struct hang_joint *j = map_get(&s->h->joints, w->joint);
	const struct hang_part *part, *other = NULL;
	struct members here = {0}, there = {0};
	char *on, *a, *b, *at, *other_at;
	uint64_t idx;

	for (size_t i = 0; (part = map_next(&j->part, &i, &idx));) {
		const struct model_process *p = model_process_get(s->h->model, (uint32_t)idx);

		if (part->number != w->number || hang_may_miss(s->h, p))
			continue;
		if (!strcmp(part->func->name, w->func->name)) {
			member_add(&here, p);
		} else if (!other || !strcmp(part->func->name, other->func->name)) {
			other = part;
			member_add(&there, p);
		}
	}
	members_sort(&here);
	members_sort(&there);
	if (here.n && there.n) {
		on = joint_name(j, w);
		a = ranks_text(s->r, here.p, here.n);
		b = ranks_text(s->r, there.p, there.n);
		at = place_in(s->r, &t->site);
		other_at = place_in(s->r, &other->site);
		say(s, "mismatch", true,
		    capital(xasprintf(
			    "%s called %s%s, %s %s%s, both as call %llu on %s: all members must "
			    "make the same calls in the same order",
			    a, w->func->name, at, b, other->func->name, other_at,
			    (unsigned long long)w->number, on)));
		free(on);
		free(a);
		free(b);
		free(at);
		free(other_at);
	}
	free(here.p);
	free(there.p);
	return other;
}

/*
 * Members that have not made that call. known: judges by call numbers, else by who is in the call
 * now.
 */
static struct members members_missing(const struct telling *s, const struct hang_thread *t,
				      const struct hang_want *w, bool known, uint32_t *unrecorded)
{
	const struct hang_joint *j = map_get(&s->h->joints, w->joint);
	struct members m = {0}, in = members_in(s, w, 0);

	*unrecorded = 0;
	for (int32_t i = 0; j->member && i < j->size; i++) {
		const struct model_process *p = hang_member(s->h, t->thread->proc, j->member[i]);

		if (!p)
			++*unrecorded;
		else if (known ? hang_number(j, p) < w->number :
				 !bsearch(&p, in.p, in.n, sizeof(*in.p), process_compare))
			member_add(&m, p);
	}
	members_sort(&m);
	free(in.p);
	return m;
}

static char *missing_text(const struct telling *s, const struct members *missing, bool known)
{
	char *text = ranks_text(s->r, missing->p, missing->n), *where;
	const char *are = missing->n == 1 ? known ? "has" : "is" : known ? "have" : "are";

	text = words(text, known ? " %s not called it" : " %s not in it", are);
	for (uint32_t i = 0; missing->n <= MISSING_NAMED && i < missing->n; i++) {
		char *rank = rank_text(s->r, missing->p[i]);

		where = where_text(s, missing->p[i]);
		text = join(text, missing->n == 1 ? xasprintf(": %s", where) :
						    xasprintf("%s %s: %s", i ? ";" : ".",
							      i ? rank : capital(rank), where));
		free(where);
		free(rank);
	}
	return text;
}

static void missing_say(struct telling *s, const struct hang_thread *t, const struct hang_want *w)
{
	const struct hang_joint *j = map_get(&s->h->joints, w->joint);
	bool known = w->other == HANG_UNSEEN;
	struct members in = members_in(s, w, known ? w->number : 0), missing;
	char *on = joint_name(j, w), *who = ranks_text(s->r, in.p, in.n),
	     *at = place_in(s->r, &t->site);
	char *text, call[48] = "";
	uint32_t unrecorded;

	missing = members_missing(s, t, w, known, &unrecorded);
	if (known)
		snprintf(call, sizeof(call), ", call %llu", (unsigned long long)w->number);
	text = xasprintf("%s %s in %s%s%s on %s", who, in.n == 1 ? "is" : "are", w->func->name, at,
			 call, on);
	if (missing.n)
		text = join(words(text, "; "), missing_text(s, &missing, known));
	if (unrecorded)
		text = words(text, "; %u of its members were not recorded", unrecorded);
	if (!known && missing.n)
		text = words(text, ". Whether they were in it before is unknown");
	if (missing.n || unrecorded)
		say(s, "missing", false, capital(text));
	else
		free(text);
	free(missing.p);
	free(in.p);
	free(on);
	free(who);
	free(at);
}

/* Reports each collective call once. */
static void together_say(struct telling *s)
{
	for (uint32_t i = 0; i < s->h->nthread; i++) {
		const struct hang_thread *t = &s->h->thread[i];

		for (uint32_t k = 0; t->thread && t->func && k < t->nwant; k++) {
			const struct hang_want *w = &t->want[k];
			bool first = true, known;

			if (w->kind != HANG_TOGETHER || !map_get(&s->h->joints, w->joint))
				continue;
			known = w->number && !hang_may_miss(s->h, t->thread->proc);
			for (uint32_t b = 0; b < i && first; b++)
				first = !joint_want(&s->h->thread[b], w->joint,
						    known ? w->number : 0);
			if (!first || (known && mismatch_say(s, t, w)))
				continue;
			if (w->other != HANG_SEEN && said(s, "missing") < SENTENCES_OF_A_KIND)
				missing_say(s, t, w);
		}
	}
}

/* ---- cycles ---- */

/* Returns what a thread in a cycle waits for from the next process; NULL: unknown. */
static const struct hang_want *want_of_next(const struct hang_thread *t,
					    const struct model_process *next)
{
	for (uint32_t i = 0; i < t->nwant; i++)
		if ((t->want[i].other == HANG_UNSEEN || t->presumed) &&
		    (t->want[i].process == next || t->want[i].kind == HANG_TOGETHER))
			return &t->want[i];
	return NULL;
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

static char *link_text(const struct telling *s, uint32_t process, uint32_t next, struct cycle *c)
{
	const struct model_process *p = model_process_get(s->h->model, process);
	const struct model_process *q = model_process_get(s->h->model, next);
	const struct hang_thread *t = thread_that_waits(s->h, process, next);
	const struct hang_want *w = t ? want_of_next(t, q) : NULL;
	char *who = rank_text(s->r, p), *for_whom = rank_text(s->r, q), *at, *what, *text;

	at = t ? place_in(s->r, &t->site) : xstrdup("");
	what = w ? hang_want_text(s->r, t, w) : xstrdup("");
	c->by_send |= w && w->kind == HANG_SEND;
	c->multiple |= s->h->process[process].multiple;
	c->presumed |= t && t->presumed;
	if (t && hang_since_ns(s->r, t) < c->least_ns)
		c->least_ns = hang_since_ns(s->r, t);
	text = xasprintf("%s in %s%s waits for %s", who, t ? t->func->name : "?", at,
			 w && w->kind == HANG_TOGETHER ? for_whom : what);
	free(who);
	free(for_whom);
	free(at);
	free(what);
	return text;
}

/* Says why the ranks of a cycle cannot go on, and what could help. */
static char *cycle_end_text(const struct cycle *c)
{
	char ns[HUMAN_BYTES], *text;

	human_ns(ns, sizeof(ns), c->least_ns);
	if (c->presumed)
		return xasprintf(
			". None of them went on in the %s of the recording; what they sent "
			"before is unknown",
			ns);
	text = xstrdup(". None of them can go on");
	if (c->by_send)
		text = join(
			text,
			xstrdup("; the library did not accept messages before they were received"));
	if (c->multiple)
		text = join(
			text,
			xstrdup(", unless another of their threads calls MPI (MPI_THREAD_MULTIPLE allows "
				"that)"));
	return text;
}

static void cycle_say(struct telling *s, const uint32_t *cycle, uint32_t n)
{
	struct cycle c = {.least_ns = UINT64_MAX};
	char *text = xstrdup("");

	for (uint32_t i = 0; i < n; i++) {
		char *link = link_text(s, cycle[i], cycle[(i + 1) % n], &c);

		s->in_cycle[cycle[i]] = true;
		if (i < CYCLE_NAMED)
			text = words(text, "%s%s", i ? "; " : "", link);
		free(link);
	}
	if (n > CYCLE_NAMED)
		text = words(text, "; and so on, %u ranks in all", n);
	text = join(join(xstrdup(c.presumed ? "Each waits for the next one: " : "Deadlock: "),
			 text),
		    cycle_end_text(&c));
	say(s, "deadlock", !c.multiple && !c.presumed, text);
}

static void cycles_say(struct telling *s)
{
	uint32_t *cycle = xcalloc(s->h->nprocess + 1, sizeof(*cycle)), n;
	bool *seen = xcalloc(s->h->nprocess + 1, sizeof(*seen));

	while ((n = hang_cycle(s->h, seen, cycle)))
		cycle_say(s, cycle, n);
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
static struct members message_waiters(struct telling *s, const struct hang_want *w, uint32_t from)
{
	struct members m = {0};

	for (uint32_t i = from; i < s->h->nthread; i++) {
		const struct hang_thread *t = &s->h->thread[i];

		for (uint32_t k = 0; t->thread && t->func && k < t->nwant; k++)
			if (same_message(w, &t->want[k])) {
				member_add(&m, t->thread->proc);
				s->mentioned[i] = true;
			}
	}
	members_sort(&m);
	return m;
}

static char *stray_text(const struct telling *s, const struct hang_want *w,
			const struct model_process *to)
{
	struct hang_message stray;
	char cnt[64];

	if (!hang_other_message(s->h, w->process, to, &stray))
		return xstrdup("");
	human_plural(cnt, sizeof(cnt), stray.cnt, "message", "messages");
	if (stray.comm_id != w->comm_id)
		return xasprintf(". It has sent it %s with tag %d in another communicator (%s), "
				 "which nobody has received",
				 cnt, stray.tag, stray.func->name);
	return xasprintf(". It has sent it %s with tag %d (%s), which nobody has received", cnt,
			 stray.tag, stray.func->name);
}

static void message_say(struct telling *s, const struct hang_thread *t, const struct hang_want *w,
			uint32_t idx)
{
	bool sends = w->kind == HANG_SEND, gone;
	struct members m = message_waiters(s, w, idx);
	char *who = ranks_text(s->r, m.p, m.n), *at = place_in(s->r, &t->site);
	char *what = hang_want_text(s->r, t, w), *where, *peer, *stray, *text;

	text = xasprintf("%s %s in %s%s for %s", who, m.n == 1 ? "waits" : "wait", t->func->name,
			 at, what);
	if (w->process) {
		gone = s->h->process[w->process->idx].ends ||
		       s->h->process[w->process->idx].finalized;
		peer = rank_text(s->r, w->process);
		where = where_text(s, w->process);
		stray = sends || w->other != HANG_UNSEEN ? xstrdup("") :
							   stray_text(s, w, t->thread->proc);
		text = join(text, w->other == HANG_UNSEEN ?
					  xasprintf("; %s has %s: %s%s", peer,
						    sends ? "begun no such receive" : "not sent it",
						    where, stray) :
					  xasprintf("; %s: %s", peer, where));
		free(peer);
		free(where);
		free(stray);
	} else {
		gone = false;
		text = words(text, "; no such message is on its way");
	}
	say(s, sends ? "send" : "receive", gone && w->other == HANG_UNSEEN, capital(text));
	free(who);
	free(at);
	free(what);
	free(m.p);
}

/* True for a receive from any rank when nobody has sent a matching message. */
static bool nobody_sends(const struct hang_want *w)
{
	return w->kind == HANG_RECV && w->other == HANG_UNSEEN && !w->process;
}

static void messages_say(struct telling *s)
{
	for (uint32_t i = 0; i < s->h->nthread; i++) {
		const struct hang_thread *t = &s->h->thread[i];
		struct hang_message stray;

		for (uint32_t k = 0; t->thread && t->func && !s->mentioned[i] && k < t->nwant;
		     k++) {
			const struct hang_want *w = &t->want[k];
			const char *kind = w->kind == HANG_SEND ? "send" : "receive";
			bool cycle = s->in_cycle[t->thread->proc->idx];

			if (!(hang_waits(t, w) || nobody_sends(w)) ||
			    said(s, kind) == SENTENCES_OF_A_KIND)
				continue;
			if (cycle &&
			    (!w->process || w->kind == HANG_SEND ||
			     !hang_other_message(s->h, w->process, t->thread->proc, &stray)))
				continue;
			message_say(s, t, w, i);
		}
	}
}

/* ---- other sentences ---- */

static bool is_stopped(const struct hang_thread *t)
{
	return !strncmp(hang_activity(t), "stopped", 7);
}

static void stopped_say(struct telling *s)
{
	struct members m = {0};
	char *who;

	for (uint32_t i = 0; i < s->h->nthread; i++)
		if (s->h->thread[i].thread && is_stopped(&s->h->thread[i]))
			member_add(&m, s->h->thread[i].thread->proc);
	members_sort(&m);
	if (m.n) {
		who = ranks_text(s->r, m.p, m.n);
		say(s, "stopped", true,
		    capital(xasprintf(
			    "%s %s stopped by a signal (SIGSTOP, a terminal) or a debugger; "
			    "SIGCONT lets %s go on",
			    who, m.n == 1 ? "is" : "are", m.n == 1 ? "it" : "them")));
		free(who);
	}
	free(m.p);
}

static void locks_say(struct telling *s)
{
	for (uint32_t i = 0; i < s->h->nthread; i++) {
		const struct hang_thread *t = &s->h->thread[i];
		const struct model_process *holder;
		char *who, *by, *where, *at, *target;

		if (!t->thread || !t->func || !t->nwant || t->want->kind != HANG_LOCK ||
		    said(s, "lock") == SENTENCES_OF_A_KIND)
			continue;
		holder = hang_lock_holder(s->h, t->want, t->thread->proc);
		if (!holder)
			continue;
		who = rank_text(s->r, t->thread->proc);
		by = rank_text(s->r, holder);
		where = where_text(s, holder);
		at = place_in(s->r, &t->site);
		target = hang_want_text(s->r, t, t->want);
		say(s, "lock", false,
		    capital(xasprintf(
			    "%s is in %s%s, for %s; %s has locked it there and not unlocked it: %s",
			    who, t->func->name, at, target, by, where)));
		free(who);
		free(by);
		free(where);
		free(at);
		free(target);
	}
}

static bool in_file(const struct hang_thread *t)
{
	return t->func &&
	       ((t->nwant && t->want->kind == HANG_FILE) || !strcmp(t->func->group, "io"));
}

/* Reports only if all ranks are in I/O. Otherwise, ranks may wait for one that is not. */
static void files_say(struct telling *s)
{
	struct members files = {0}, all = {0};
	uint32_t asleep = 0;
	char *who;

	for (uint32_t i = 0; i < s->h->nthread; i++) {
		const struct hang_thread *t = &s->h->thread[i];
		bool hard = t->thread && !strcmp(hang_activity(t), "uninterruptible");

		if (!t->thread)
			continue;
		member_add(&all, t->thread->proc);
		if (in_file(t) || hard)
			member_add(&files, t->thread->proc);
		asleep += hard;
	}
	members_sort(&all);
	members_sort(&files);
	if (files.n && files.n == all.n) {
		who = ranks_text(s->r, files.p, files.n);
		say(s, "io", false,
		    capital(asleep == files.n ?
				    xasprintf(
					    "%s %s in uninterruptible sleep in the kernel, as in file I/O",
					    who, files.n == 1 ? "is" : "are all") :
				    xasprintf("%s %s in file I/O", who,
					      files.n == 1 ? "is" : "are all")));
		free(who);
	}
	free(files.p);
	free(all.p);
}

static void unseen_say(struct telling *s)
{
	uint32_t before = 0;

	for (uint32_t i = 0; i < s->h->nthread; i++) {
		const struct hang_thread *t = &s->h->thread[i];

		before += t->thread && t->func && !t->polls && hang_may_miss(s->h, t->thread->proc);
	}
	if (before)
		say(s, "unseen", false,
		    xstrdup(s->h->lost ?
				    "Records of calls were lost: which messages are missing, and how many "
				    "collective calls were made, is unknown" :
				    "What ranks did before the recording began is unknown, and so is which "
				    "messages are missing and how many collective calls were made"));
}

void hang_sentences_make(const struct report *r, struct hang_text *out)
{
	struct telling s = {
		.r = r,
		.h = &r->hang,
		.out = out,
		.in_cycle = xcalloc(r->hang.nprocess + 1, sizeof(bool)),
		.mentioned = xcalloc(r->hang.nthread + 1, sizeof(bool)),
	};

	stopped_say(&s);
	cycles_say(&s);
	together_say(&s);
	messages_say(&s);
	locks_say(&s);
	files_say(&s);
	unseen_say(&s);
	free(s.in_cycle);
	free(s.mentioned);
}
