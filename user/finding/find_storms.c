/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Finds storms of small messages (analysis/storms.h). */
#include "lib/human.h"
#include "lib/log.h"
#include "finding/find.h"

static char *storm_text(const struct findings *f, const struct storm *s)
{
	char *text = words_process(f, xstrdup(""), s->sender), bytes[HUMAN_BYTES];

	text = words(text, " sent rank %d ", s->peer_world);
	text = words_count(text, s->messages, "message", "messages");
	text = words(text, " of %s on average one close behind the other",
		     human_bytes(bytes, sizeof(bytes), s->bytes / s->messages));
	if (s->func)
		text = words(text, ", by %s", s->func->name);
	text = words_ns(text, ", in calls that took ", s->ns, "");
	text = words_count(words(text, " ("), s->storms, "time", "times");
	text = words_count(words(text, ", most "), s->worst, "message", "messages");
	return words(words_when(f, text, s->worst_from_ns), ")");
}

void find_storms(struct findings *f)
{
	const struct storm *s;

	for (size_t at = 0; (s = map_next(&f->storms.pairs, &at, NULL));) {
		if (!s->storms || !finding_counts(f, s->sender))
			continue;
		finding_add(
			f,
			&(struct finding){
				.kind = "small_message_storm",
				.cost_ns = s->ns,
				.text = storm_text(f, s),
				.advice = xstrdup(
					"pack what goes to one rank into one message (MPI_Pack, a "
					"derived datatype, a buffer of the program's own)"),
				.process = s->sender->idx,
				.from_ns = s->worst_from_ns,
				.to_ns = s->worst_to_ns,
			});
	}
}
