/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* See whatif.h: keeps what is needed of the recording. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analysis/functions.h"
#include "analysis/whatif_internal.h"
#include "lib/log.h"
#include "lib/table.h"

#define NOBODY UINT32_MAX

/* Frees everything that was kept of the recording. */
static void recording_drop(struct whatif *w)
{
	for (uint32_t i = 0; i < w->nline; i++)
		free(w->line[i].call);
	free(w->line);
	free(w->message);
	free(w->member);
	free(w->joint);
	free(w->no_core);
	free(w->sleep);
	w->line = NULL;
	w->message = NULL;
	w->member = NULL;
	w->joint = NULL;
	w->no_core = NULL;
	w->sleep = NULL;
	w->nline = w->nmember = w->njoint = 0;
	w->nmessage = w->nno_core = w->nsleep = 0;
}

/* True if there is room for another entry of this size. Else drops everything. */
static bool room_take(struct whatif *w, size_t bytes)
{
	if (!w->full && w->room_bytes < bytes) {
		w->full = true;
		recording_drop(w);
	}
	if (w->full)
		return false;
	if (w->room_bytes != SIZE_MAX)
		w->room_bytes -= bytes;
	return true;
}

/* ---- call sites ---- */

static uint64_t site_hash(const struct func_info *func, const struct model_site *s)
{
	uint64_t place = s->module ? (uint64_t)(uintptr_t)s->module ^ s->offset : s->address;

	return place * UINT64_C(0x9e3779b97f4a7c15) ^ func->id;
}

static uint32_t site_number(struct whatif *w, const struct func_info *func,
			    const struct model_site *site)
{
	uint64_t hash = site_hash(func, site);
	uint32_t first = (uint32_t)(uintptr_t)map_get(&w->site_of, hash);

	for (uint32_t i = first; i; i = w->site_next[i - 1]) {
		if (w->site[i - 1].func == func && !site_compare(&w->site[i - 1].site, site))
			return i - 1;
	}
	*table_row(w->site_next, w->site_next_room, w->nsite) = first;
	*table_append(w->site, w->nsite) = (struct whatif_site){func, *site};
	map_set(&w->site_of, hash, (void *)(uintptr_t)w->nsite);
	return w->nsite - 1;
}

const struct whatif_site *whatif_site(const struct whatif *w, uint32_t site)
{
	return &w->site[site];
}

/* ---- calls ---- */

static void line_add(struct whatif *w, const struct model_thread *t, const struct func_info *func,
		     const struct model_site *site, uint64_t begin_ns, uint64_t end_ns,
		     bool computes)
{
	struct whatif_line *l;

	if (!room_take(w, sizeof(struct whatif_call)))
		return;
	l = table_row(w->line, w->nline, t->idx);
	*table_append(l->call, l->ncall) =
		(struct whatif_call){begin_ns, end_ns, site_number(w, func, site), computes, 0};
}

/* Merges polls that found nothing with the call that ended them. Together they are one wait. */
static bool polls_end(struct whatif *w, const struct model_call *c)
{
	struct whatif_line *l = c->thread->idx < w->nline ? &w->line[c->thread->idx] : NULL;

	if (c->polled_since_ns == c->begin_ns || !l || !l->ncall ||
	    l->call[l->ncall - 1].begin_ns != c->polled_since_ns)
		return false;
	l->call[l->ncall - 1].end_ns = c->end_ns;
	return true;
}

static void on_call(void *ctx, const struct model_call *c)
{
	if (!c->nested && func_is_top(c->func) && !polls_end(ctx, c))
		line_add(ctx, c->thread, c->func, &c->site, c->begin_ns, c->end_ns, false);
}

static void on_spin(void *ctx, const struct model_spin *s)
{
	if (!s->nested && s->nfuncs && func_is_top(s->func[0].func))
		line_add(ctx, s->thread, s->func[0].func, &s->site, s->begin_ns, s->end_ns,
			 s->computes);
}

/*
 * Number of a thread's calls that begin at ts_ns or earlier. Looks first near the last result, in
 * growing steps.
 */
static uint32_t calls_begun(const struct whatif *w, uint32_t thread, uint64_t ts_ns)
{
	struct whatif_line *l = thread < w->nline ? &w->line[thread] : NULL;
	uint32_t n = l ? l->ncall : 0, lo, hi, step = 1;

	if (!n)
		return 0;
	lo = hi = l->looked_at < n ? l->looked_at : n;
	if (lo < n && l->call[lo].begin_ns <= ts_ns) {
		for (lo++; step <= n - lo && l->call[lo + step - 1].begin_ns <= ts_ns; step *= 2)
			lo += step;
		hi = step <= n - lo ? lo + step - 1 : n;
	} else {
		for (; step <= hi && l->call[hi - step].begin_ns > ts_ns; step *= 2)
			hi -= step;
		lo = step <= hi ? hi - step + 1 : 0;
	}
	l->looked_at = (uint32_t)table_first(lo, hi, i, l->call[i].begin_ns > ts_ns);
	return l->looked_at;
}

uint64_t whatif_call_end(const struct whatif *w, uint32_t thread, uint64_t begin_ns)
{
	uint32_t at = calls_begun(w, thread, begin_ns);

	return at ? w->line[thread].call[at - 1].end_ns : 0;
}

/* ---- messages ---- */

static struct whatif_side side_of(const struct match_end *e)
{
	return (struct whatif_side){
		.begin_ns = e->begin_ns,
		.completing_ns = e->completer ? e->waiting_ns : 0,
		.end_ns = e->completer ? e->end_ns : 0,
		.thread = e->thread->idx,
		.completer = e->completer ? e->completer->idx : NOBODY,
	};
}

static uint64_t both_ns_of(const struct whatif_message *m)
{
	return u64_max(m->side[SEND].begin_ns, m->side[RECV].begin_ns);
}

static uint64_t transfer_key(int64_t bytes, bool other_host)
{
	return (uint64_t)bytes << 1 | other_host;
}

static void times_add(struct whatif_times *t, uint64_t ns)
{
	t->ns[t->n++ % TIMES_KEPT] = ns;
}

static uint64_t times_median(const struct whatif_times *t)
{
	uint32_t n = t->n < TIMES_KEPT ? t->n : TIMES_KEPT;
	uint64_t ns[TIMES_KEPT];

	memcpy(ns, t->ns, n * sizeof(*ns));
	qsort(ns, n, sizeof(*ns), u64_order);
	return n ? ns[n / 2] : 0;
}

static struct whatif_transfer *transfer_of(struct whatif *w, const struct whatif_message *m)
{
	return map_make(&w->transfer, transfer_key(m->bytes, m->other_host),
			sizeof(struct whatif_transfer));
}

/*
 * Adds a message's duration if both sides were in their completing calls when the later side had
 * been posted.
 */
static void alone_add(struct whatif *w, const struct whatif_message *m)
{
	uint64_t both_ns = both_ns_of(m);

	for (int side = 0; side < SIDES; side++)
		if (!m->side[side].end_ns || m->side[side].completing_ns > both_ns)
			return;
	if (m->bytes >= 0 && m->side[RECV].end_ns > both_ns)
		times_add(&transfer_of(w, m)->alone, m->side[RECV].end_ns - both_ns);
}

uint64_t whatif_transfer_ns(const struct whatif *w, int64_t bytes, bool other_host)
{
	const struct whatif_transfer *t =
		bytes < 0 ? NULL : map_get(&w->transfer, transfer_key(bytes, other_host));

	if (!t)
		return 0;
	return t->alone.n ? times_median(&t->alone) : times_median(&t->resumed);
}

static void on_match(void *ctx, const void *event)
{
	const struct match *m = event;
	struct whatif *w = ctx;
	uint32_t at = calls_begun(w, m->send.thread->idx, m->send.begin_ns);
	struct whatif_message *out;

	if (!room_take(w, sizeof(*out) + SIDES * sizeof(struct whatif_event)))
		return;
	if (!at)
		/* the thread's calls were not reported, so nothing is known of it */
		return;
	out = table_append(w->message, w->nmessage);
	*out = (struct whatif_message){
		.side = {side_of(&m->send), side_of(&m->recv)},
		.bytes = m->bytes,
		/* the call that posted it is over, as it has been reported */
		.site = w->line[m->send.thread->idx].call[at - 1].site,
		.other_host = m->send.process->host_idx != m->recv.process->host_idx,
	};
	alone_add(w, out);
}

void whatif_messages(const struct whatif *w, void (*emit)(void *ctx, const struct whatif_dep *d),
		     void *ctx)
{
	for (size_t i = 0; i < w->nmessage; i++) {
		const struct whatif_message *m = &w->message[i];

		emit(ctx, &(struct whatif_dep){
				  .kind = WHATIF_SEND_POSTED,
				  .begin_ns = m->side[RECV].completing_ns,
				  .end_ns = m->side[RECV].end_ns,
				  .on_ns = m->side[SEND].begin_ns,
				  .both_ns = both_ns_of(m),
				  .bytes = m->bytes,
				  .thread = m->side[RECV].thread,
				  .on = m->side[SEND].thread,
				  .site = m->site,
				  .other_host = m->other_host,
			  });
	}
}

/* ---- collectives ---- */

/*
 * Derives the flow from the data that members need from each other. Covers names such as MPI_Ibcast
 * and MPI_Bcast_c, too.
 */
static enum whatif_flow flow_of(const struct func_info *f)
{
	static const struct {
		const char *name;
		enum whatif_flow flow;
	} rooted[] = {
		{"bcast", FLOW_FROM_ROOT},    {"scatter", FLOW_FROM_ROOT},
		{"scatterv", FLOW_FROM_ROOT}, {"reduce", FLOW_TO_ROOT},
		{"gather", FLOW_TO_ROOT},     {"gatherv", FLOW_TO_ROOT},
	};
	const char *name = strncmp(f->name, "MPI_", 4) ? f->name : f->name + 4;
	size_t len;

	name += *name == 'I';
	len = strlen(name);
	len -= len > 2 && !strcmp(name + len - 2, "_c") ? 2 : 0;
	for (size_t i = 0; i < sizeof(rooted) / sizeof(rooted[0]); i++)
		if (strlen(rooted[i].name) == len && !strncasecmp(rooted[i].name, name, len))
			return rooted[i].flow;
	return FLOW_ALL;
}

static void on_joint(void *ctx, const void *event)
{
	const struct arrival_joint *j = event;
	struct whatif *w = ctx;
	struct whatif_joint *out;

	if (!room_take(w, sizeof(*out) + j->calls * (sizeof(struct whatif_member) +
						     sizeof(struct whatif_event))))
		return;
	out = table_append(w->joint, w->njoint);
	*out = (struct whatif_joint){.first = w->nmember, .flow = flow_of(j->call[0].func)};
	for (uint32_t i = 0; i < j->calls; i++) {
		const struct arrival_call *c = &j->call[i];

		*table_append(w->member, w->nmember) = (struct whatif_member){
			c->begin_ns,	arrival_wait_ns(c), c->waits ? c->end_ns : 0,
			c->thread->idx, w->njoint - 1,	    c->root};
	}
	out->n = w->nmember - out->first;
}

/* ---- cores ---- */

static void on_no_core(void *ctx, const void *event)
{
	const struct held_stretch *h = event;
	struct whatif *w = ctx;
	struct whatif_no_core *n;

	if (!h->waiter->proc->is_rank || !room_take(w, sizeof(*n)))
		return;
	n = table_append(w->no_core, w->nno_core);
	*n = (struct whatif_no_core){
		.from_ns = h->from_ns,
		.to_ns = h->to_ns,
		.thread = h->waiter->idx,
		.holder = h->holder ? h->holder->idx : NOBODY,
	};
}

/* ---- sleeps ---- */

#define SLEEPS_MAX 262144
#define SLEEP_LEAST_NS 10000

static void on_state(void *ctx, const struct model_thread *t, uint64_t from_ns, uint64_t to_ns,
		     enum thread_state s, uint16_t cpu)
{
	struct whatif *w = ctx;

	if (s != THREAD_BLOCKED || !t->proc->is_rank || to_ns - from_ns < SLEEP_LEAST_NS)
		return;
	if (w->nsleep == SLEEPS_MAX)
		w->sleeps_lost = true;
	else if (room_take(w, sizeof(*w->sleep)))
		*table_append(w->sleep, w->nsleep) = (struct whatif_sleep){from_ns, to_ns, t->idx};
}

void whatif_keep_sleeps(struct whatif *w)
{
	w->sink.state = on_state;
}

/* ---- dependencies ---- */

bool whatif_dep_of(const struct whatif_message *m, int side, enum whatif_kind kind,
		   struct whatif_dep *out)
{
	const struct whatif_side *own = &m->side[side], *other = &m->side[!side];
	uint64_t on_ns = kind == WHATIF_PEER_IN_MPI ? own->peer_in_ns : other->begin_ns;

	if (!own->end_ns || !on_ns || on_ns > own->end_ns ||
	    (kind == WHATIF_SEND_POSTED && side != RECV) ||
	    (kind == WHATIF_RECV_POSTED && side != SEND))
		return false;
	*out = (struct whatif_dep){
		.kind = kind,
		.begin_ns = own->completing_ns,
		.end_ns = own->end_ns,
		.on_ns = on_ns,
		.both_ns = both_ns_of(m),
		.bytes = m->bytes,
		.thread = own->completer,
		.on = other->thread,
		.site = m->site,
		.sends = side == SEND,
		.other_host = m->other_host,
		.stood_still = other->peer_in_ns && other->peer_in_ns == own->completing_ns,
	};
	return true;
}

/*
 * For a side that was in its completing call with both sides posted: the time when the other thread
 * called MPI next. 0 unless the other thread was outside MPI for longer than such a message takes.
 * That duration is learned from other messages of this size, or else from the rest of this one.
 */
static uint64_t peer_in_ns_of(const struct whatif *w, const struct whatif_message *m, int side)
{
	const struct whatif_side *own = &m->side[side], *other = &m->side[!side];
	uint64_t from_ns = u64_max(own->completing_ns, both_ns_of(m)), at_ns, alone_ns;
	const struct whatif_transfer *t;
	const struct whatif_line *l;
	uint32_t at;

	if (from_ns >= own->end_ns || m->bytes < 0)
		return 0;
	at = calls_begun(w, other->thread, from_ns);
	l = &w->line[other->thread];
	if (!at || l->call[at - 1].end_ns > from_ns || at == l->ncall)
		return 0;
	at_ns = l->call[at].begin_ns;
	if (at_ns > own->end_ns)
		return 0;
	t = map_get(&w->transfer, transfer_key(m->bytes, m->other_host));
	alone_ns = t && t->alone.n ? times_median(&t->alone) : own->end_ns - at_ns;
	return at_ns - from_ns > alone_ns ? at_ns : 0;
}

static void side_settle(struct whatif *w, struct whatif_message *m, int side)
{
	struct whatif_side *s = &m->side[side];

	s->peer_in_ns = peer_in_ns_of(w, m, side);
	if (s->peer_in_ns)
		times_add(&transfer_of(w, m)->resumed, s->end_ns - s->peer_in_ns);
}

TABLE_ORDER(event_compare, struct whatif_event, u64_compare(a->end_ns, b->end_ns),
	    u64_compare(a->thread, b->thread), u64_compare(a->begin_ns, b->begin_ns))

TABLE_ORDER(no_core_compare, struct whatif_no_core, u64_compare(a->thread, b->thread),
	    u64_compare(a->to_ns, b->to_ns))

void whatif_settle(struct whatif *w)
{
	if (w->settled)
		return;
	w->settled = true;
	w->event = xcalloc(w->nmessage * SIDES + w->nmember + 1, sizeof(*w->event));
	for (size_t i = 0; i < w->nmessage; i++) {
		for (int side = 0; side < SIDES; side++) {
			struct whatif_side *s = &w->message[i].side[side];

			if (!s->end_ns)
				continue;
			side_settle(w, &w->message[i], side);
			w->event[w->nevent++] = (struct whatif_event){s->end_ns, s->completing_ns,
								      s->completer, (uint32_t)i,
								      (uint8_t)side};
		}
	}
	for (uint32_t i = 0; i < w->nmember; i++) {
		const struct whatif_member *m = &w->member[i];

		if (m->end_ns)
			w->event[w->nevent++] = (struct whatif_event){m->end_ns, m->wait_ns,
								      m->thread, i, SIDES};
	}
	qsort(w->event, w->nevent, sizeof(*w->event), event_compare);
	table_sort(w->no_core, w->nno_core, no_core_compare);
}

void whatif_each(struct whatif *w, void (*emit)(void *ctx, const struct whatif_dep *d), void *ctx)
{
	struct whatif_dep d;

	whatif_settle(w);
	for (size_t i = 0; i < w->nevent; i++) {
		const struct whatif_event *e = &w->event[i];

		for (int kind = 0; e->side < SIDES && kind <= WHATIF_PEER_IN_MPI; kind++) {
			if (whatif_dep_of(&w->message[e->of], e->side, kind, &d) &&
			    d.begin_ns < d.on_ns)
				emit(ctx, &d);
		}
	}
}

void whatif_forget(struct whatif *w)
{
	for (uint32_t i = 0; i < w->nline; i++)
		w->line[i].ncall = 0;
	free(w->event);
	w->event = NULL;
	w->nmessage = w->nno_core = w->nevent = 0;
	w->nmember = w->njoint = 0;
	w->settled = false;
}

/* ---- init and release ---- */

struct whatif *whatif_new(const struct model *m)
{
	struct whatif *w = xcalloc(1, sizeof(*w));

	w->model = m;
	w->room_bytes = SIZE_MAX;
	w->sink = (struct model_sink){
		.ctx = w,
		.call = on_call,
		.spin = on_spin,
	};
	return w;
}

void whatif_limit(struct whatif *w, size_t bytes)
{
	w->room_bytes = bytes;
}

bool whatif_is_full(const struct whatif *w)
{
	return w->full;
}

const struct model_sink *whatif_sink(struct whatif *w)
{
	return &w->sink;
}

void whatif_attach(struct whatif *w, struct late_pairs *late, struct arrivals *arrivals,
		   struct holders *holders)
{
	observers_add(&late->matched, on_match, w);
	observers_add(&arrivals->joints, on_joint, w);
	observers_add(&holders->stretches, on_no_core, w);
}

void whatif_free(struct whatif *w)
{
	if (!w)
		return;
	recording_drop(w);
	free(w->site);
	free(w->site_next);
	map_release(&w->site_of);
	map_free(&w->transfer, free);
	free(w->event);
	free(w);
}
