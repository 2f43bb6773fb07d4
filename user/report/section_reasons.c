/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Why rank time was lost, and what to do (finding/reasons.h): the first screen's middle, and JSON. */
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

/* What the reasons say nothing of. */
static void doubts_print(const struct report *r, FILE *out)
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
		text_note(
			out,
			"%s of %s could not be matched: waiting for those counts as transfer (--messages).",
			human_count(left, sizeof(left), ends - matched),
			human_plural(of, sizeof(of), ends, "send or receive",
				     "sends and receives"));
	if (r->findings.arrivals.uncertain)
		text_note(out,
			  "%s may belong to others: waiting in them counts as transfer "
			  "(--findings).",
			  human_plural(of, sizeof(of), r->findings.arrivals.uncertain,
				       "call of collectives", "calls of collectives"));
	if (whatif_is_full(r->whatif))
		text_note(
			out,
			"The recording is too long to be replayed: what mending saves is only known as a limit.");
}

void text_reasons(const struct report *r, FILE *out)
{
	uint32_t most = r->opt->details == DETAIL_ALL || !r->opt->top ? UINT32_MAX : REASONS_SHOWN,
		 shown = 0, left = 0;
	char n[80], ns[HUMAN_BYTES];
	uint64_t left_ns = 0;

	for (uint32_t i = 0; i < r->reasons.n; i++)
		shown += is_shown(r, &r->reasons.reason[i]);
	reasons_head_print(&r->reasons, "Why, and what to do", shown, out);
	shown = 0;
	for (uint32_t i = 0; i < r->reasons.n; i++) {
		const struct reason *reason = &r->reasons.reason[i];

		if (shown < most && is_shown(r, reason)) {
			reason_print(&r->reasons, reason, ++shown, account_mark(r), true, out);
		} else if (reason->ns) {
			left_ns += reason->ns;
			left++;
		}
	}
	if (!shown)
		text_note(out, "Nothing costs %u %% of the run or more.", r->opt->min_pct);
	if (left)
		fprintf(out, "     %s, %s together: --all\n",
			human_plural(n, sizeof(n), left, shown ? "smaller cause" : "small cause",
				     shown ? "smaller causes" : "small causes"),
			human_round_ns(ns, sizeof(ns), left_ns));
	doubts_print(r, out);
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
