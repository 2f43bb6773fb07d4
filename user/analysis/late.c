/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* See late.h. */
#include "analysis/late.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/find.h"
#include "lib/log.h"
#include "lib/table.h"

/* ---- who waited for whom ---- */

static void worst_take(struct waited_for *to, const struct waited_for *from)
{
	if (from->worst_ns <= to->worst_ns)
		return;
	to->worst_ns = from->worst_ns;
	to->worst_from_ns = from->worst_from_ns;
	to->worst_to_ns = from->worst_to_ns;
	to->worst_in = from->worst_in;
}

void waited_for_add(struct map *pairs, const struct model_process *waiter,
		    const struct model_process *late, uint64_t ns, uint64_t from_ns, uint64_t to_ns,
		    const struct func_info *in)
{
	struct waited_for *w = map_make(pairs, map_pair(waiter->idx, late->idx), sizeof(*w));

	w->waiter = waiter->idx;
	w->late = late->idx;
	w->cnt++;
	w->ns += ns;
	worst_take(w, &(struct waited_for){.worst_ns = ns,
					   .worst_from_ns = from_ns,
					   .worst_to_ns = to_ns,
					   .worst_in = in});
}

const struct waited_for *waited_for_get(const struct map *pairs, uint32_t waiter, uint32_t late)
{
	return map_get(pairs, map_pair(waiter, late));
}

TABLE_ORDER(waited_compare, struct waited_for, u64_compare(a->late, b->late),
	    u64_compare(b->ns, a->ns), u64_compare(a->waiter, b->waiter))

struct waited_for *waited_for_list(const struct map *pairs, uint32_t *n)
{
	struct waited_for *list = xmalloc((pairs->cnt + 1) * sizeof(*list)), *w;

	*n = 0;
	for (size_t at = 0; (w = map_next(pairs, &at, NULL));)
		list[(*n)++] = *w;
	qsort(list, *n, sizeof(*list), waited_compare);
	return list;
}

struct waited_for waited_for_sum(const struct waited_for *w, uint32_t n)
{
	struct waited_for sum = *w;

	for (uint32_t i = 1; i < n; i++) {
		sum.cnt += w[i].cnt;
		sum.ns += w[i].ns;
		worst_take(&sum, &w[i]);
	}
	return sum;
}

/* ---- findings about ranks that waited for another rank ---- */

char *words_waiters(const struct findings *f, char *text, const struct waited_for *w, uint32_t n)
{
	const struct waited_for all = waited_for_sum(w, n);

	for (uint32_t i = 0; i < n && i < NAMED; i++)
		text = words(text, "%s%s %s", i ? "; " : ": ",
			     phrase_process(f, model_process_get(f->model, w[i].waiter)).text,
			     phrase_ns(w[i].ns).text);
	return words(words_more(text, n), " (%s, most %s%s%s%s)",
		     phrase_count(all.cnt, "time", "times").text, phrase_ns(all.worst_ns).text,
		     all.worst_in ? " in " : "", all.worst_in ? all.worst_in->name : "",
		     phrase_when(f, all.worst_from_ns).text);
}

void waiters_each(struct findings *f, const struct map *pairs, int kind,
		  void (*add)(struct findings *f, int kind, const struct waited_for *w, uint32_t n))
{
	uint32_t n, kept = 0, end;
	struct waited_for *w = waited_for_list(pairs, &n);

	for (uint32_t i = 0; i < n; i++)
		if (finding_counts(f, model_process_get(f->model, w[i].waiter)))
			w[kept++] = w[i];
	for (uint32_t i = 0; i < kept; i = end) {
		for (end = i; end < kept && w[end].late == w[i].late;)
			end++;
		add(f, kind, &w[i], end - i);
	}
	free(w);
}

/* ---- late senders and receivers ---- */

/* A call that waited, and the time up to which its waiting has been reported. */
struct late_call {
	uint64_t begin_ns, reported_ns;
};

struct late_probe {
	uint64_t begin_ns, end_ns;
	uint32_t comm_id;
	int32_t peer_world, tag; /* as reported by its status; -1: unknown */
};

/* Number of last calls kept per thread. Matches of several calls may be reported alternately. */
#define CALLS 8
struct late_thread {
	struct late_call call[CALLS];
	struct late_probe probe[CALLS];
	uint32_t oldest, oldest_probe;
};

static struct late_call *call_of(struct late_thread *t, uint64_t begin_ns)
{
	struct late_call *c;

	for (c = t->call; c < t->call + CALLS; c++)
		if (c->begin_ns == begin_ns)
			return c;
	c = &t->call[t->oldest++ % CALLS];
	*c = (struct late_call){begin_ns, begin_ns};
	return c;
}

static void wait_add(struct late_pairs *a, enum late_kind kind, const struct match_end *waiter,
		     const struct match_end *other)
{
	struct late_call *call = call_of(table_row(a->thread, a->nthread, waiter->completer->idx),
					 waiter->waiting_ns);
	uint64_t from_ns = call->reported_ns, to_ns = other->begin_ns;

	if (to_ns <= from_ns)
		return;
	observers_notify(&a->waits,
			 &(struct late_wait){kind, waiter->completer, other, from_ns, to_ns});
	call->reported_ns = to_ns;
	waited_for_add(&a->pairs[kind], waiter->process, other->process, to_ns - from_ns, from_ns,
		       to_ns, NULL);
}

uint64_t late_ns(const struct match *m, enum late_kind kind)
{
	const struct match_end *waiter = kind == LATE_SENDER ? &m->recv : &m->send;
	const struct match_end *other = kind == LATE_SENDER ? &m->send : &m->recv;

	if (!waiter->completer || waiter->waiting_ns >= other->begin_ns ||
	    waiter->end_ns <= other->begin_ns)
		return 0;
	return other->begin_ns - waiter->waiting_ns;
}

static bool is_probe(const struct model_call *c)
{
	static const char *const probes[] = {"MPI_Probe", "MPI_Mprobe", "MPI_Iprobe",
					     "MPI_Improbe"};

	if (c->nested || c->open || c->unwound || c->view->roles.error ||
	    !(c->func->group_bit & GROUP_P2P))
		return false;
	return table_any(sizeof(probes) / sizeof(*probes), i, !strcmp(c->func->name, probes[i]));
}

static void on_call(void *ctx, const struct model_call *c)
{
	const struct call_roles *r = &c->view->roles;
	struct late_pairs *a = ctx;
	struct late_thread *t;

	if (!is_probe(c))
		return;
	t = table_row(a->thread, a->nthread, c->thread->idx);
	t->probe[t->oldest_probe++ % CALLS] = (struct late_probe){
		c->polled_since_ns, c->end_ns, r->comm_id, r->peer_world, r->tag};
}

/* Finds a probe of the receiving thread during which the message's send began, or NULL. */
static const struct late_probe *probe_of(struct late_pairs *a, const struct match *m)
{
	const struct late_thread *t;

	if (!m->recv.completer || m->recv.thread->idx >= a->nthread)
		return NULL;
	t = &a->thread[m->recv.thread->idx];
	for (const struct late_probe *p = t->probe; p < t->probe + CALLS; p++)
		if (p->comm_id == m->comm_id && (p->tag < 0 || p->tag == m->tag) &&
		    (p->peer_world < 0 || p->peer_world == m->send.process->rank) &&
		    p->begin_ns < m->send.begin_ns && m->send.begin_ns < p->end_ns &&
		    p->end_ns <= m->recv.begin_ns)
			return p;
	return NULL;
}

static void on_match(void *ctx, const struct match *m)
{
	struct late_pairs *a = ctx;
	const struct late_probe *probe;
	struct match_end probing = m->recv;

	observers_notify(&a->matched, m);
	if (m->assumed) {
		a->uncertain[m->assumed]++;
		return;
	}
	if (late_ns(m, LATE_SENDER))
		wait_add(a, LATE_SENDER, &m->recv, &m->send);
	probe = probe_of(a, m);
	if (probe) {
		probing.completer = m->recv.thread;
		probing.waiting_ns = probe->begin_ns;
		wait_add(a, LATE_SENDER, &probing, &m->send);
	}
	if (late_ns(m, LATE_RECEIVER))
		wait_add(a, LATE_RECEIVER, &m->send, &m->recv);
}

void late_init(struct late_pairs *a)
{
	*a = (struct late_pairs){.probes = {.ctx = a, .call = on_call}};
	matches_init(&a->matches, on_match, a);
}

void late_release(struct late_pairs *a)
{
	matches_release(&a->matches);
	for (int kind = 0; kind < LATE_KINDS; kind++)
		map_free(&a->pairs[kind], free);
	free(a->thread);
}

/* ---- the finding ---- */

/* Adds a finding about the n ranks that waited for one process. */
static void late_add(struct findings *f, int kind, const struct waited_for *w, uint32_t n)
{
	const struct waited_for all = waited_for_sum(w, n);
	bool sender = kind == LATE_SENDER;
	const struct model_process *late = model_process_get(f->model, all.late);
	char *text = xasprintf("ranks waited %s for %s that %s had not %s yet",
			       phrase_ns(all.ns).text, sender ? "messages" : "receives",
			       phrase_process(f, late).text, sender ? "sent" : "posted");

	text = words_causes(f, words_waiters(f, text, w, n),
			    sender ? CAUSE_LATE_SENDER : CAUSE_LATE_RECEIVER, all.late, all.ns);
	finding_add(f, &(struct finding){
			       .kind = sender ? "late_sender" : "late_receiver",
			       .cost_ns = all.ns,
			       .text = text,
			       .process = all.late,
			       .from_ns = all.worst_from_ns,
			       .to_ns = all.worst_to_ns,
		       });
}

void find_late(struct findings *f)
{
	for (int kind = 0; kind < LATE_KINDS; kind++)
		waiters_each(f, &f->late.pairs[kind], kind, late_add);
}
