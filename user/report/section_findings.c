/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Prints the findings (finding/finding.h), and notes about time that they do not cover. */
#include "lib/human.h"
#include "report/section.h"

static void uncertain_note(const struct report *r, FILE *out)
{
	static const char *const why[ASSUMED_CNT] = {
		[ASSUMED_WHOLE] = "the recording began too late, or calls are missing",
		[ASSUMED_CANCELLED] = "messages before them may have been cancelled",
		[ASSUMED_SKIPPED] = "messages before them have an unknown other end",
	};

	for (int i = ASSUMED_NOTHING + 1; i < ASSUMED_CNT; i++) {
		uint64_t messages = r->findings.late.uncertain[i];
		uint64_t calls = i == ASSUMED_WHOLE ? r->findings.arrivals.uncertain : 0;
		char m[64] = "", c[96] = "";

		if (messages)
			human_plural(m, sizeof(m), messages, "message", "messages");
		if (calls)
			human_plural(c, sizeof(c), calls, "call of collectives",
				     "calls of collectives");
		if (messages || calls)
			text_note(
				out,
				"Lateness unknown: %s%s%s. Which of them belong together is uncertain: "
				"%s.",
				m, messages && calls ? " and " : "", c, why[i]);
	}
}

static void followed_note(const struct report *r, FILE *out)
{
	char waits[64];

	if (r->findings.causes.told_late)
		text_note(out,
			  "%s could not be followed to their cause, because they were recognised "
			  "too late.",
			  human_plural(waits, sizeof(waits), r->findings.causes.told_late, "wait",
				       "waits"));
}

/* Prints the findings. Only --top 0 includes those whose time other findings explain. */
static uint32_t print_shown(const struct report *r, FILE *out)
{
	const struct findings *f = &r->findings;
	uint32_t most = r->opt->top, shown = 0;

	for (uint32_t i = 0; i < f->n; i++) {
		const struct finding *found = &f->finding[i];

		if (r->opt->top && (shown == most || found->told_by))
			continue;
		text_note(out, "! %s%s", found->text,
			  found->told_by ? " (another finding covers this time, too)" : "");
		if (found->advice)
			text_note(out, "  → %s", found->advice);
		shown++;
	}
	return shown;
}

static void hidden_note(const struct report *r, uint32_t shown, FILE *out)
{
	uint32_t again = 0, n = r->findings.n;
	char buf[64];

	for (uint32_t i = 0; i < n; i++)
		again += r->findings.finding[i].told_by != NULL;
	if (shown + again < n)
		text_note(out, "%u of %u shown; --top 0 shows all.", shown, n);
	else if (shown < n)
		text_note(out, "%s the same time: --top 0 shows all.",
			  human_plural(buf, sizeof(buf), again, "more finding covers",
				       "more findings cover"));
}

/* Notes what the analyses could not examine. */
static void unseen_note(const struct report *r, FILE *out)
{
	const struct model_info *info = model_get_info(r->model);
	const struct match_row *m = &r->sum.matching;
	uint64_t matched = m->sends[MATCHED] + m->recvs[MATCHED], ends = 0, open_ns = 0;
	char left[HUMAN_BYTES], of[80], ns[HUMAN_BYTES];

	for (int why = 0; why < MATCH_WHY_CNT; why++)
		ends += m->sends[why] + m->recvs[why];
	for (uint32_t i = 0; i < r->nrows; i++)
		open_ns += r->findings.app.process[r->row[i]].open_ns;
	if (!info->sched_all)
		text_note(out, "Not examined: who had cores, because %s.",
			  info->sched_recorded ?
				  "only switches of recorded processes were recorded" :
				  "the scheduler was not recorded");
	if (r->findings.app.lost)
		text_note(out,
			  "Not examined, because records are missing: balance, and progress at "
			  "targets of one-sided communication.");
	if (ends > matched)
		text_note(out, "Lateness unknown: %s of %s, which were not matched (--messages).",
			  human_count(left, sizeof(left), ends - matched),
			  human_plural(of, sizeof(of), ends, "send or receive",
				       "sends and receives"));
	if (open_ns >= r->findings.least_ns)
		text_note(out, "Not examined: %s in calls that had not returned at the end.",
			  human_ns(ns, sizeof(ns), open_ns));
}

void text_findings(const struct report *r, FILE *out)
{
	const struct findings *f = &r->findings;
	char least[HUMAN_BYTES];

	if (!r->nranks)
		return;
	text_section(out, "Findings: what ranks lost by waiting, and for whom");
	hidden_note(r, print_shown(r, out), out);
	if (!f->n)
		text_note(out, "No finding of %s or more.",
			  human_ns(least, sizeof(least), f->least_ns));
	unseen_note(r, out);
	uncertain_note(r, out);
	followed_note(r, out);
}

void json_findings(struct json_out *j, const struct report *r)
{
	json_out_key_array(j, "findings");
	for (uint32_t i = 0; i < r->findings.n; i++) {
		const struct finding *f = &r->findings.finding[i];
		bool who = f->process != FINDING_NOBODY, when = f->to_ns;
		const struct model_process *p = who ? model_process_get(r->model, f->process) :
						      NULL;

		json_out_object_begin(j);
		json_out_key_string(j, "kind", f->kind);
		json_out_key_uint(j, "cost_ns", f->cost_ns);
		json_out_key_string(j, "text", f->text);
		json_out_key_string(j, "advice", f->advice);
		json_out_key_string(j, "told_by", f->told_by);
		json_known_uint(j, "pid", p, p ? p->host_pid : 0);
		json_known_uint(j, "rank", p && p->is_rank && p->rank >= 0,
				p ? (uint64_t)p->rank : 0);
		json_known_uint(j, "from_ns", when, when ? json_since_start(r, f->from_ns) : 0);
		json_known_uint(j, "to_ns", when, when ? json_since_start(r, f->to_ns) : 0);
		json_out_object_end(j);
	}
	json_out_array_end(j);
}
