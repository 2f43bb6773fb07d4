/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Why rank time was lost, and what to do (finding/reasons.h): the first screen's middle, what a page shows of them, and JSON. */
#include <stdlib.h>
#include <string.h>

#include "lib/human.h"
#include "lib/log.h"
#include "report/section.h"

#define REASONS_SHOWN 5
#define WIDTH 100
#define TITLE_CHARS 68 /* before the numbers */

/* The part of text that fits; cuts at a blank. Returns where the next part begins. */
static const char *line_cut(const char *text, unsigned int most, int *bytes)
{
	const char *blank = NULL, *p = text;
	unsigned int n = 0;

	for (; *p && n < most; p++) {
		if (*p == ' ')
			blank = p;
		n += ((unsigned char)p[1] & 0xc0) != 0x80;
	}
	if (*p && *p != ' ' && blank)
		p = blank;
	*bytes = (int)(p - text);
	return *p == ' ' ? p + 1 : p;
}

/* before goes before the first line, as many blanks before the others. */
static void wrapped_print(FILE *out, const char *before, const char *text, unsigned int most)
{
	unsigned int indent = text_chars(before);
	int bytes;

	for (const char *first = text; *text;) {
		const char *next = line_cut(text, most, &bytes);

		fprintf(out, "%s%*s%.*s\n", text == first ? before : "",
			text == first ? 0 : (int)indent, "", bytes, text);
		text = next;
	}
}

char *reason_gain_text(const struct reason *r)
{
	char low[HUMAN_BYTES], high[HUMAN_BYTES], *unit;

	human_round_ns(low, sizeof(low), r->low_ns);
	human_round_ns(high, sizeof(high), r->high_ns);
	if (r->known == GAIN_UNKNOWN)
		return xstrdup("–");
	if (r->known == GAIN_AT_MOST)
		return xasprintf("≤ %s", high);
	if (!strcmp(low, high))
		return xstrdup(high);
	unit = strchr(low, ' ');
	if (unit && strchr(high, ' ') && (!r->low_ns || !strcmp(unit, strchr(high, ' '))))
		*unit = '\0';
	return xasprintf("%s–%s", low, high);
}

char *reason_cost_text(const struct report *r, const struct reason *reason)
{
	struct text_unit unit = text_rank_unit(r);

	return xasprintf("%s%.*f", account_mark(r), unit.digits, (double)reason->ns / unit.ns);
}

static void padded_print(FILE *out, const char *text, unsigned int width)
{
	unsigned int n = text_chars(text);

	fprintf(out, "%*s%s", n < width ? (int)(width - n) : 0, "", text);
}

static void reason_print(const struct report *r, const struct reason *reason, uint32_t number,
			 FILE *out)
{
	char *gain = reason_gain_text(reason), *ns = reason_cost_text(r, reason);
	const char *rest;
	int bytes;

	rest = line_cut(reason->title, TITLE_CHARS, &bytes);
	fprintf(out, "%3u  %.*s", number, bytes, reason->title);
	fprintf(out, "%*s",
		(int)(TITLE_CHARS - text_chars(reason->title) + text_chars(rest) + (*rest ? 1 : 0)),
		"");
	padded_print(out, ns, 12);
	padded_print(out, gain, 15);
	fputc('\n', out);
	if (*rest)
		wrapped_print(out, "     ", rest, TITLE_CHARS);
	wrapped_print(out, "     ", reason->evidence, WIDTH - 5);
	if (reason->action)
		wrapped_print(out, "     → ", reason->action, WIDTH - 7);
	free(gain);
	free(ns);
}

static bool is_shown(const struct report *r, const struct reason *reason)
{
	return reason->ns &&
	       (r->opt->details == DETAIL_ALL ||
		reason_most_ns(&r->reasons, reason) * 100 >= r->reasons.run_ns * r->opt->min_pct);
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
	if (r->too_long)
		text_note(
			out,
			"The recording is too long to be replayed: what mending saves is only known as a limit.");
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
	struct text_unit unit = text_rank_unit(r);
	struct reasons_left left;
	uint32_t shown;
	const struct reason **list = reasons_shown(r, &shown, &left);

	fputs("\nWhy, and what to do", out);
	if (shown) {
		fprintf(out, "%*s", (int)(TITLE_CHARS + 5 - strlen("Why, and what to do")), "");
		padded_print(out,
			     unit.ns == 1e9 ? "rank-seconds" :
			     unit.ns == 1e6 ? "rank-ms" :
					      "rank-us",
			     12);
		padded_print(out, "shorter by", 15);
	}
	fputc('\n', out);
	for (uint32_t i = 0; i < shown; i++)
		reason_print(r, list[i], i + 1, out);
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
		const struct reason *reason = &r->reasons.reason[i];
		const struct model_process *p = reason->process == FINDING_NOBODY ?
							NULL :
							model_process_get(r->model,
									  reason->process);
		bool replayed = reason->known == GAIN_REPLAYED;

		if (!reason->ns)
			continue;
		json_out_object_begin(j);
		json_out_key_string(j, "kind", reason_names[reason->kind]);
		json_known_uint(j, "pid", p && reason_is_one(reason), p ? p->host_pid : 0);
		if (reason->kind == REASON_HELD_BY_OTHER)
			json_known_uint(j, "processes", p, reason->processes);
		json_known_uint(j, "rank", p && p->is_rank && p->rank >= 0,
				p ? (uint64_t)p->rank : 0);
		json_out_key_uint(j, "cost_ns", reason->ns);
		json_out_key_uint(j, "own_ns", reason->own_ns);
		json_out_key_uint(j, "waited_ns", reason->waited_ns);
		json_out_key_string(j, "shorter_by",
				    replayed			  ? "replay" :
				    reason->known == GAIN_AT_MOST ? "limit" :
								    NULL);
		json_known_uint(j, "shorter_low_ns", replayed, reason->low_ns);
		json_known_uint(j, "shorter_high_ns", reason->known != GAIN_UNKNOWN,
				reason->high_ns);
		json_out_key_string(j, "text", reason->title);
		json_out_key_string(j, "evidence", reason->evidence);
		json_out_key_string(j, "action", reason->action);
		json_out_object_end(j);
	}
	json_out_array_end(j);
}
