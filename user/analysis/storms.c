/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* See storms.h. */
#include "analysis/storms.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/find.h"
#include "lib/log.h"
#include "lib/u64.h"

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
	key = (uint64_t)p->idx << 32 | (uint32_t)msg->peer_world;
	if (msg->sends) {
		message_sent(a, map_make(&a->pairs, key, sizeof(*s)), msg);
		return;
	}
	s = map_get(&a->pairs, key);
	if (s)
		storm_end(s);
}

static void on_start(void *ctx, const struct model *m)
{
	((struct storms *)ctx)->model = m;
}

static int on_finish(void *ctx, const struct model *m)
{
	struct storms *a = ctx;
	struct storm *s;

	(void)m;
	for (size_t at = 0; (s = map_next(&a->pairs, &at, NULL));)
		storm_end(s);
	return 0;
}

void storms_init(struct storms *a)
{
	*a = (struct storms){
		.sink = {.ctx = a, .start = on_start, .message = on_message, .finish = on_finish}};
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
