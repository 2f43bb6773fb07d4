/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* See queues.h. */
#include "analysis/queues.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/find.h"
#include "lib/log.h"
#include "lib/table.h"
#include "lib/u64.h"

/* ---- receivers of any source ---- */

/* A message that was received from any source. */
struct service {
	uint32_t from;		   /* idx */
	uint64_t asked_ns, got_ns; /* begin and end of the call that completed the receive */
};

struct server {
	struct service service[ANY_SOURCE_KEPT]; /* the last ones, in order of asked_ns */
	uint32_t n;
};

/* The last message from a sender to a server: when it entered and left the queue. */
struct queued {
	uint64_t sent_ns, taken_ns;
};

static void service_add(struct server *s, const struct service *add)
{
	struct service *at;

	if (s->n == ANY_SOURCE_KEPT)
		memmove(&s->service[0], &s->service[1], --s->n * sizeof(s->service[0]));
	for (at = &s->service[s->n++]; at > s->service && at[-1].asked_ns > add->asked_ns; at--)
		*at = at[-1];
	*at = *add;
}

static void any_source_match(void *ctx, const void *event)
{
	const struct match *m = event;
	const struct match_end *r = &m->recv;
	struct any_source *a = ctx;
	struct queued *q;

	if (!r->any_source || !r->completer || m->assumed)
		return;
	service_add(map_make(&a->servers, r->process->idx, sizeof(struct server)),
		    &(struct service){m->send.process->idx, r->completing_ns, r->end_ns});
	q = map_make(&a->queued, map_pair(m->send.process->idx, r->process->idx), sizeof(*q));
	q->sent_ns = m->send.begin_ns;
	q->taken_ns = r->completing_ns;
}

/* How much of a stretch the server spent on messages of other ranks. */
static uint64_t at_others_ns(const struct server *s, uint32_t waiter, uint64_t from_ns,
			     uint64_t to_ns)
{
	uint64_t ns = 0, until_ns = UINT64_MAX;

	for (const struct service *v = s->service + s->n; v-- > s->service && until_ns > from_ns;) {
		uint64_t begin_ns = u64_max(v->got_ns, from_ns);
		uint64_t end_ns = u64_min(until_ns, to_ns);

		if (v->from != waiter && begin_ns < end_ns)
			ns += end_ns - begin_ns;
		until_ns = v->asked_ns;
	}
	return ns;
}

static void any_source_wait(void *ctx, const void *event)
{
	const struct late_wait *w = event;
	const struct model_process *waiter = w->waiter->proc, *server = w->late->process;
	struct any_source *a = ctx;
	struct queued *q = map_get(&a->queued, map_pair(waiter->idx, server->idx));
	uint64_t from_ns, to_ns, ns;

	if (!q)
		return;
	from_ns = u64_max(w->from_ns, q->sent_ns);
	to_ns = u64_min(w->to_ns, q->taken_ns);
	ns = at_others_ns(map_get(&a->servers, server->idx), waiter->idx, from_ns, to_ns);
	if (ns)
		waited_for_add(&a->waits, waiter, server, ns, from_ns, to_ns, NULL);
}

void any_source_init(struct any_source *a, struct late_pairs *late)
{
	*a = (struct any_source){0};
	observers_add(&late->matched, any_source_match, a);
	observers_add(&late->waits, any_source_wait, a);
}

void any_source_release(struct any_source *a)
{
	map_free(&a->waits, free);
	map_free(&a->queued, free);
	map_free(&a->servers, free);
}

/* ---- messages that came before their receives ---- */

/* Number of messages received after ts_ns. */
static uint32_t taken_since(const struct unexpected *u, uint64_t ts_ns)
{
	return u->ntaken - (uint32_t)table_first(0, u->ntaken, i, u->taken[i] > ts_ns);
}

static void taken_add(struct unexpected *u, uint64_t ts_ns)
{
	uint64_t *at;

	/* drop half of them at once: moving all for each new one would be slow */
	if (u->ntaken == UNEXPECTED_KEPT) {
		u->ntaken /= 2;
		memmove(u->taken, u->taken + u->ntaken, u->ntaken * sizeof(u->taken[0]));
	}
	for (at = table_append(u->taken, u->ntaken); at > u->taken && at[-1] > ts_ns; at--)
		*at = at[-1];
	*at = ts_ns;
}

static void unexpecteds_match(void *ctx, const void *event)
{
	const struct match *m = event;
	const struct match_end *s = &m->send, *r = &m->recv;
	struct unexpecteds *a = ctx;
	struct unexpected *u;
	uint64_t behind;

	if (m->assumed || !s->completer || s->end_ns > r->begin_ns)
		return;
	u = map_make(&a->process, r->process->idx, sizeof(*u));
	if (!u->process) {
		u->process = r->process;
		u->func = r->func;
	}
	if (u->func != r->func)
		u->func = NULL;
	u->cnt++;
	u->bytes += m->bytes > 0 ? (uint64_t)m->bytes : 0;
	u->ns += r->posted_ns - r->begin_ns;
	behind = taken_since(u, s->end_ns);
	if (behind > u->behind) {
		u->behind = behind;
		u->behind_from_ns = s->end_ns;
		u->behind_to_ns = r->begin_ns;
	}
	taken_add(u, r->begin_ns);
}

void unexpecteds_init(struct unexpecteds *a, struct late_pairs *late)
{
	*a = (struct unexpecteds){0};
	observers_add(&late->matched, unexpecteds_match, a);
}

static void unexpected_free(void *value)
{
	struct unexpected *u = value;

	free(u->taken);
	free(u);
}

void unexpecteds_release(struct unexpecteds *a)
{
	map_free(&a->process, unexpected_free);
}

/* ---- findings ---- */

/*
 * Adds a finding about the n ranks that waited for one process. A single rank is no queue: no other
 * was served before it.
 */
static void any_source_add(struct findings *f, int kind, const struct waited_for *w, uint32_t n)
{
	const struct waited_for all = waited_for_sum(w, n);
	char *text;

	if (n < 2)
		return;
	text = xasprintf("ranks waited %s for %s, which received from MPI_ANY_SOURCE and was busy "
			 "with other ranks' messages",
			 phrase_ns(all.ns).text,
			 phrase_process(f, model_process_get(f->model, all.late)).text);
	finding_add(f,
		    &(struct finding){
			    .kind = "any_source_queue",
			    .cost_ns = all.ns,
			    .text = words_waiters(f, text, w, n),
			    .advice = xstrdup(
				    "hand out larger pieces of work, or the next one before it is "
				    "asked for; or share what this rank does among several"),
			    .process = all.late,
			    .from_ns = all.worst_from_ns,
			    .to_ns = all.worst_to_ns,
		    });
}

static void unexpected_add(struct findings *f, const struct unexpected *u)
{
	char *text = xasprintf(
		"%s received %s of %s on average that had come before their receives were posted",
		phrase_process(f, u->process).text,
		phrase_count(u->cnt, "message", "messages").text,
		phrase_bytes(u->bytes / u->cnt).text);

	if (u->func)
		text = words(text, ", by %s", u->func->name);
	text = words(text, ", in calls that took %s (up to %s%s taken first%s)",
		     phrase_ns(u->ns).text,
		     phrase_count(u->behind, "other was", "others were").text,
		     u->behind >= UNEXPECTED_KEPT / 2 ? " or more" : "",
		     phrase_when(f, u->behind_from_ns).text);
	finding_add(f, &(struct finding){
			       .kind = "unexpected_messages",
			       .cost_ns = u->ns,
			       .text = text,
			       .advice = xstrdup(
				       "post the receives before the messages come (MPI_Irecv), or "
				       "make senders wait for an acknowledgement now and then"),
			       .process = u->process->idx,
			       .from_ns = u->behind_from_ns,
			       .to_ns = u->behind_to_ns,
		       });
}

void find_queues(struct findings *f)
{
	const struct unexpected *u;

	waiters_each(f, &f->any_source.waits, 0, any_source_add);
	for (size_t at = 0; (u = map_next(&f->unexpecteds.process, &at, NULL));)
		if (u->behind >= UNEXPECTED_MIN && finding_counts(f, u->process))
			unexpected_add(f, u);
}

/* ---- storms of small messages ---- */

static void storm_end(struct storm *s)
{
	if (s->now.messages >= STORM_MIN) {
		s->storms++;
		s->messages += s->now.messages;
		s->bytes += s->now.bytes;
		s->ns += s->now.ns;
		if (s->now.messages > s->worst) {
			s->worst = s->now.messages;
			s->worst_from_ns = s->now.from_ns;
			s->worst_to_ns = s->now.to_ns;
		}
	}
	memset(&s->now, 0, sizeof(s->now));
}

static void message_sent(struct storms *a, struct storm *s, const struct model_message *msg)
{
	const struct model_operation *o = msg->operation;
	uint64_t end_ns = u64_max(o->posted_ns, o->begin_ns);

	if (!s->sender) {
		s->sender = o->thread->proc;
		s->receiver = model_peer(a->model, s->sender, msg->peer_job, msg->peer_world);
		s->func = o->func;
		s->peer_world = msg->peer_world;
	}
	if (s->func != o->func)
		s->func = NULL;
	if (msg->bytes < 0 || msg->bytes > STORM_BYTES) {
		storm_end(s);
		return;
	}
	if (s->now.messages && o->begin_ns > s->now.to_ns + STORM_GAP_NS)
		storm_end(s);
	if (!s->now.messages)
		s->now.from_ns = o->begin_ns;
	s->now.messages++;
	s->now.bytes += (uint64_t)msg->bytes;
	s->now.ns += end_ns - o->begin_ns;
	s->now.to_ns = u64_max(end_ns, s->now.to_ns);
}

static void on_message(void *ctx, const struct model_message *msg)
{
	const struct model_process *p = msg->operation->thread->proc;
	struct storms *a = ctx;
	struct storm *s;
	uint64_t key;

	if (msg->peer_world < 0 || msg->peer_job != p->job_idx || !p->is_rank)
		return;
	key = map_pair(p->idx, (uint32_t)msg->peer_world);
	if (msg->sends) {
		message_sent(a, map_make(&a->pairs, key, sizeof(*s)), msg);
		return;
	}
	s = map_get(&a->pairs, key);
	if (s)
		storm_end(s);
}

static void on_finish(void *ctx, const struct model *m)
{
	struct storms *a = ctx;
	struct storm *s;

	for (size_t at = 0; (s = map_next(&a->pairs, &at, NULL));)
		storm_end(s);
}

void storms_init(struct storms *a)
{
	*a = (struct storms){
		.sink = {.ctx = a, .model = &a->model, .message = on_message, .finish = on_finish}};
}

void storms_release(struct storms *a)
{
	map_free(&a->pairs, free);
}

/* ---- the finding ---- */

char *words_storm(const struct findings *f, char *text, const struct storm *s)
{
	return words(text, "%s sent rank %d %s of %s on average, one right after another",
		     phrase_process(f, s->sender).text, s->peer_world,
		     phrase_count(s->messages, "message", "messages").text,
		     phrase_bytes(s->bytes / s->messages).text);
}

char *advice_storm(void)
{
	return xstrdup("pack what goes to one rank into one message (MPI_Pack, a derived "
		       "datatype, a buffer of the program's own)");
}

const struct storm *storm_most(const struct findings *f)
{
	const struct storm *s, *most = NULL;

	for (size_t at = 0; (s = map_next(&f->storms.pairs, &at, NULL));)
		if (s->storms && finding_counts(f, s->sender) && (!most || s->ns > most->ns))
			most = s;
	return most;
}

static char *storm_text(const struct findings *f, const struct storm *s)
{
	char *text = words_storm(f, xstrdup(""), s);

	if (s->func)
		text = words(text, ", by %s", s->func->name);
	return words(text, ", in calls that took %s (%s, most %s%s)", phrase_ns(s->ns).text,
		     phrase_count(s->storms, "time", "times").text,
		     phrase_count(s->worst, "message", "messages").text,
		     phrase_when(f, s->worst_from_ns).text);
}

void find_storms(struct findings *f)
{
	const struct storm *s;

	for (size_t at = 0; (s = map_next(&f->storms.pairs, &at, NULL));) {
		if (!s->storms || !finding_counts(f, s->sender))
			continue;
		finding_add(f, &(struct finding){
				       .kind = "small_message_storm",
				       .cost_ns = s->ns,
				       .text = storm_text(f, s),
				       .advice = advice_storm(),
				       .process = s->sender->idx,
				       .from_ns = s->worst_from_ns,
				       .to_ns = s->worst_to_ns,
			       });
	}
}
