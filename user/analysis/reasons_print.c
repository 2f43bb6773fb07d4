/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Prints reasons as on the report's first screen, and as JSON (kmod-docs/REPORT.md, "reasons"). */
#include <stdlib.h>
#include <string.h>

#include "lib/human.h"
#include "lib/json_out.h"
#include "lib/log.h"
#include "lib/text.h"
#include "analysis/reasons.h"

#define WIDTH 100
#define TITLE_CHARS 68 /* width of the title column, left of the numbers */

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

char *reason_cost_text(const struct reasons *r, const struct reason *reason, const char *mark)
{
	struct account_unit unit = account_unit(r->account);

	return xasprintf("%s%.*f", mark, unit.digits, (double)reason->ns / unit.ns);
}

static void padded_print(FILE *out, const char *text, unsigned int width)
{
	unsigned int n = text_chars(text);

	fprintf(out, "%*s%s", n < width ? (int)(width - n) : 0, "", text);
}

void reasons_head_print(const struct reasons *r, const char *title, bool numbers, FILE *out)
{
	fprintf(out, "\n%s", title);
	if (numbers) {
		fprintf(out, "%*s", (int)(TITLE_CHARS + 5 - text_chars(title)), "");
		padded_print(out, account_unit(r->account).brief, 12);
		padded_print(out, "shorter by", 15);
	}
	fputc('\n', out);
}

void reason_print(const struct reasons *r, const struct reason *reason, uint32_t number,
		  const char *mark, bool evidence, FILE *out)
{
	char *gain = reason_gain_text(reason), *ns = reason_cost_text(r, reason, mark);
	int bytes;
	const char *rest = text_line_cut(reason->title, TITLE_CHARS, &bytes);

	fprintf(out, "%3u  %.*s", number, bytes, reason->title);
	fprintf(out, "%*s",
		(int)(TITLE_CHARS - text_chars(reason->title) + text_chars(rest) + (*rest ? 1 : 0)),
		"");
	padded_print(out, ns, 12);
	padded_print(out, gain, 15);
	fputc('\n', out);
	if (*rest)
		text_wrapped_print(out, "     ", rest, TITLE_CHARS);
	if (evidence)
		text_wrapped_print(out, "     ", reason->evidence, WIDTH - 5);
	if (reason->action)
		text_wrapped_print(out, "     → ", reason->action, WIDTH - 7);
	free(gain);
	free(ns);
}

/* "computed_in"; null if unknown */
static void function_json(struct json_out *j, const struct samples_function *in)
{
	json_out_key(j, "computed_in");
	if (!in->name) {
		json_out_null(j);
		return;
	}
	json_out_object_begin(j);
	samples_function_json(j, in);
	json_out_object_end(j);
}

/* "mostly_in"; null if unknown */
static void calls_json(struct json_out *j, const struct reason *r)
{
	const struct site_name *from = r->calls_from;

	json_out_key(j, "mostly_in");
	if (!r->calls) {
		json_out_null(j);
		return;
	}
	json_out_object_begin(j);
	json_out_key_string(j, "function", r->calls->at.func->name);
	json_out_key_string(j, "file", from ? from->file : NULL);
	json_out_known_uint(j, "line", from && from->file, from ? from->line : 0);
	json_out_key_uint(j, "calls", r->calls->calls);
	json_out_key_uint(j, "ns", call_place_own_ns(r->calls));
	json_out_known_uint(j, "bytes", r->calls->sized == r->calls->calls, r->calls->bytes);
	json_out_object_end(j);
}

/* "programs": those that share the reason; none: one program is to blame */
static void programs_json(struct json_out *j, const struct model *m, const struct reason *reason)
{
	json_out_key_array(j, "programs");
	for (uint32_t i = 0; i < reason->programs && i < REASON_PROGRAMS; i++) {
		json_out_object_begin(j);
		json_out_key_string(j, "name",
				    model_process_get(m, reason->program[i].process)->name);
		json_out_key_uint(j, "cost_ns", reason->program[i].ns);
		json_out_object_end(j);
	}
	json_out_array_end(j);
}

void reason_json(struct json_out *j, const struct model *m, const struct reason *reason)
{
	const struct model_process *p = reason->process == FINDING_NOBODY ?
						NULL :
						model_process_get(m, reason->process);
	bool replayed = reason->known == GAIN_REPLAYED;

	json_out_key_string(j, "kind", reason_names[reason->kind]);
	json_out_known_uint(j, "pid", p && reason_is_one(reason), p ? p->host_pid : 0);
	if (reason->kind == REASON_HELD_BY_OTHER) {
		json_out_known_uint(j, "processes", p, reason->processes);
		programs_json(j, m, reason);
	}
	json_out_known_uint(j, "rank", p && p->is_rank && p->rank >= 0, p ? (uint64_t)p->rank : 0);
	json_out_key_uint(j, "cost_ns", reason->ns);
	json_out_key_uint(j, "own_ns", reason->own_ns);
	json_out_key_uint(j, "waited_ns", reason->waited_ns);
	json_out_key_string(j, "shorter_by",
			    replayed			  ? "replay" :
			    reason->known == GAIN_AT_MOST ? "limit" :
							    NULL);
	json_out_known_uint(j, "shorter_low_ns", replayed, reason->low_ns);
	json_out_known_uint(j, "shorter_high_ns", reason->known != GAIN_UNKNOWN, reason->high_ns);
	if (reason->kind == REASON_COMPUTED)
		function_json(j, &reason->in);
	if (reason->kind == REASON_SLEPT)
		json_out_key_string(j, "slept_mostly", sleep_names[reason->slept]);
	if (reason_is_of_calls(reason->kind))
		calls_json(j, reason);
	json_out_key_string(j, "text", reason->title);
	json_out_key_string(j, "evidence", reason->evidence);
	json_out_key_string(j, "action", reason->action);
	json_out_key_bool(j, "by_setting", reason->by_setting);
}
