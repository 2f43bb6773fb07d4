/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* See call_places.h. A wait may become known before its call has ended, or later. */
#include "analysis/call_places.h"

#include <stdlib.h>

#include "analysis/causes_line.h"
#include "lib/table.h"

#define PLACES_MAX 65536 /* code generated at run time can have any number of call sites */

static enum call_work work_of(const struct func_info *func)
{
	return func->file_io ? CALL_FILE_IO : func->waits ? CALL_WAITS : CALL_WORKS;
}

/*
 * True if the account counts the thread's time. Until the process's main thread is known, all its
 * threads count.
 */
static bool is_counted(const struct call_places *a, const struct model_thread *t, uint64_t ts_ns)
{
	uint32_t i = t->proc->idx;
	const struct app_process *own = i < a->app->nprocess ? &a->app->process[i] : NULL;

	return t->proc->is_rank && windows_has(&a->app->windows, t->proc, ts_ns) &&
	       !(own && own->has_main && own->main != t->idx);
}

/* The place of a call that began at begin_ns. NULL: it does not count, or has no room. */
static struct call_place *place_of(struct call_places *a, const struct model_thread *t,
				   uint64_t begin_ns, const struct cause_place *at,
				   enum call_work kind)
{
	struct map *places = &a->at[kind];
	const struct model_site *site = &at->site;
	/* A file's offsets are the same in all processes, but their addresses are not. */
	uint64_t key = (uint64_t)at->func->id << 48 ^ (site->module ? site->offset : site->address);
	struct call_place *p;

	if (!is_counted(a, t, begin_ns))
		return NULL;
	if (places->cnt >= PLACES_MAX)
		return map_get(places, key);
	p = map_make(places, key, sizeof(*p));
	p->at = *at;
	return p;
}

static uint64_t with_core_ns(const struct state_times *t)
{
	return t->ns[THREAD_RUNNING] + t->ns[THREAD_BLOCKED] + t->ns[THREAD_UNKNOWN];
}

static void call_add(struct call_place *p, const struct model_call *c)
{
	const struct call_roles *r = &c->view->roles;
	int64_t bytes = r->sends ? r->send_bytes : r->recv_bytes;

	p->calls++;
	p->requests += r->nrequests;
	if ((!r->sends && !r->receives) || bytes == BYTES_UNKNOWN)
		return;
	p->bytes += (uint64_t)bytes;
	p->sized++;
}

/* Polls that found nothing count as waiting, even if the call that ended them does not wait. */
static void on_call(void *ctx, const struct model_call *c)
{
	const struct cause_place at = {c->func, c->site};
	struct call_places *a = ctx;
	struct call_place *own, *polls;
	uint64_t *waited_ns;

	if (c->nested || !func_is_top(c->func))
		return;
	waited_ns = table_row(a->waited_ns, a->nthread, c->thread->idx);
	/* the account has a class of its own for open calls */
	own = c->open ? NULL : place_of(a, c->thread, c->begin_ns, &at, work_of(c->func));
	polls = own && c->polled_since_ns != c->begin_ns ?
			place_of(a, c->thread, c->begin_ns, &at, CALL_WAITS) :
			NULL;
	if (own)
		call_add(own, c);
	if (polls && polls != own)
		call_add(polls, c);
	if (own)
		own->ns += with_core_ns(&c->split);
	if (polls)
		polls->ns += with_core_ns(&a->causes->thread[c->thread->idx].polled);
	if (polls ?: own)
		(polls ?: own)->waited_ns += *waited_ns;
	*waited_ns = 0;
	*(struct call_place **)table_row(a->last, a->nlast, c->thread->idx) = polls ?: own;
}

/* The call that completed the message has been reported before. */
static void on_message(void *ctx, const struct model_message *m)
{
	struct call_places *a = ctx;
	uint32_t thread = m->operation->thread->idx;
	struct call_place *p = thread < a->nlast ? a->last[thread] : NULL;

	if (!p || !m->operation->completion || m->bytes == BYTES_UNKNOWN)
		return;
	p->messages++;
	p->message_bytes += (uint64_t)m->bytes;
}

/* A part of a wait for a late rank. */
static void on_waited(void *ctx, const void *event)
{
	const struct causes_part *w = event;
	struct call_places *a = ctx;
	const struct line_entry *call;
	struct call_place *p;
	uint64_t *waited_ns;

	if (w->state == THREAD_RUNNABLE)
		return;
	call = line_find(&a->causes->thread[w->thread->idx].line[LINE_CALLS], w->from_ns);
	if (!call || !call->func || call->to_ns < w->to_ns) {
		waited_ns = table_row(a->waited_ns, a->nthread, w->thread->idx);
		*waited_ns += w->to_ns - w->from_ns;
		return;
	}
	p = place_of(a, w->thread, call->from_ns, &(struct cause_place){call->func, call->site},
		     call->func->polls ? CALL_WAITS : work_of(call->func));
	if (p)
		p->waited_ns += w->to_ns - w->from_ns;
}

void call_places_init(struct call_places *a, const struct app_time *app, struct causes *causes)
{
	*a = (struct call_places){
		.sink = {.ctx = a, .call = on_call, .message = on_message},
		.app = app,
		.causes = causes,
	};
	observers_add(&causes->parts, on_waited, a);
}

void call_places_release(struct call_places *a)
{
	for (int kind = 0; kind < CALL_WORK_KINDS; kind++)
		map_free(&a->at[kind], free);
	free(a->waited_ns);
	free(a->last);
}

uint64_t call_place_own_ns(const struct call_place *p)
{
	return u64_minus(p->ns, p->waited_ns);
}

const struct call_place *call_places_most(const struct call_places *a, enum call_work kind,
					  uint64_t *of_ns)
{
	const struct call_place *p, *most = NULL;

	*of_ns = 0;
	for (size_t at = 0; (p = map_next(&a->at[kind], &at, NULL));) {
		*of_ns += call_place_own_ns(p);
		if (call_place_own_ns(p) > (most ? call_place_own_ns(most) : 0))
			most = p;
	}
	return most;
}
