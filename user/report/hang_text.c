/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Groups ranks by state, and shows where they were when the recording ended. Makes the phrases from
 * which hang_sentences.c writes its sentences.
 */
#include "report/hang_text.h"

#include <stdlib.h>
#include <string.h>

#include "lib/human.h"
#include "lib/log.h"
#include "lib/table.h"
#include "lib/u64.h"
#include "report/columns.h"
#include "report/section.h"
#include "site/site_names.h"

/* ---- parts of sentences ---- */

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

	return PHRASE(x, "%s%s",
		      j && j->is_window ? "a window of " :
		      j && j->is_file	? "a file of " :
					  "",
		      comm_text(x, w));
}

/*
 * "rank 1, tag 7, MPI_COMM_WORLD", where `what` is ", tag 7"; "rank 1 of communicator 5, tag 7" if
 * the process is unknown
 */
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

/* "solve (app.c:41)"; "": unknown */
static const char *hang_place_text(struct hang_text *x, const struct model_site *site)
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

/* "outside MPI", or "outside recorded calls" if only some functions were recorded. */
static const char *hang_outside(const struct report *r)
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

/* An open call matters from this length on, and from this part of the recording on. */
#define MATTERS_NS 100000000
#define MATTERS_SHARE 4

/* ---- groups ---- */

static const char *in_text(struct hang_text *x, const struct hang_thread *t)
{
	if (!t->func)
		return hang_outside(x->r);
	return t->polls ? PHRASE(x, "polls of %s", t->func->name) : t->func->name;
}

static const char *what_text(struct hang_text *x, const struct hang_thread *t)
{
	const char *text;

	if (!t->func)
		return t->last ? PHRASE(x, "last call: %s", t->last->name) : "–";
	if (!t->nwant)
		return t->began_before ? "unknown: the call began before the recording" : "";
	text = hang_want_text(x, t, t->want);
	return t->nwant == 1 ? text : PHRASE(x, "%s, and %u more", text, t->nwant - 1);
}

static struct hang_group group_new(struct hang_text *x, uint32_t idx)
{
	const struct hang_thread *t = &x->r->hang.thread[idx];
	const struct model_site *site = t->func ? &t->site : t->at.address ? &t->at : &t->last_site;
	struct hang_group g = {
		.in = in_text(x, t),
		.place = hang_place_text(x, site),
		.what = what_text(x, t),
		.activity = hang_activity(t),
	};

	g.least_ns = g.most_ns = hang_since_ns(x->r, t);
	g.at_least = t->began_before;
	return g;
}

static bool groups_equal(const struct hang_group *a, const struct hang_group *b)
{
	return !strcmp(a->in, b->in) && !strcmp(a->place, b->place) && !strcmp(a->what, b->what) &&
	       !strcmp(a->activity, b->activity);
}

static void group_add(struct hang_text *out, const struct hang_group *g, uint32_t idx)
{
	struct hang_group *to = NULL;

	for (uint32_t i = 0; i < out->ngroups && !to; i++)
		if (groups_equal(&out->group[i], g))
			to = &out->group[i];
	if (to) {
		to->least_ns = g->least_ns < to->least_ns ? g->least_ns : to->least_ns;
		to->most_ns = g->most_ns > to->most_ns ? g->most_ns : to->most_ns;
		to->at_least |= g->at_least;
	} else {
		to = table_append(out->group, out->ngroups);
		*to = *g;
	}
	*table_append(to->thread, to->nthreads) = idx;
}

static int thread_compare(const void *va, const void *vb, void *ctx)
{
	const struct hang *h = ctx;
	const struct model_thread *a = h->thread[*(const uint32_t *)va].thread;
	const struct model_thread *b = h->thread[*(const uint32_t *)vb].thread;

	return u64_compare(a->proc->idx, b->proc->idx) ?: u64_compare(a->idx, b->idx);
}

/* Skips threads outside MPI if another thread of the process is in a call. */
static bool thread_counts(const struct report *r, const struct hang_thread *t)
{
	const struct model_process *p = t->thread->proc;
	const struct hang_process *own = &r->hang.process[p->idx];

	return p->is_rank && r->chosen[p->idx] && !own->finalized && (t->func || !own->in_calls);
}

void hang_text_make(const struct report *r, struct hang_text *out)
{
	struct hang *h = (struct hang *)&r->hang;
	uint32_t *order = xcalloc(h->nthread + 1, sizeof(*order)), n = 0;

	*out = (struct hang_text){.r = r};
	for (uint32_t i = 0; i < h->nthread; i++) {
		const struct hang_thread *t = &h->thread[i];

		if (t->thread && thread_counts(r, t))
			order[n++] = i;
	}
	qsort_r(order, n, sizeof(*order), thread_compare, h);
	for (uint32_t i = 0; i < n; i++) {
		const struct hang_group g = group_new(out, order[i]);

		group_add(out, &g, order[i]);
	}
	free(order);
	hang_sentences_make(out);
}

void hang_text_release(struct hang_text *x)
{
	for (uint32_t i = 0; i < x->ngroups; i++)
		free(x->group[i].thread);
	free(x->group);
	free(x->sentence);
	text_pool_release(&x->pool);
}

static bool any_is_left(const struct report *r)
{
	return table_any(r->hang.nthread, i,
			 r->hang.thread[i].thread && thread_counts(r, &r->hang.thread[i]));
}

bool hang_text_matters(const struct report *r)
{
	const struct model_info *info = model_get_info(r->model);
	const struct hang *h = &r->hang;

	if (table_any(h->nprocess, i, h->process[i].stuck))
		return true;
	return h->open && (h->cut || any_is_left(r)) && h->longest_ns >= MATTERS_NS &&
	       h->longest_ns >= (info->end_ns - info->start_ns) / MATTERS_SHARE;
}

/* ---- text and JSON ---- */

#define GROUPS_SHOWN 20

static void ranks_cell(struct hang_text *x, struct columns *c, const struct hang_group *g)
{
	const struct model_process **p = xcalloc(g->nthreads, sizeof(*p));

	for (uint32_t i = 0; i < g->nthreads; i++)
		p[i] = x->r->hang.thread[g->thread[i]].thread->proc;
	columns_text(c, hang_ranks_text(x, p, g->nthreads), 40);
	free(p);
}

static void group_row(struct hang_text *x, struct columns *c, const struct hang_group *g)
{
	char least[HUMAN_BYTES], most[HUMAN_BYTES];
	const char *more = g->at_least ? "≥" : "";

	ranks_cell(x, c, g);
	columns_text(c, g->in, 28);
	columns_text(c, g->place, 40);
	columns_text(c, g->what, 70);
	human_ns(least, sizeof(least), g->least_ns);
	human_ns(most, sizeof(most), g->most_ns);
	if (strcmp(least, most))
		columns_cell(c, "%s%s-%s", more, least, most);
	else
		columns_cell(c, "%s%s", more, least);
	columns_cell(c, "%s", g->activity);
}

struct columns *table_hang(struct hang_text *x, uint32_t *shown)
{
	struct columns *c = columns_new();

	*shown = text_rows_shown(x->r, x->ngroups, GROUPS_SHOWN);
	columns_list(c, "<ranks", "<in", "<called at", "<waits for", ">since", "<");
	for (uint32_t i = 0; i < *shown; i++)
		group_row(x, c, &x->group[i]);
	return c;
}

static void groups_print(struct hang_text *x, FILE *out)
{
	uint32_t shown;

	text_columns(table_hang(x, &shown), out);
	text_shown_note(out, shown, x->ngroups);
}

void text_hang(const struct report *r, FILE *out)
{
	struct hang_text t;

	if ((r->opt->details & DETAIL_ALL) == DETAIL_ALL && !r->hang.open)
		return;
	hang_text_make(r, &t);
	text_section(out, "Where ranks were when the recording ended");
	if (t.ngroups)
		groups_print(&t, out);
	else
		text_note(out, r->hang.cut ?
				       "Unknown: the file is cut off, and lacks calls that had not "
				       "returned." :
				       "No rank that had called MPI was left.");
	for (uint32_t i = 0; i < t.nsentences; i++)
		text_note(out, "%s %s.", t.sentence[i].certain ? "!" : "-", t.sentence[i].text);
	text_explain(r, out,
		     "For each thread that called MPI: the call that it was in, or its last "
		     "one; what it waits for; since when; and what it did for most of that "
		     "time. Sentences with \"!\" are certain; the others follow from what was "
		     "recorded.");
	hang_text_release(&t);
}

static void group_json(struct json_out *j, const struct report *r, const struct hang_group *g)
{
	const struct hang_thread *first = &r->hang.thread[g->thread[0]];

	json_out_object_begin(j);
	json_out_key_array(j, "ranks");
	for (uint32_t i = 0; i < g->nthreads; i++)
		json_out_int(j, r->hang.thread[g->thread[i]].thread->proc->rank);
	json_out_array_end(j);
	json_out_key_string(j, "in",
			    first->func && !first->polls ? "call" :
			    first->polls		 ? "polls" :
							   "outside");
	json_out_key_string(j, "function", first->func ? first->func->name : NULL);
	json_out_key_string(j, "last_function", first->last ? first->last->name : NULL);
	json_out_key_string(j, "site", *g->place ? g->place : NULL);
	json_out_key_string(j, "waits_for", first->func && *g->what ? g->what : NULL);
	json_out_key_uint(j, "least_ns", g->least_ns);
	json_out_key_uint(j, "most_ns", g->most_ns);
	json_out_key_bool(j, "at_least", g->at_least);
	json_out_key_string(j, "activity", *g->activity ? g->activity : NULL);
	json_out_object_end(j);
}

void json_hang(struct json_out *j, const struct report *r)
{
	struct hang_text t;

	hang_text_make(r, &t);
	json_out_key_object(j, "at_end");
	json_out_key_bool(j, "matters", hang_text_matters(r));
	json_out_key_array(j, "groups");
	for (uint32_t i = 0; i < t.ngroups; i++)
		group_json(j, r, &t.group[i]);
	json_out_array_end(j);
	json_out_key_array(j, "sentences");
	for (uint32_t i = 0; i < t.nsentences; i++) {
		json_out_object_begin(j);
		json_out_key_string(j, "kind", t.sentence[i].kind);
		json_out_key_bool(j, "certain", t.sentence[i].certain);
		json_out_key_string(j, "text", t.sentence[i].text);
		json_out_object_end(j);
	}
	json_out_array_end(j);
	json_out_object_end(j);
	hang_text_release(&t);
}
