/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Messages that queued at their receiver, by analysis/any_source.h and analysis/unexpected.h. */
#include <stdlib.h>

#include "base/human.h"
#include "base/log.h"
#include "finding/find.h"

/* Those who waited for one process, n of them. */
static void any_source_add(struct findings *f, const struct queued *const *q, uint32_t n)
{
	const struct queued *worst = q[0];
	uint64_t ns = 0, cnt = 0;
	char *text;

	for (uint32_t i = 0; i < n; i++) {
		ns += q[i]->ns;
		cnt += q[i]->cnt;
		worst = q[i]->worst_ns > worst->worst_ns ? q[i] : worst;
	}
	text = words_ns(xstrdup("ranks waited "), "", ns, " for ");
	text = words_process(f, text, worst->server);
	text = words(text, ", which received from any source and was at what others had sent it: ");
	for (uint32_t i = 0; i < n && i < NAMED; i++) {
		text = words_process(f, words(text, i ? "; " : ""), q[i]->waiter);
		text = words_ns(text, " ", q[i]->ns, "");
	}
	text = words_count(words(words_more(text, n), " ("), cnt, "time", "times");
	text = words_ns(text, ", most ", worst->worst_ns, "");
	text = words(words_when(f, text, worst->worst_from_ns), ")");
	finding_add(
		f,
		&(struct finding){
			.kind = "any_source_queue",
			.cost_ns = ns,
			.text = text,
			.advice = xstrdup(
				"hand out larger pieces of work, or the next one before it is asked "
				"for; or share what this rank does among several"),
			.process = worst->server->idx,
			.from_ns = worst->worst_from_ns,
			.to_ns = worst->worst_from_ns + worst->worst_ns,
		});
}

static void unexpected_add(struct findings *f, const struct unexpected *u)
{
	char *text = words_process(f, xstrdup(""), u->process), bytes[HUMAN_BYTES];

	text = words_count(words(text, " received "), u->cnt, "message", "messages");
	text = words(text,
		     " of %s on average that had come before their receives were posted, by %s",
		     human_bytes(bytes, sizeof(bytes), u->bytes / u->cnt), u->func->name);
	text = words_ns(text, ", in calls that took ", u->ns, "");
	text = words_count(words(text, " (at most behind "), u->behind, "other", "others");
	text = words(words_when(f, text, u->behind_from_ns), ")");
	finding_add(
		f,
		&(struct finding){
			.kind = "unexpected_messages",
			.cost_ns = u->ns,
			.text = text,
			.advice = xstrdup(
				"post the receives before the messages come (MPI_Irecv), or let the "
				"senders wait for a word of the receiver now and then"),
			.process = u->process->idx,
			.from_ns = u->behind_from_ns,
			.to_ns = u->behind_to_ns,
		});
}

void find_queues(struct findings *f)
{
	uint32_t n, kept = 0, end;
	const struct queued **q = any_source_list(&f->any_source, &n);
	const struct unexpected *u;

	for (uint32_t i = 0; i < n; i++)
		if (finding_counts(f, q[i]->waiter))
			q[kept++] = q[i];
	for (uint32_t i = 0; i < kept; i = end) {
		for (end = i; end < kept && q[end]->server == q[i]->server;)
			end++;
		if (end - i > 1)
			any_source_add(f, &q[i], end - i);
	}
	free(q);
	for (size_t at = 0; (u = map_next(&f->unexpecteds.process, &at, NULL));)
		if (u->behind >= UNEXPECTED_MIN && finding_counts(f, u->process))
			unexpected_add(f, u);
}
