/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Shows why rank time was lost, and what to do (finding/reasons.h): middle of the first screen,
 * list for the page, and JSON.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/human.h"
#include "lib/log.h"
#include "report/section.h"

static bool is_shown(const struct report *r, const struct reason *reason)
{
	return reason_matters(&r->reasons, reason,
			      r->opt->details == DETAIL_ALL ? 0 : r->opt->min_pct);
}

void text_reasons_doubts(const struct report *r, FILE *out)
{
	const struct match_row *m = &r->sum.matching;
	uint64_t matched = m->sends[MATCHED] + m->recvs[MATCHED], ends = 0;
	char left[HUMAN_BYTES], of[80];

	for (int why = 0; why < MATCH_WHY_CNT; why++)
		ends += m->sends[why] + m->recvs[why];
	if (!model_get_info(r->model)->sched_all)
		text_note(out, "%s: who had cores is unknown.",
			  r->account.sched ? "Only switches of recorded processes were recorded" :
					     "The scheduler was not recorded");
	if (ends > matched)
		text_note(out,
			  "%s of %s could not be matched: waiting for them counts as transfer "
			  "(--messages).",
			  human_count(left, sizeof(left), ends - matched),
			  human_plural(of, sizeof(of), ends, "send or receive",
				       "sends and receives"));
	if (r->findings.arrivals.uncertain)
		text_note(out,
			  "%s may belong to other calls: waiting in them counts as transfer "
			  "(--findings).",
			  human_plural(of, sizeof(of), r->findings.arrivals.uncertain,
				       "call of collectives", "calls of collectives"));
	if (r->too_long)
		text_note(out, "The recording is too long to be replayed: \"shorter by\" has only "
			       "limits.");
}

const struct reason **reasons_shown(const struct report *r, uint32_t *shown,
				    struct reasons_left *left)
{
	uint32_t most = r->opt->details == DETAIL_ALL || !r->opt->top ? UINT32_MAX : REASONS_SHOWN;
	const struct reason **list = xmalloc((r->reasons.n + 1) * sizeof(const void *));

	*shown = 0;
	*left = (struct reasons_left){0};
	for (uint32_t i = 0; i < r->reasons.n; i++) {
		const struct reason *reason = &r->reasons.reason[i];

		if (*shown < most && is_shown(r, reason)) {
			list[(*shown)++] = reason;
		} else if (reason->ns) {
			left->ns += reason->ns;
			left->n++;
		}
	}
	return list;
}

char *reasons_left_text(const struct reasons_left *left, bool shown)
{
	char n[80], ns[HUMAN_BYTES];

	return xasprintf("%s, %s together",
			 human_plural(n, sizeof(n), left->n,
				      shown ? "smaller cause" : "small cause",
				      shown ? "smaller causes" : "small causes"),
			 human_round_ns(ns, sizeof(ns), left->ns));
}

void text_reasons(const struct report *r, FILE *out)
{
	struct reasons_left left;
	uint32_t shown;
	const struct reason **list = reasons_shown(r, &shown, &left);

	reasons_head_print(&r->reasons, "Why, and what to do", shown, out);
	for (uint32_t i = 0; i < shown; i++)
		reason_print(&r->reasons, list[i], i + 1, account_mark(r), true, out);
	free(list);
	if (!shown)
		text_note(out, "Nothing costs %u %% of the run or more.", r->opt->min_pct);
	if (left.n) {
		char *text = reasons_left_text(&left, shown);

		fprintf(out, "     %s: --all\n", text);
		free(text);
	}
	text_reasons_doubts(r, out);
}

void json_reasons(struct json_out *j, const struct report *r)
{
	json_out_key_array(j, "reasons");
	for (uint32_t i = 0; i < r->reasons.n; i++) {
		if (!r->reasons.reason[i].ns)
			continue;
		json_out_object_begin(j);
		reason_json(j, r->model, &r->reasons.reason[i]);
		json_out_object_end(j);
	}
	json_out_array_end(j);
}
