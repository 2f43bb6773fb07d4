/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Finds messages that queued at their receiver (analysis/any_source.h, analysis/unexpected.h). */
#include "lib/human.h"
#include "lib/log.h"
#include "finding/find.h"

/*
 * Adds a finding about the n ranks that waited for one process. A single rank is no queue: no other
 * was served before it.
 */
static void any_source_add(struct findings *f, int kind, const struct waited_for *w, uint32_t n)
{
	const struct waited_for all = waited_for_sum(w, n);
	char *text;

	(void)kind;
	if (n < 2)
		return;
	text = words_ns(xstrdup("ranks waited "), "", all.ns, " for ");
	text = words_process(f, text, model_process_get(f->model, all.late));
	text = words(text, ", which received from any source and was at what others had sent it");
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
	char *text = words_process(f, xstrdup(""), u->process), bytes[HUMAN_BYTES];

	text = words_count(words(text, " received "), u->cnt, "message", "messages");
	text = words(text, " of %s on average that had come before their receives were posted",
		     human_bytes(bytes, sizeof(bytes), u->bytes / u->cnt));
	if (u->func)
		text = words(text, ", by %s", u->func->name);
	text = words_ns(text, ", in calls that took ", u->ns, "");
	text = words_count(words(text, " (at most behind "), u->behind, "other", "others");
	if (u->behind >= UNEXPECTED_KEPT / 2)
		text = words(text, " or more");
	text = words(words_when(f, text, u->behind_from_ns), ")");
	finding_add(f,
		    &(struct finding){
			    .kind = "unexpected_messages",
			    .cost_ns = u->ns,
			    .text = text,
			    .advice = xstrdup(
				    "post the receives before the messages come (MPI_Irecv), or "
				    "let the senders wait for a word of the receiver now and then"),
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
