/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Says where a rank is, and what an open call waits for: the parts that hang_text.c and
 * hang_sentences.c put together.
 */
#include <string.h>

#include "lib/human.h"
#include "report/hang_text.h"
#include "report/section.h"
#include "site/site_names.h"

#define RANKS_NAMED 12 /* most ranges in a list of ranks */

/* Bits of a task's state in Linux (include/linux/sched.h). */
#define TASK_STOPPED 0x4u
#define TASK_TRACED 0x8u
#define TASK_UNINTERRUPTIBLE 0x2u
#define TASK_NOLOAD 0x400u

/* ---- ranks ---- */

static bool follows(const struct model_process *a, const struct model_process *b)
{
	return a->job_idx == b->job_idx && a->rank >= 0 && b->rank == a->rank + 1;
}

const char *hang_ranks_text(struct hang_text *x, const struct model_process *const *p, uint32_t n)
{
	const char *text = "";
	uint32_t ranges = 0, end;

	for (uint32_t i = 0; i < n; i = end) {
		for (end = i + 1; end < n && follows(p[end - 1], p[end]);)
			end++;
		if (ranges++ == RANKS_NAMED)
			return PHRASE(x, "%s and %u more", text, n - i);
		text = PHRASE(x, "%s%s%s", text, i ? ", " : "", RANK_LABEL(x->r, p[i]));
		if (end > i + 1)
			text = PHRASE(x, "%s%s%s", text, end == i + 2 ? ", " : "-",
				      RANK_LABEL(x->r, p[end - 1]));
	}
	return text;
}

const char *hang_of_ranks_text(struct hang_text *x, const struct model_process *const *p,
			       uint32_t n)
{
	return PHRASE(x, "%s %s", n == 1 ? "rank" : "ranks", hang_ranks_text(x, p, n));
}

const char *hang_rank_text(struct hang_text *x, const struct model_process *p)
{
	return hang_of_ranks_text(x, &p, 1);
}

/* ---- what a call waits for ---- */

static const char *comm_text(struct hang_text *x, const struct hang_want *w)
{
	if (w->world)
		return "MPI_COMM_WORLD";
	if (!w->comm_id)
		return "an unknown communicator";
	if (w->comm_size < 0)
		return PHRASE(x, "communicator %u", w->comm_id);
	return PHRASE(x, "communicator %u of %d ranks", w->comm_id, w->comm_size);
}

const char *hang_comm_text(struct hang_text *x, const struct hang_want *w)
{
	const struct hang_joint *j = map_get(&x->r->hang.joints, w->joint);

	return PHRASE(x, "%s%s", j && j->is_window ? "a window of " : "", comm_text(x, w));
}

/* "rank 1, tag 7, MPI_COMM_WORLD", of which `what` may follow the rank; "rank 1 of communicator 5" */
static const char *peer_text(struct hang_text *x, const struct hang_want *w, const char *what)
{
	if (!w->process && w->peer >= 0)
		return PHRASE(x, "rank %d of %s%s", w->peer, comm_text(x, w), what);
	return PHRASE(x, "%s%s, %s",
		      w->process	  ? hang_rank_text(x, w->process) :
		      w->peer == PEER_ANY ? "any rank" :
					    "an unknown rank",
		      what, comm_text(x, w));
}

static const char *tag_text(struct hang_text *x, const struct hang_want *w)
{
	return w->tag == TAG_ANY ? "any tag" : PHRASE(x, "tag %d", w->tag);
}

static const char *together_text(struct hang_text *x, const struct hang_thread *t,
				 const struct hang_want *w)
{
	if (!w->number || hang_may_miss(&x->r->hang, t->thread->proc))
		return PHRASE(x, "the others of %s", hang_comm_text(x, w));
	return PHRASE(x, "the others, call %llu on %s", (unsigned long long)w->number,
		      hang_comm_text(x, w));
}

static const char *kind_text(struct hang_text *x, const struct hang_thread *t,
			     const struct hang_want *w)
{
	switch (w->kind) {
	case HANG_RECV:
		return PHRASE(x, "a message from %s",
			      peer_text(x, w, PHRASE(x, ", %s", tag_text(x, w))));
	case HANG_SEND:
		return peer_text(x, w, PHRASE(x, " to receive, %s", tag_text(x, w)));
	case HANG_TOGETHER:
		return together_text(x, t, w);
	case HANG_LOCK:
		return PHRASE(x, "a window at %s", peer_text(x, w, ""));
	case HANG_FILE:
		return "a file";
	default:
		return w->func ? "" : "a request whose start was not recorded";
	}
}

const char *hang_want_text(struct hang_text *x, const struct hang_thread *t,
			   const struct hang_want *w)
{
	const char *text = kind_text(x, t, w);

	if (!*text || !w->func || w->func == t->func)
		return text;
	return PHRASE(x, "%s (%s)", text, w->func->name);
}

/* ---- where a process is ---- */

const char *hang_place_text(struct hang_text *x, const struct model_site *site)
{
	return site->address ? text_pool_take(&x->pool, sites_text(x->r->sites, site)) : "";
}

const char *hang_at_text(struct hang_text *x, const struct model_site *site)
{
	const char *place = hang_place_text(x, site);

	return *place ? PHRASE(x, " at %s", place) : "";
}

static enum thread_state most_of(const struct state_times *s)
{
	enum thread_state most = THREAD_UNKNOWN;

	for (int i = THREAD_RUNNING; i <= THREAD_BLOCKED; i++)
		if (s->ns[i] > s->ns[most])
			most = (enum thread_state)i;
	return most;
}

const char *hang_activity(const struct hang_thread *t)
{
	static const char *const text[THREAD_STATE_CNT] = {
		[THREAD_UNKNOWN] = "",
		[THREAD_RUNNING] = "on a core",
		[THREAD_RUNNABLE] = "no core",
		[THREAD_BLOCKED] = "asleep",
	};
	uint32_t as = t->thread->asleep_as;

	if (as & TASK_STOPPED)
		return "stopped";
	if (as & TASK_TRACED)
		return "stopped by a debugger";
	if (as & TASK_UNINTERRUPTIBLE && !(as & TASK_NOLOAD))
		return "uninterruptible";
	return text[most_of(&t->times)];
}

uint64_t hang_since_ns(const struct report *r, const struct hang_thread *t)
{
	const struct model_info *info = model_get_info(r->model);

	return info->end_ns - (t->since_ns ? t->since_ns : info->start_ns);
}

const char *hang_outside(const struct report *r)
{
	return r->hang.partial ? "outside recorded calls" : "outside MPI";
}

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

/* " (asleep)"; "": unknown */
static const char *activity_text(struct hang_text *x, const struct hang_thread *t)
{
	const char *a = hang_activity(t);

	return *a ? PHRASE(x, " (%s)", a) : "";
}

static const char *call_text(struct hang_text *x, const struct hang_thread *t)
{
	const char *want = t->nwant ? hang_want_text(x, t, t->want) : "";

	return PHRASE(x, "it is in %s%s for %s%s%s%s%s", t->func->name, hang_at_text(x, &t->site),
		      t->began_before ? "at least " : "", NS_TEXT(hang_since_ns(x->r, t)),
		      activity_text(x, t), *want ? ", and waits for " : "", want);
}

static const char *outside_text(struct hang_text *x, const struct hang_thread *t)
{
	const char *where = PHRASE(x, "it is %s%s%s", hang_outside(x->r), hang_at_text(x, &t->at),
				   activity_text(x, t));

	if (!t->last)
		return PHRASE(x, "%s for at least %s", where, NS_TEXT(hang_since_ns(x->r, t)));
	return PHRASE(x, "%s since %s%s returned %s ago", where, t->last->name,
		      hang_at_text(x, &t->last_site), NS_TEXT(hang_since_ns(x->r, t)));
}

const char *hang_where_text(struct hang_text *x, const struct model_process *p)
{
	const struct hang *h = &x->r->hang;
	const struct hang_thread *t = thread_of(h, p);

	if (h->process[p->idx].ends)
		return "it has ended";
	if (h->process[p->idx].finalized)
		return "it has finalised MPI";
	if (!t)
		return "no MPI call of it was recorded";
	if (t->polls)
		return PHRASE(x, "it has polled %s%s for %s without success", t->func->name,
			      hang_at_text(x, &t->site), NS_TEXT(hang_since_ns(x->r, t)));
	return t->func ? call_text(x, t) : outside_text(x, t);
}
